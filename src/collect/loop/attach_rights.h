/* SPDX-License-Identifier: MIT */
/*
 * attach_rights: whether processes that run already can be sampled, and what
 * they lack if not.
 */
#ifndef WNDL_COLLECT_LOOP_ATTACH_RIGHTS_H
#define WNDL_COLLECT_LOOP_ATTACH_RIGHTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Sets the message for errno `why`, with which the kernel refused the events of
 * process `pid` on so many CPUs.
 */
enum wndl_status wndl_attach_lack(
    size_t cpus, pid_t pid, int why, struct wndl_error *err);

/* The number of its threads; 0: it is gone. */
size_t wndl_attach_count_threads(pid_t pid);

struct wndl_attach_rights {
    uint32_t threads, refused; /* threads in all; those without an event */
    size_t cpus;
    bool leaves_out_kernel; /* time in the kernel has no samples */
};

/*
 * Opens events for all threads of a process, as the recorder does, and closes
 * them. Otherwise `err` says what is lacking, and what to set.
 */
enum wndl_status wndl_attach_try(
    pid_t pid, struct wndl_attach_rights *rights, struct wndl_error *err);

#endif
