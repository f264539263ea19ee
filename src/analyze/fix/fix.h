/* SPDX-License-Identifier: MIT */
/*
 * fix: text in, the same text out with its stack frames named. Bytes that
 * are no frame stay as they are (docs/fix.md is the contract).
 *
 * The frames of a batch are looked up module by module in the order of their
 * addresses; a module once opened stays open until wndl_fix_close. For one
 * thread at a time.
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
    bool json;    /* frames stand in JSON strings, and are escaped so */
    bool inlines; /* inlined frames too, as lines of their own */
    const char *const *debug_dirs;             /* as in windlass/symbolize.h */
    bool debuginfod;                           /* the same */
    const struct wndl_symbolizer_cache *cache; /* the same */
    const char *const *sym_dirs;      /* folders searched before the path */
    const char *const *breakpad_dirs; /* folders of symbol files; NULL: none */
    const char *const *maps; /* "FROM=TO": paths that begin with FROM */
    const char *local_dir;   /* searched for what is not at its path, or NULL */
    const char *arch;        /* as in windlass/symbolize.h */
};

/*
 * Who hears what is not in the text, at most once of a module. `failed`: it
 * cannot be read. `slow`: so many distinct addresses take more than a second.
 * `lost`: parts of its debug information were damaged or not there; `err` is
 * about the first of `count`.
 */
struct wndl_fix_listener {
    void *context;
    void (*failed)(
        void *context, const char *path, const struct wndl_error *err);
    void (*slow)(void *context, const char *path, size_t addresses);
    void (*lost)(void *context, const char *path, uint32_t count,
        const struct wndl_error *err);
    uint64_t (*clock_ns)(void);
};

/* Where fixed text goes, in pieces. `write` says whether it was taken. */
struct wndl_fix_sink {
    void *context;
    bool (*write)(void *context, struct wndl_bytes piece);
};

/* Fails with NOMEM alone. `mem` and what `options` lends outlive *out. */
enum wndl_status wndl_fix_open(struct wndl_mem *mem,
    const struct wndl_fix_options *options,
    const struct wndl_fix_listener *listener,
    struct wndl_fix **out) WNDL_MUST_USE;

/* NULL is left alone. */
void wndl_fix_close(struct wndl_fix *fix);

/* At the end: tells the listener what was lost. */
void wndl_fix_tell_lost(const struct wndl_fix *fix);

/* Whether there is a frame in `text`; else it is its own answer. */
bool wndl_fix_has_frames(const struct wndl_fix *fix, struct wndl_bytes text);

/*
 * Gives `text` with its frames fixed to `sink`. `text` is whole lines, the
 * last perhaps unended. NOMEM; IO when the sink did not take all, of which
 * some was written then.
 */
enum wndl_status wndl_fix_text(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink) WNDL_MUST_USE;

/*
 * The same for a whole DMD file, with inlined frames as frames of their own
 * in its tables. TRUNCATED and MALFORMED name the offset; nothing was written
 * then.
 */
enum wndl_status wndl_fix_dmd(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink, struct wndl_error *err) WNDL_MUST_USE;

#endif
