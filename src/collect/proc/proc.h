/* SPDX-License-Identifier: MIT */
/*
 * collector_proc: the entries of proc(5) for a process. Failures are quiet: a
 * process may be gone at any moment.
 */
#ifndef WNDL_COLLECT_PROC_PROC_H
#define WNDL_COLLECT_PROC_PROC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads up to `size` bytes of /proc/PID/NAME. Returns how many; 0 on failure.
 */
size_t wndl_proc_read(pid_t pid, const char *name, char *to, size_t size);

/*
 * Reads the target of the link /proc/PID/NAME, without " (deleted)". False on
 * failure.
 */
bool wndl_proc_link(pid_t pid, const char *name, char to[PATH_MAX]);

struct wndl_proc_stat {
    pid_t parent;
    char state;      /* 'Z': it has ended and has not been waited for */
    uint64_t faults; /* minor page faults so far */
    uint64_t start;  /* clock ticks since boot: distinguishes users of one
                     * pid */
};
/* False on failure. */
bool wndl_proc_stat(pid_t pid, struct wndl_proc_stat *stat);

/* Whether it is there, and no zombie. */
bool wndl_proc_runs(pid_t pid);

/* The time since `start` of struct wndl_proc_stat, in ns. */
uint64_t wndl_proc_age(uint64_t start);

/*
 * Whether `pid` is a process. /proc/TID exists for each thread, too, though no
 * listing has it.
 */
bool wndl_proc_is_process(pid_t pid);

/* Its threads that have not ended; 0: it is gone. */
uint64_t wndl_proc_threads(pid_t pid);

/* The process that traces `pid`; 0: none. */
pid_t wndl_proc_tracer(pid_t pid);

/* The ELF machine (EM_*) of its executable; 0: not known. */
uint16_t wndl_proc_machine(pid_t pid);

/* The same of this process. */
uint16_t wndl_proc_own_machine(void);

/*
 * Whether a process whose code is of `machine` runs in an emulator of another
 * processor, whose executable the kernel shows.
 */
bool wndl_proc_is_emulated(pid_t pid, uint16_t machine);

/* The number of its filters of system calls (seccomp(2)). */
uint64_t wndl_proc_filters(pid_t pid);

/*
 * The avma of its vDSO; 0: not known. `wide`: its addresses have 64 bits. Each
 * image has its own, unless the kernel does not choose addresses at random.
 */
uint64_t wndl_proc_vdso(pid_t pid, bool wide);

/* Whether this signal is pending for the process. */
bool wndl_proc_pending(pid_t pid, int signal);

/*
 * Reads its arguments, each with its NUL except the last. Returns the number of
 * bytes.
 */
size_t wndl_proc_command(pid_t pid, char *to, size_t size);

#endif
