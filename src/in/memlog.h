/* SPDX-License-Identifier: MIT */
/*
 * memlog: a memory event log (docs/formats/ring.md) into model/event_log.h.
 *
 * The process may write while its log is read: each slot is copied, and counts
 * only if its block has the same owner before and after.
 */
#ifndef WNDL_IN_MEMLOG_H
#define WNDL_IN_MEMLOG_H

#include "base/status.h"
#include "model/event_log.h"

/*
 * Adds the process and the events of `file` to `log`; texts are copied. `now`
 * is one more moment on the clocks, for a ring of this machine since its last
 * boot; or NULL.
 *
 * TRUNCATED and MALFORMED name the place; UNSUPPORTED if it is no log, or of
 * another version. Damage of one slot or type is counted.
 */
enum wndl_status wndl_memlog_read_ring(struct wndl_event_log *log,
    struct wndl_bytes file, const struct wndl_memlog_anchor *now,
    struct wndl_error *err) WNDL_MUST_USE;

/* Puts events in the order of time; of one moment, by process and number. */
void wndl_memlog_sort(struct wndl_event_log *log);

/* Whether `file` begins as a log does. */
bool wndl_memlog_is_ring(struct wndl_bytes file);

#endif
