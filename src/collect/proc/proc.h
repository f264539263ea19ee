/* SPDX-License-Identifier: MIT */
/*
 * collector_proc: what proc(5) tells of a process. Nothing here fails loudly:
 * a process may be gone at any moment.
 */
#ifndef WNDL_COLLECT_PROC_PROC_H
#define WNDL_COLLECT_PROC_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Up to `size` bytes of /proc/PID/NAME; how many. */
size_t wndl_proc_read(pid_t pid, const char *name, char *to, size_t size);

/* Where the link /proc/PID/NAME leads, without " (deleted)". */
bool wndl_proc_link(pid_t pid, const char *name, char to[PATH_MAX]);

struct wndl_proc_stat {
    pid_t parent;
    char state;     /* 'Z': it has ended and nobody has asked */
    uint64_t start; /* clock ticks since boot: tells one pid's users apart */
};
bool wndl_proc_stat(pid_t pid, struct wndl_proc_stat *stat);

/* The process that traces it, 0 for none. */
pid_t wndl_proc_tracer(pid_t pid);

/* The ELF machine (EM_*) of its executable; 0 if that cannot be told. */
uint16_t wndl_proc_machine(pid_t pid);

/* How many filters of system calls it has (seccomp(2)). */
uint64_t wndl_proc_filters(pid_t pid);

/* Whether this signal waits for it. */
bool wndl_proc_pending(pid_t pid, int signal);

/* Its arguments, each with its NUL but the last; how many bytes. */
size_t wndl_proc_command(pid_t pid, char *to, size_t size);

#endif
