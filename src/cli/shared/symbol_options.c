/* SPDX-License-Identifier: MIT */
#include "cli/shared/symbol_options.h"

#include "base/status.h"
#include "cli/core/command.h"

#include <stdlib.h>
#include <string.h>

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

static bool is_blank(const char *text)
{
    return text == NULL || text[strspn(text, " \t\n")] == '\0';
}

bool wndl_asks_debuginfod(const struct wndl_symbol_options *options)
{
    static bool is_said;
    const bool servers = !is_blank(getenv("DEBUGINFOD_URLS"));
    if (options->debuginfod && !servers && !is_said)
        wndl_cli_note("warning: --debuginfod asks no server, because the "
                      "variable DEBUGINFOD_URLS is not set; for Debian: "
                      "DEBUGINFOD_URLS=https://debuginfod.debian.net");
    is_said = is_said || (options->debuginfod && !servers);
    return options->debuginfod && servers;
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
