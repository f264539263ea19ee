/* SPDX-License-Identifier: MIT */
/* real: libc's own functions, which our hooks of the same names replace. */
#ifndef WNDL_RT_CORE_REAL_H
#define WNDL_RT_CORE_REAL_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <time.h>

typedef int wndl_rt_spawn(pid_t *, const char *,
    const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
    char *const[], char *const[]);

/*
 * They are found when the object is loaded. NULL for those that this libc
 * lacks.
 */
struct wndl_rt_real {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    sighandler_t (*signal)(int, sighandler_t);
    sighandler_t (*sysv_signal)(int, sighandler_t);
    sighandler_t (*sigset)(int, sighandler_t);
    int (*sigignore)(int);
    int (*siginterrupt)(int, int);
    int (*sigprocmask)(int, const sigset_t *, sigset_t *);
    int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
    int (*raise)(int);
    int (*sighold)(int);
    int (*sigrelse)(int);
    int (*sigpending)(sigset_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigwait)(const sigset_t *, int *);
    int (*signalfd)(int, const sigset_t *, int);
    long (*ptrace)(int, ...);
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(
        clockid_t, int, const struct timespec *, struct timespec *);
    int (*pthread_create)(
        pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*dlclose)(void *);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    wndl_rt_spawn *posix_spawn;
    wndl_rt_spawn *posix_spawnp;
    int (*munmap)(void *, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*mmap64)(void *, size_t, int, int, int, off64_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*mlockall)(int);
    int (*prctl)(int, ...);
};

/* The functions, found at the first call. Not for signal handlers. */
const struct wndl_rt_real *wndl_rt_real(void);

#endif
