/* SPDX-License-Identifier: MIT */
#include "cli/shared/symbol_options.h"

#include "base/status.h"
#include "cli/core/command.h"

/* If one file cannot be written, the next ones cannot either: one report. */
static void say_cache_error(void *context, const struct wndl_error *err)
{
    static bool is_reported;
    char text[600];
    (void)context;
    bool unread = err->status == WNDL_MALFORMED ||
                  err->status == WNDL_TRUNCATED ||
                  err->status == WNDL_UNSUPPORTED;
    if (!unread && is_reported)
        return;
    is_reported = is_reported || !unread;
    wndl_cli_note("--cache: %s%s", wndl_error_text(err, text, sizeof text),
        unread ? "; it is replaced" : "");
}

const struct wndl_symbolizer_cache *wndl_symbol_cache(
    const struct wndl_symbol_options *options,
    struct wndl_symbolizer_cache *cache)
{
    if (options->cache == NULL)
        return NULL;
    *cache =
        (struct wndl_symbolizer_cache){options->cache, say_cache_error, NULL};
    return cache;
}
