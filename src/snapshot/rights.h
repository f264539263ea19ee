/* SPDX-License-Identifier: MIT */
/*
 * rights: whether a process has stacks that we may read, and why not.
 */
#ifndef WNDL_SNAPSHOT_RIGHTS_H
#define WNDL_SNAPSHOT_RIGHTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_YAMA_NONE = -1 };

/* The facts that decide it. */
struct wndl_rights {
    pid_t pid;
    bool exists;
    pid_t process;  /* of which `pid` is a thread; itself for a process */
    bool is_kernel; /* a thread of the kernel */
    bool is_zombie; /* it has ended, and its parent has not asked for it */
    pid_t parent;
    uint32_t user, our_user; /* real user of the process, effective of ours */
    bool is_closed; /* the kernel lets root alone read it (PR_SET_DUMPABLE) */
    bool may_trace_all; /* we have CAP_SYS_PTRACE */
    int yama;           /* kernel.yama.ptrace_scope, or WNDL_YAMA_NONE */
    bool may_read;      /* the kernel has let us */
};

/* Finds out what they are for `pid`. */
void wndl_rights_find(struct wndl_rights *rights, pid_t pid);

/*
 * OK if the process has stacks and they may be read. NOT_FOUND if there is no
 * such process, or no stack; UNSUPPORTED for ourselves; DENIED.
 */
enum wndl_status wndl_rights_check(
    const struct wndl_rights *rights, struct wndl_error *err) WNDL_MUST_USE;

#endif
