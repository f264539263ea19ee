/* SPDX-License-Identifier: MIT */
/* real: the next functions of the names that this object hooks. */
#ifndef WNDL_RT_MEMLOG_REAL_H
#define WNDL_RT_MEMLOG_REAL_H

#include <pthread.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int wndl_calls_spawn(pid_t *, const char *,
    const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
    char *const[], char *const[]);

/*
 * NULL for those that this libc lacks, which then has no caller either. `mmap`
 * and `munmap` are NULL while they are looked for, too: dlsym() may call an
 * allocator that maps memory.
 */
struct wndl_calls_real {
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*brk)(void *);
    void *(*sbrk)(intptr_t);
    int (*madvise)(void *, size_t, int);
    int (*malloc_trim)(size_t);
    int (*pthread_create)(
        pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execv)(const char *, char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    wndl_calls_spawn *posix_spawn;
    wndl_calls_spawn *posix_spawnp;
};

/* The functions, found at the first call. */
const struct wndl_calls_real *wndl_calls_real(void);

#endif
