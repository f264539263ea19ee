/* SPDX-License-Identifier: MIT */
/*
 * rt: the state of the recorder inside a recorded program, and what its files
 * offer each other. Nothing here may call libc's allocator, stdio or a lock
 * that the program may hold; most of it runs in a signal handler.
 */
#ifndef WNDL_RT_RT_H
#define WNDL_RT_RT_H

#include "rec/shm.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A definition that stands before the libc's of the same name. */
#define WNDL_RT_HOOK __attribute__((visibility("default")))

/*
 * Of one process image. `shm` is NULL and `signal` 0 while nothing is
 * recorded; both are set before the first sample and change in a forked child
 * only, while it has one thread and that thread's signals are blocked.
 */
struct wndl_rt {
    struct wndl_shm *shm;
    struct wndl_stacktree *tree;
    const char *session; /* path of the socket, NULL when not recorded */
    uint64_t vdso;       /* avma of the vDSO's ELF header, 0 if none */
    uint64_t interval;   /* ns */
    uint32_t engine;     /* enum wndl_engine */
    int signal;          /* the one the engine sends, 0 for none */
    int pid;
    uint32_t image;             /* +1 in each forked child */
    _Atomic uint32_t epoch;     /* of unloading: modules.c */
    _Atomic uint32_t rules_age; /* +1 when rule caches are out of date */
};

extern struct wndl_rt wndl_rt;

static inline void wndl_rt_lose(enum wndl_loss reason, uint64_t count)
{
    atomic_fetch_add_explicit(
        &wndl_rt.shm->lost[reason], count, memory_order_relaxed);
}

/* session.c: asks the collector for a recording. Signals must be blocked. */
void wndl_rt_start(void);

/*
 * engine.c: installs the handler and starts sampling this process with
 * `engine`, or with the next best. Fills *ready. Returns the descriptor that
 * keeps the engine running, or -1 where there is none.
 */
int wndl_rt_engine_start(
    uint32_t engine, bool kernel, struct wndl_ready *ready);

/*
 * engine.c: a timer for the calling thread, if the engine wants one. Threads
 * that are there when the engine starts have one.
 */
void wndl_rt_engine_add_thread(void);

/* engine.c: takes the timer of a thread that has ended down. */
void wndl_rt_engine_drop_timer(int timer);

/*
 * engine.c: no signal of the engine's may be under way while the program is
 * replaced: the new image has no handler for it yet. resume() is for when the
 * exec has failed.
 */
void wndl_rt_engine_pause(void);
void wndl_rt_engine_resume(void);

/* sample.c: records where the calling thread is. */
void wndl_rt_sample(const void *ucontext, uint64_t overruns);

/* modules.c: makes sure that the module of a code address is listed. */
bool wndl_rt_module_note(uint64_t address);

/* modules.c: looks for listed modules that are gone. */
void wndl_rt_modules_recheck(void);

/* hook_signal.c: does with a signal that is not ours what the program asked. */
void wndl_rt_signal_chain(int signal, siginfo_t *info, void *ucontext);

/* hook_signal.c: in a forked child, before anything else may ask. */
void wndl_rt_signal_after_fork(void);

/* hook_mask.c: whether the program has our signal blocked in this thread. */
void wndl_rt_mask_remember(bool blocked);

/*
 * The functions behind the hooked ones, found when the object is loaded. NULL
 * for what this libc does not have.
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
    int (*pthread_create)(
        pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*dlclose)(void *);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
};

/* real.c: finds them at the first call. Not for signal handlers. */
const struct wndl_rt_real *wndl_rt_real(void);

#endif
