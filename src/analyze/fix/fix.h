/* SPDX-License-Identifier: MIT */
/*
 * fix: text in, the same text out with its stack frames named. Bytes outside of
 * frames stay as they are (docs/fix.md is the contract).
 *
 * The frames of a batch are looked up module by module, in the order of their
 * addresses. An opened module stays open until wndl_fix_close. One thread at a
 * time.
 */
#ifndef WNDL_ANALYZE_FIX_FIX_H
#define WNDL_ANALYZE_FIX_FIX_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <windlass/symbolize.h>

struct wndl_fix;

/* All borrowed, for as long as the wndl_fix is open; lists end with NULL. */
struct wndl_fix_options {
    bool json;    /* frames are inside JSON strings, and escaped */
    bool inlines; /* add inlined frames, on lines of their own */
    const char *const *debug_dirs;             /* as in windlass/symbolize.h */
    bool debuginfod;                           /* the same */
    const struct wndl_symbolizer_cache *cache; /* the same */
    const char *const *sym_dirs;      /* folders searched before the path */
    const char *const *breakpad_dirs; /* folders of symbol files; NULL: none */
    const char *const *maps; /* "FROM=TO": paths that begin with FROM */
    /* searched for files that are not at their path; or NULL */
    const char *local_dir;
    const char *arch;   /* as in windlass/symbolize.h */
    const char *kernel; /* path of the kernel in the text; NULL: not named */
    /* when the text was written, in ns since 1970; 0: not known */
    uint64_t text_ns;
};

/*
 * The receiver of problems, each at most once for a module. `failed`: it cannot
 * be read. `slow`: the lookups of so many distinct addresses take more than a
 * second. `lost`: parts of its debug information were damaged or missing; `err`
 * is about the first of `count`.
 */
struct wndl_fix_listener {
    void *context;
    void (*failed)(
        void *context, const char *path, const struct wndl_error *err);
    void (*slow)(void *context, const char *path, size_t addresses);
    void (*lost)(void *context, const char *path, uint32_t count,
        const struct wndl_error *err);
    uint64_t (*clock_ns)(void);
    /* It changed after the text was written, which does not name its build. */
    void (*newer)(void *context, const char *path);
};

/* The receiver of fixed text, in pieces. `write` returns false if it failed. */
struct wndl_fix_sink {
    void *context;
    bool (*write)(void *context, struct wndl_bytes piece);
};

/*
 * Opens it. Fails only with NOMEM. `mem` and everything in `options` must
 * outlive *out.
 */
enum wndl_status wndl_fix_open(struct wndl_mem *mem,
    const struct wndl_fix_options *options,
    const struct wndl_fix_listener *listener,
    struct wndl_fix **out) WNDL_MUST_USE;

/* Closes it. NULL is ignored. */
void wndl_fix_close(struct wndl_fix *fix);

/* At the end: reports lost parts to the listener. */
void wndl_fix_report_lost(const struct wndl_fix *fix);

/*
 * Whether there is a frame in `text`, or what later frames need. If not, the
 * text needs no change.
 */
bool wndl_fix_has_frames(struct wndl_fix *fix, struct wndl_bytes text);

/*
 * Writes `text`, with its frames fixed, to `sink`. `text` has whole lines; the
 * last may lack its end. NOMEM; IO when the sink failed, after some text may
 * have been written.
 */
enum wndl_status wndl_fix_text(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink) WNDL_MUST_USE;

/*
 * The same for a whole DMD file; inlined frames become frames of their own in
 * its tables. TRUNCATED and MALFORMED have the offset; nothing was written
 * then.
 */
enum wndl_status wndl_fix_dmd(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink, struct wndl_error *err) WNDL_MUST_USE;

#endif
