/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wndl_status_name(enum wndl_status status)
{
    switch (status) {
    case WNDL_OK:
        return "ok";
    case WNDL_NOT_FOUND:
        return "not found";
    case WNDL_UNSUPPORTED:
        return "unsupported";
    case WNDL_MALFORMED:
        return "malformed";
    case WNDL_TRUNCATED:
        return "truncated";
    case WNDL_IO:
        return "input/output error";
    case WNDL_NOMEM:
        return "out of memory";
    case WNDL_LIMIT:
        return "limit reached";
    case WNDL_DENIED:
        return "permission denied";
    }
    return "unknown status";
}

bool wndl_error_is_lack(const struct wndl_error *err)
{
    static const int lacks[] = {ENOMEM, EMFILE, ENFILE, EIO};
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
        if (err->sys_errno == lacks[i])
            return true;
    }
    return err->status == WNDL_NOMEM;
}

static void set_what(struct wndl_error *err, const char *format, va_list args)
{
    vsnprintf(err->what, sizeof err->what, format, args);
}

enum wndl_status wndl_fail(
    struct wndl_error *err, enum wndl_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, format);
    set_what(err, format, args);
    va_end(args);
    err->status = status;
    err->sys_errno = 0;
    return status;
}

enum wndl_status wndl_fail_errno(
    struct wndl_error *err, int sys_errno, const char *format, ...)
{
    if (err == NULL)
        return WNDL_IO;
    va_list args;
    va_start(args, format);
    set_what(err, format, args);
    va_end(args);
    err->status = WNDL_IO;
    err->sys_errno = sys_errno;
    return WNDL_IO;
}

enum wndl_status wndl_fail_at(struct wndl_error *err, enum wndl_status status,
    const char *section, uint64_t offset, const char *what)
{
    if (err == NULL)
        return status;
    snprintf(err->section, sizeof err->section, "%s", section);
    err->offset = offset;
    return wndl_fail(err, status, "%s", what);
}

void wndl_error_set_file(struct wndl_error *err, const char *path)
{
    if (err == NULL || path == NULL)
        return;
    snprintf(err->file, sizeof err->file, "%s", path);
}

/* "cannot open PATH: No such file or directory; advice": a clause that ends in
 * "the file" names the path there, and a semicolon begins advice. */
static void refusal_text(const struct wndl_error *err, char *text, size_t size)
{
    static const char object[] = "the file";
    const size_t length = sizeof object - 1;
    const size_t clause = strcspn(err->what, ";");
    const char *advice = err->what + clause;
    const char *reason = strerror(err->sys_errno);
    if (err->file[0] != '\0' && clause >= length &&
        memcmp(advice - length, object, length) == 0)
        snprintf(text, size, "%.*s%s: %s%s", (int)(clause - length), err->what,
            err->file, reason, advice);
    else
        snprintf(text, size, "%s%s%.*s: %s%s", err->file,
            err->file[0] != '\0' ? ": " : "", (int)clause, err->what, reason,
            advice);
}

char *wndl_error_text(const struct wndl_error *err, char *text, size_t size)
{
    char place[64] = "";
    if (size == 0)
        return text;
    if (err->sys_errno != 0) {
        refusal_text(err, text, size);
        return text;
    }
    if (err->section[0] != '\0')
        snprintf(place, sizeof place, "%s+0x%llx: ", err->section,
            (unsigned long long)err->offset);
    snprintf(text, size, "%s%s%s%s", err->file,
        err->file[0] != '\0' ? ": " : "", place,
        err->what[0] != '\0' ? err->what : wndl_status_name(err->status));
    return text;
}
