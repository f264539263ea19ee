/* SPDX-License-Identifier: MIT */
/*
 * windlass/status.h: the one result type of every windlass call that can fail.
 *
 * A call returns a status. The caller may also pass a struct wndl_error, which
 * the call fills with the file, the offset and the reason. Three statuses are
 * kept apart: absent (NOT_FOUND), broken (MALFORMED, TRUNCATED) and not
 * supported (UNSUPPORTED).
 */
#ifndef WINDLASS_STATUS_H
#define WINDLASS_STATUS_H

#include <stdint.h>

/* Marks a function that libwindlass exports. All other symbols are hidden. */
#define WNDL_API __attribute__((visibility("default")))

/* Marks a function whose result must not be dropped. */
#define WNDL_MUST_USE __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The result of a call. The values are part of the ABI: new ones go to the end.
 */
enum wndl_status {
    WNDL_OK = 0,
    WNDL_NOT_FOUND = 1,   /* what was asked for does not exist */
    WNDL_UNSUPPORTED = 2, /* well formed, but a form that we do not read */
    WNDL_MALFORMED = 3,   /* the bytes contradict their specification */
    WNDL_TRUNCATED = 4,   /* the bytes end too early */
    WNDL_IO = 5,          /* a system call failed; see sys_errno */
    WNDL_NOMEM = 6,       /* an allocation failed */
    WNDL_LIMIT = 7,       /* a documented limit was reached */
    WNDL_DENIED = 8,      /* no permission; `what` names the setting */
};

/*
 * The detail of a failure. The caller owns it and need not initialise it: a
 * call that fails sets all of it. Strings are NUL-terminated and cut to fit; ""
 * means not known. Every parameter of this type may be NULL.
 */
struct wndl_error {
    enum wndl_status status;
    int sys_errno;    /* errno of the failed system call, or 0 */
    uint64_t offset;  /* bytes from the start of the section, or file */
    char file[256];   /* path of the file */
    char section[32]; /* section or chunk name */
    char what[160];   /* the reason and, if known, what to do about it */
};

/*
 * A short English name of a status ("not found"). `status` may be any value;
 * one that is not a status gives "unknown status". The string is static: it is
 * never NULL and never freed. Any thread, any signal handler.
 */
WNDL_API const char *wndl_status_name(enum wndl_status status);

#ifdef __cplusplus
}
#endif

#endif
