/* SPDX-License-Identifier: MIT */
/*
 * symbolize: asks each image's symbols for the names of the profile's
 * frames. Each distinct frame is looked up once, one image open at a time.
 */
#ifndef WNDL_ANALYZE_NAMES_PROFILE_NAMES_H
#define WNDL_ANALYZE_NAMES_PROFILE_NAMES_H

#include "base/log.h"
#include "base/status.h"
#include "model/symbolized.h"

#include <windlass/symbolize.h>

/* Where debug files are looked for: as in windlass/symbolize.h. */
struct wndl_symbol_sources {
    const char *const *debug_dirs;
    bool debuginfod;
    const struct wndl_symbolizer_cache *cache;
};

/*
 * Fills `s`, as wndl_symbolized_init left it. An image without symbols is no
 * failure: its frames are called module+0xrva and its state says why; `log`
 * (NULL: nobody) hears it too, and which files the names of the others are
 * from. Fails with NOMEM alone.
 */
enum wndl_status wndl_symbolize_profile(struct wndl_symbolized *s,
    const struct wndl_symbol_sources *sources, const struct wndl_log *log,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
