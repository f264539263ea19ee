/* SPDX-License-Identifier: MIT */
/*
 * fail: the functions by which the layers below report failures. In the runtime
 * nobody reads the detail, and formatting it would need stdio.
 */
#include "base/status.h"

enum wndl_status wndl_fail(
    struct wndl_error *err, enum wndl_status status, const char *format, ...)
{
    (void)err;
    (void)format;
    return status;
}

enum wndl_status wndl_fail_at(struct wndl_error *err, enum wndl_status status,
    const char *section, uint64_t offset, const char *what)
{
    (void)err;
    (void)section;
    (void)offset;
    (void)what;
    return status;
}
