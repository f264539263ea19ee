/* SPDX-License-Identifier: MIT */
/*
 * symbolize: finds the names of a profile's frames in the symbols of each
 * image. Each distinct frame is looked up once. As many images are open at a
 * time as there are processors, at most four, unless symbolizers are to be
 * kept.
 */
#ifndef WNDL_ANALYZE_NAMES_PROFILE_NAMES_H
#define WNDL_ANALYZE_NAMES_PROFILE_NAMES_H

#include "analyze/names/kept_symbols.h"
#include "base/log.h"
#include "base/status.h"
#include "model/symbolized.h"

#include <windlass/symbolize.h>

/* The places of debug files: as in windlass/symbolize.h. */
struct wndl_symbol_sources {
    const char *const *debug_dirs;
    bool debuginfod;
    const struct wndl_symbolizer_cache *cache;
    /* NULL, or where symbolizers are looked for, and stay open, for more
     * profiles. */
    struct wndl_kept_symbols *kept;
};

/*
 * Fills `s`, which wndl_symbolized_init made. An image without symbols is no
 * failure: its frames are called module+0xrva and its state says why. `log`
 * (may be NULL) gets these reasons, and the files that gave names. Fails only
 * with NOMEM.
 */
enum wndl_status wndl_symbolize_profile(struct wndl_symbolized *s,
    const struct wndl_symbol_sources *sources, const struct wndl_log *log,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens the symbols of a profile's image, whose file is `path`, in memory of
 * libc. Fails as wndl_symbolizer_open_with does; `err` may be NULL. Ends with
 * wndl_symbolizer_close. Any thread.
 */
enum wndl_status wndl_image_symbols_open(const struct wndl_image *image,
    const char *path, const struct wndl_symbol_sources *sources,
    struct wndl_symbolizer **symbols, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The length of a name without the marks of compilers' clones: ".cold",
 * ".isra.0", ".lto_priv.1", as a suffix or, demangled, as " [clone .cold]". The
 * clones are one function in the source.
 */
size_t wndl_name_without_clone(const char *name);

#endif
