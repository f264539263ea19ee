/* SPDX-License-Identifier: MIT */
/*
 * task: the files of /proc about one thread (proc_pid_syscall(5), schedstat,
 * comm). They stay open as long as descriptors are available.
 */
#ifndef WNDL_COLLECT_OFFCPU_TASK_H
#define WNDL_COLLECT_OFFCPU_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_OFFCPU_SCHEDSTAT, WNDL_OFFCPU_SYSCALL, WNDL_OFFCPU_FILES };

/* One thread's files. A descriptor is -1 when it is not open. */
struct wndl_offcpu_task {
    uint32_t tid;
    int files[WNDL_OFFCPU_FILES];
};

/* Times since the thread began, ns; and the number of times it got a CPU. */
struct wndl_offcpu_times {
    uint64_t time; /* CLOCK_MONOTONIC ns of the read */
    uint64_t run, wait, slices;
};

enum wndl_offcpu_state {
    WNDL_OFFCPU_RUNS, /* it runs or waits for a CPU */
    WNDL_OFFCPU_BLOCKED,
    WNDL_OFFCPU_HIDDEN, /* not readable; errno has the reason */
};

/* Opens /proc/PID/task; -1 when the process is gone. */
int wndl_offcpu_task_folder(pid_t pid);

/* The number of threads; 0 when the process is gone. */
size_t wndl_offcpu_task_count(int folder);

/* Calls visit for each thread. False when the folder cannot be read. */
bool wndl_offcpu_task_each(
    int folder, void (*visit)(void *context, uint32_t tid), void *context);

/* Makes the task of `tid`, without open files. */
void wndl_offcpu_task_init(struct wndl_offcpu_task *task, uint32_t tid);

/* Closes one file, if it is open, and adds its descriptor to *left. */
void wndl_offcpu_task_close(
    struct wndl_offcpu_task *task, int file, size_t *left);

/*
 * Whether a thread still exists although a read failed with this errno: the
 * descriptors or the memory were ours that ran out.
 */
bool wndl_offcpu_task_is_there(int error);

/*
 * Reads the times. False, with errno, when the thread is gone or may be. *left:
 * the number of descriptors that may still be opened.
 */
bool wndl_offcpu_task_times(struct wndl_offcpu_task *task, int folder,
    size_t *left, struct wndl_offcpu_times *times);

/*
 * Sets *birth to the thread's start, CLOCK_MONOTONIC ns. The kernel reports it
 * in ticks of 10 ms, and this is the middle of one. False when the thread is
 * gone.
 */
bool wndl_offcpu_task_birth(
    const struct wndl_offcpu_task *task, int folder, uint64_t *birth);

/* Reads the state; sets *pc and *sp for BLOCKED. */
enum wndl_offcpu_state wndl_offcpu_task_state(struct wndl_offcpu_task *task,
    int folder, size_t *left, uint64_t *pc, uint64_t *sp);

/* Reads the name. False, with errno, as for the times. */
bool wndl_offcpu_task_name(
    const struct wndl_offcpu_task *task, int folder, char name[16]);

#endif
