/* SPDX-License-Identifier: MIT */
/* call: the system call that a thread is in: its name, and its files. */
#ifndef WNDL_SNAPSHOT_CALL_H
#define WNDL_SNAPSHOT_CALL_H

#include "snapshot/snapshot.h"
#include "snapshot/task.h"

/* The name of a call on a machine (EM_*), or NULL. Static string. */
const char *wndl_call_name(uint16_t machine, uint64_t number);

/*
 * Describes the call of the thread `task`: reads its files in /proc/PID/fd, and
 * its path or its list of files from the process's memory. What cannot be read
 * is left out.
 */
void wndl_call_describe(struct wndl_snapshot *snapshot,
    const struct wndl_task *task, const struct wndl_task_call *from,
    struct wndl_snapshot_call *call);

#endif
