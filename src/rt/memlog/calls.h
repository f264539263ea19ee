/* SPDX-License-Identifier: MIT */
/*
 * calls: the memory events of a program that knows nothing of its log, by the
 * calls that it makes. All functions are signal-safe and keep errno.
 */
#ifndef WNDL_RT_MEMLOG_CALLS_H
#define WNDL_RT_MEMLOG_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <windlass/memlog.h>

/* A definition that the program sees, in place of the libc's. */
#define WNDL_CALLS_HOOK __attribute__((visibility("default")))

/* $WINDLASS_MEMLOG_ABOVE, or 256 KiB: smaller calls are no events. */
bool wndl_calls_is_large(uint64_t size);

/*
 * Logs an event with the return address `caller` as its stack, and the name of
 * the caller's module as its text.
 */
void wndl_calls_log(struct wndl_memlog_type *type, const int64_t *numbers,
    unsigned count, const void *caller);

/* Logs how much memory is resident, if that has moved. Not more often than
 * every 10 ms, but where `is_last`. */
void wndl_calls_report(bool is_last);

/* The bytes resident; 0: not known. A system call or three, 6 us. */
int64_t wndl_calls_resident(void);

/* In a child: its size is not its parent's. */
void wndl_calls_after_fork(void);

#endif
