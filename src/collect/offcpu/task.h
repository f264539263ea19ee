/* SPDX-License-Identifier: MIT */
/*
 * task: what /proc tells of one thread (proc_pid_syscall(5), schedstat,
 * comm). Files stay open while descriptors are to be had.
 */
#ifndef WNDL_COLLECT_OFFCPU_TASK_H
#define WNDL_COLLECT_OFFCPU_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_OFFCPU_SCHEDSTAT, WNDL_OFFCPU_SYSCALL, WNDL_OFFCPU_FILES };

/* A descriptor is -1 when it is not open. */
struct wndl_offcpu_task {
    uint32_t tid;
    int files[WNDL_OFFCPU_FILES];
};

/* Since the thread began, ns; and how often it was given a CPU. */
struct wndl_offcpu_times {
    uint64_t time; /* when that was so, CLOCK_MONOTONIC */
    uint64_t run, wait, slices;
};

enum wndl_offcpu_state {
    WNDL_OFFCPU_RUNS, /* or waits for a CPU */
    WNDL_OFFCPU_BLOCKED,
    WNDL_OFFCPU_HIDDEN, /* errno tells why */
};

/* /proc/PID/task, opened; -1 when the process is gone. */
int wndl_offcpu_task_folder(pid_t pid);

/* How many threads there are, 0 when the process is gone. */
size_t wndl_offcpu_task_count(int folder);

/* Calls visit for each. False when the folder cannot be read. */
bool wndl_offcpu_task_each(
    int folder, void (*visit)(void *context, uint32_t tid), void *context);

void wndl_offcpu_task_init(struct wndl_offcpu_task *task, uint32_t tid);

/* Gives the descriptor of a file back to *left, if it is open. */
void wndl_offcpu_task_close(
    struct wndl_offcpu_task *task, int file, size_t *left);

/*
 * Whether a thread of which something could not be read, with this errno, is
 * there all the same: it was us who had no room.
 */
bool wndl_offcpu_task_is_there(int error);

/*
 * False, with errno, when the thread is gone or may be there. *left:
 * descriptors that may be opened.
 */
bool wndl_offcpu_task_times(struct wndl_offcpu_task *task, int folder,
    size_t *left, struct wndl_offcpu_times *times);

/*
 * CLOCK_MONOTONIC ns; the kernel tells it in its ticks of 10 ms, and this is
 * the middle of one. False when the thread is gone.
 */
bool wndl_offcpu_task_birth(
    const struct wndl_offcpu_task *task, int folder, uint64_t *birth);

/* pc and sp are set for BLOCKED. */
enum wndl_offcpu_state wndl_offcpu_task_state(struct wndl_offcpu_task *task,
    int folder, size_t *left, uint64_t *pc, uint64_t *sp);

/* False, with errno, as for its times. */
bool wndl_offcpu_task_name(
    const struct wndl_offcpu_task *task, int folder, char name[16]);

#endif
