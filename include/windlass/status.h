/* SPDX-License-Identifier: MIT */
/*
 * windlass/status.h: the one result type of every windlass call that can fail.
 *
 * A call returns a status; the caller may pass a wndl_error to learn where in
 * which file the trouble is. Absent is not broken, and unsupported is neither.
 */
#ifndef WINDLASS_STATUS_H
#define WINDLASS_STATUS_H

#include <stdint.h>

/* What libwindlass exports; everything else in it is hidden. */
#define WNDL_API __attribute__((visibility("default")))

/* Results that must not be dropped. */
#define WNDL_MUST_USE __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/* The values are part of the ABI: new ones go to the end. */
enum wndl_status {
    WNDL_OK = 0,
    WNDL_NOT_FOUND = 1,   /* the thing asked for is not there */
    WNDL_UNSUPPORTED = 2, /* well formed, but not something we read */
    WNDL_MALFORMED = 3,   /* the bytes contradict their specification */
    WNDL_TRUNCATED = 4,   /* the bytes end before the thing does */
    WNDL_IO = 5,          /* the system refused; see sys_errno */
    WNDL_NOMEM = 6,       /* an allocation failed */
    WNDL_LIMIT = 7,       /* a stated limit of ours was reached */
    WNDL_DENIED = 8,      /* permission; the detail names the setting */
};

/*
 * Detail of a failure, owned by the caller. Strings are NUL-terminated and
 * cut to fit; an empty string means "not known". It needs no preparation: a
 * call that fails overwrites all of it. Passing NULL wherever a wndl_error is
 * taken is always allowed.
 */
struct wndl_error {
    enum wndl_status status;
    int sys_errno;    /* errno of the failed system call, or 0 */
    uint64_t offset;  /* bytes into the section, or into the file */
    char file[256];   /* path of the file */
    char section[32]; /* section or chunk name */
    char what[160];   /* what is wrong, and if we know it what to do */
};

/*
 * A short English name of a status ("not found"). Static string. Any thread,
 * any signal handler.
 */
WNDL_API const char *wndl_status_name(enum wndl_status status);

#ifdef __cplusplus
}
#endif

#endif
