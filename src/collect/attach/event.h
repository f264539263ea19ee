/* SPDX-License-Identifier: MIT */
/*
 * event: perf events (perf_event_open(2)) whose records have the registers of a
 * thread in user code and a copy of the top of its stack. Nothing runs in the
 * thread's process, and the thread is not stopped.
 */
#ifndef WNDL_COLLECT_ATTACH_EVENT_H
#define WNDL_COLLECT_ATTACH_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel takes at most so many bytes of a stack, a multiple of 8. */
enum { WNDL_ATTACH_STACK_MAX = 65528 - 512 };

/* How threads are sampled. */
struct wndl_attach_event {
    uint64_t interval;   /* ns of the thread's CPU time between samples */
    uint32_t stack_size; /* bytes of the copy */
    bool leaves_out_kernel;
    bool is_of_kernel; /* samples of the kernel alone, with its stack */
    bool has_children; /* processes that the thread forks are sampled too */
};

/*
 * Finds out whether this user may have such events, and whether they leave out
 * the kernel. Returns 0 or an errno.
 */
int wndl_attach_event_probe(struct wndl_attach_event *event);

/*
 * Opens the event of thread `tid` on one CPU, disabled. Threads that it starts
 * later inherit it. Returns a descriptor; -1 with errno.
 */
int wndl_attach_event_open(
    const struct wndl_attach_event *event, pid_t tid, int cpu);

/*
 * Opens an event of our own on one CPU which counts nothing. A ring is mapped
 * through it, to which those of threads are directed: it outlives them.
 */
int wndl_attach_event_holder(int cpu, uint32_t wake_at);

#endif
