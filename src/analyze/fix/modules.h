/* SPDX-License-Identifier: MIT */
/*
 * fix_modules: the binaries in the text, each found and opened once, and the
 * meaning of an address in the text.
 */
#ifndef WNDL_ANALYZE_FIX_MODULES_H
#define WNDL_ANALYZE_FIX_MODULES_H

#include "analyze/fix/fix.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/status.h"
#include "base/vec.h"
#include "in/frame_text/frame_text.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <windlass/symbolize.h>

enum { WNDL_FIX_BUILD_ID_MAX = 64 };

/* The parts of debug information that were damaged or missing. */
struct wndl_fix_lost {
    uint32_t count;
    struct wndl_error first;
};

/*
 * One path in the text, or one build of it. `symbols` is open or NULL; so is
 * `object`, whose bytes are in `file`. `trouble` says why there are no symbols.
 * A module that rests has given its memory back: `symbols` and `object` are
 * opened again when they are needed.
 */
struct wndl_fix_module {
    const char *path;   /* in the text, unescaped */
    const char *opened; /* the path at which it was found or missed */
    const char *arch;   /* in the text; NULL: that of the options */
    uint8_t build_id[WNDL_FIX_BUILD_ID_MAX];
    size_t build_id_size; /* 0: any build */
    bool tried;
    bool object_tried;
    bool complained;
    bool is_breakpad; /* `symbols` are a Breakpad file, which has no end */
    bool said_slow;
    bool is_resting;
    struct wndl_fix_lost lost; /* of symbols that were closed */
    uint64_t ns;               /* time spent on it so far */
    uint64_t ns_to_begin;      /* of these, until the batch's first answer */
    struct wndl_error trouble;
    struct wndl_error lack; /* the first wndl_error_is_lack() on the way */
    struct wndl_symbolizer *symbols;
    struct wndl_file file;
    struct wndl_bytes bytes; /* of the binary in the file */
    struct wndl_object *object;
    uint64_t base;           /* svma of the image */
    uint64_t span;           /* bytes from base to its end */
    struct wndl_map by_name; /* hash of a symbol's name -> its index + 1 */
    bool names_tried;
};

struct wndl_fix_modules {
    struct wndl_mem *mem;
    struct wndl_arena arena;
    /* "path", NUL, build-id, NUL, architecture -> index of a module */
    struct wndl_intern paths;
    struct wndl_buf key;
    struct wndl_vec list; /* struct wndl_fix_module * */
    const struct wndl_fix_options *options;
    const char *const *debug_dirs; /* those in the options, and that of -l */
    /* memory or descriptors were out once: answers have to be copied */
    bool is_tight;
};

/* Notes the first error that memory, descriptors or a disk led to. */
static inline void wndl_fix_note_lack(
    struct wndl_fix_module *module, const struct wndl_error *err)
{
    if (module->lack.status == WNDL_OK && wndl_error_is_lack(err))
        module->lack = *err;
}

/*
 * Makes it empty. wndl_fix_modules_free must be called even after a failure.
 * False when memory is out.
 */
bool wndl_fix_modules_init(struct wndl_fix_modules *modules,
    const struct wndl_fix_options *options, struct wndl_mem *mem);
void wndl_fix_modules_free(struct wndl_fix_modules *modules);

/*
 * The index of the module with that path, and with the build-id and the
 * architecture of `frame` if that has them; added if new. False when memory is
 * out.
 */
bool wndl_fix_module_of(struct wndl_fix_modules *modules,
    struct wndl_bytes path, const struct wndl_frame_text *frame,
    uint32_t *index);

/* The module at `index`, which lives as long as `modules`. */
struct wndl_fix_module *wndl_fix_module_at(
    const struct wndl_fix_modules *modules, uint32_t index);

/*
 * Finds and opens its symbols, once. False when memory is out, although all
 * other modules rest; `trouble` says why a file cannot be read.
 */
bool wndl_fix_module_open(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module);

/* Opens the symbols again if it rests. False when memory is out. */
bool wndl_fix_module_wake(
    struct wndl_fix_modules *modules, struct wndl_fix_module *module);

/*
 * Lets all modules rest but `kept` (NULL: all): answers of their symbols are no
 * longer valid. False if none had anything open.
 */
bool wndl_fix_modules_rest(
    struct wndl_fix_modules *modules, const struct wndl_fix_module *kept);

/* The lost parts of its debug information so far. */
struct wndl_fix_lost wndl_fix_module_lost(const struct wndl_fix_module *module);

/* Copies an answer to `arena`. False when memory is out. */
bool wndl_fix_keep_answer(
    struct wndl_arena *arena, struct wndl_symbols *answer);

/*
 * The rva of `frame`, whatever base its address has. NOT_FOUND when it is not
 * in the module, or there is no module to ask; NOMEM.
 */
enum wndl_status wndl_fix_module_rva(struct wndl_fix_modules *modules,
    struct wndl_fix_module *module, const struct wndl_frame_text *frame,
    uint64_t *rva) WNDL_MUST_USE;

/*
 * Whether `rva` is the start of a function, without a call before it that would
 * return there. Only after wndl_fix_module_rva for `module`.
 */
bool wndl_fix_module_is_entry(struct wndl_fix_module *module, uint64_t rva);

/*
 * Whether a signal handler returns to `rva`: the next older frame was then
 * interrupted, and did not call. Only after wndl_fix_module_rva for `module`.
 */
bool wndl_fix_module_is_sigreturn(
    const struct wndl_fix_module *module, uint64_t rva);

#endif
