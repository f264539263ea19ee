/* SPDX-License-Identifier: MIT */
/*
 * task: the entries of /proc/PID/task/TID about one thread (proc(5)), and their
 * meaning.
 */
#ifndef WNDL_SNAPSHOT_TASK_H
#define WNDL_SNAPSHOT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_TASK_TEXT = 512, WNDL_TASK_ARGUMENTS = 6 };

/* A thread, named by its process and itself. */
struct wndl_task {
    pid_t pid, tid;
};

/*
 * Reads the file `name`, NUL-terminated and without its last newline. False,
 * with errno, if it cannot be read: ENOENT or ESRCH if the thread is gone.
 */
bool wndl_task_read(
    const struct wndl_task *task, const char *name, char text[WNDL_TASK_TEXT]);

/* The contents of the file "syscall" (proc_pid_syscall(5)). */
struct wndl_task_call {
    bool is_running; /* nothing below is known */
    bool is_call;    /* it is in a system call: number and arguments */
    uint64_t number, arguments[WNDL_TASK_ARGUMENTS];
    uint64_t sp, pc;
};

/* False if the text is of another form. */
bool wndl_task_call_parse(const char *text, struct wndl_task_call *call);

/* The letter in the file "stat" (proc_pid_stat(5)); 0: another form. */
char wndl_task_state_parse(const char *text);

/* The process that traces the thread; 0: none. */
pid_t wndl_task_tracer(const struct wndl_task *task);

#endif
