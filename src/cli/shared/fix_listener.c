/* SPDX-License-Identifier: MIT */
#include "cli/shared/fix_listener.h"

#include "base/status.h"
#include "cli/core/command.h"
#include "os/clock.h"

#include <string.h>

static void say_failed(
    void *context, const char *path, const struct wndl_error *err)
{
    (void)context;
    char text[320];
    struct wndl_error cause = *err;
    bool content = cause.status != WNDL_IO && cause.status != WNDL_DENIED &&
                   cause.status != WNDL_NOT_FOUND;
    if (strcmp(cause.file, path) == 0)
        cause.file[0] = '\0';
    if (wndl_error_is_lack(&cause))
        wndl_cli_incomplete();
    wndl_cli_error("failed to %s `%s`", content ? "parse" : "read", path);
    wndl_cli_note("%s", cause.sys_errno != 0
                            ? strerror(cause.sys_errno)
                            : wndl_error_text(&cause, text, sizeof text));
}

static void say_slow(void *context, const char *path, size_t addresses)
{
    (void)context;
    wndl_cli_note("%s: looking up %zu addresses takes more than a second", path,
        addresses);
}

static void say_lost(void *context, const char *path, uint32_t count,
    const struct wndl_error *err)
{
    (void)context;
    char text[512];
    if (wndl_error_is_lack(err))
        wndl_cli_incomplete();
    wndl_cli_note("%s: %u part%s of its debug information %s: %s", path, count,
        count == 1 ? "" : "s", count == 1 ? "is lost" : "are lost, the first",
        wndl_error_text(err, text, sizeof text));
}

static void say_newer(void *context, const char *path)
{
    (void)context;
    wndl_cli_note("warning: %s is newer than the text; its functions may have "
                  "been elsewhere then",
        path);
}

const struct wndl_fix_listener wndl_cli_fix_listener = {
    .failed = say_failed,
    .slow = say_slow,
    .lost = say_lost,
    .clock_ns = wndl_clock_monotonic_ns,
    .newer = say_newer,
};
