/* SPDX-License-Identifier: MIT */
/*
 * rt: the state of the recorder inside a recorded program, and what its files
 * offer each other. Nothing here may call libc's allocator, stdio or a lock
 * that the program may hold; most of it runs in a signal handler.
 */
#ifndef WNDL_RT_CORE_RT_H
#define WNDL_RT_CORE_RT_H

#include "os/dlfind.h"
#include "rec/shm.h"
#include "rt/arch/arch.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <windlass/unwind.h>

/* A definition that stands before the libc's of the same name. */
#define WNDL_RT_HOOK __attribute__((visibility("default")))

/*
 * Of one process image. `shm` is NULL and `signals` 0 while nothing is
 * recorded; both are set before the first sample and change in a forked child
 * only, while it has one thread and that thread's signals are blocked.
 */
struct wndl_rt {
    struct wndl_shm *shm;
    size_t shared_size; /* bytes mapped at `shm` */
    struct wndl_stacktree *tree;
    const char *session; /* path of the socket, NULL when not recorded */
    uint64_t vdso;       /* avma of the vDSO's ELF header, 0 if none */
    uint64_t interval;   /* ns */
    uint64_t signals;    /* that the engine sends: bits as in a sigset_t */
    uint64_t ignored;    /* of them, those that were so at the start */
    uint32_t engine;     /* enum wndl_engine */
    uint32_t max_frames; /* of a stack, the innermost */
    uint32_t unwind;     /* enum wndl_unwind_with */
    int pid;
    int collector;      /* its process, 0 when not known */
    bool with_ticks;    /* PERF, with ticks for the time in the kernel */
    bool with_barriers; /* no sandbox minds membarrier() */
    bool with_locks;    /* nor mlock() and munlock() */
    char threads[WNDL_SHM_PATTERNS]; /* which to sample */
    /* What it was when it could be read last; 0: it can be. */
    _Alignas(8) uint64_t tsc_end;
    _Atomic bool careful;       /* a sandbox may be: sandbox.c */
    _Atomic uint32_t epoch;     /* of unloading: modules.c */
    _Atomic uint32_t held;      /* the block's, kept for forked children */
    _Atomic uint32_t unmaps;    /* +1 when the program has unmapped memory */
    _Atomic uint32_t rules_age; /* +1 when a module has gone */
    _Atomic(struct wndl_unwinder *) unwinder; /* for all threads: threads.c */
};

extern struct wndl_rt wndl_rt;

/*
 * What is blocked while we are at work. A sandbox may answer one of our calls
 * with SIGSYS, whose handler then returns an error for it; that it finds the
 * signal blocked would be the end.
 */
#define WNDL_RT_ALL_SIGNALS (~(UINT64_C(1) << (SIGSYS - 1)))

/*
 * Whether to make none but the calls that any sandbox lets threads make: on
 * the clock, on signals and their masks, on ids, on memory.
 */
static inline bool wndl_rt_is_careful(void)
{
    return atomic_load_explicit(&wndl_rt.careful, memory_order_relaxed);
}

/* The processor's clock. A program may give up the right to read it. */
static inline uint64_t wndl_rt_tsc(void)
{
    uint64_t end = __atomic_load_n(&wndl_rt.tsc_end, __ATOMIC_RELAXED);
    return __builtin_expect(end == 0, 1) ? wndl_arch_ticks() : end;
}

/* `unwind` is an enum wndl_unwind_with. */
static inline enum wndl_walk_method wndl_rt_walk_method(uint32_t unwind)
{
    if (unwind == WNDL_UNWIND_SCAN)
        return WNDL_WALK_SCAN;
    return (enum wndl_walk_method)unwind;
}

/* Changes with each pause and its end; odd during either's. */
static inline uint32_t wndl_rt_pauses(void)
{
    uint32_t by_recorder =
        atomic_load_explicit(&wndl_rt.shm->paused, memory_order_relaxed);
    uint32_t by_program =
        atomic_load_explicit(&wndl_rt.shm->held, memory_order_relaxed);
    return (by_recorder + by_program) << 1 | ((by_recorder | by_program) & 1);
}

static inline void wndl_rt_lose(enum wndl_loss reason, uint64_t count)
{
    atomic_fetch_add_explicit(
        &wndl_rt.shm->lost[reason], count, memory_order_relaxed);
}

/* `pid` is, or is about to become, another program. */
static inline void wndl_rt_note_start(int pid)
{
    if (wndl_rt.shm == NULL)
        return;
    uint32_t turn = atomic_fetch_add_explicit(
        &wndl_rt.shm->starts, 1, memory_order_relaxed);
    atomic_store_explicit(&wndl_rt.shm->started[turn % WNDL_SHM_STARTS],
        (uint32_t)pid, memory_order_release);
}

/* session.c: there is no room. If nobody is there to make any, it all ends. */
void wndl_rt_lose_to_full_ring(void);

/*
 * session.c: asks the collector for a recording, or tells it why there is to
 * be none. Signals must be blocked.
 */
void wndl_rt_start(enum wndl_unrecorded_reason refusal);

static inline uint64_t wndl_rt_signal_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

/*
 * engine.c: installs the handler and starts sampling this process as `go`
 * says. Fills *ready. Returns the descriptor that keeps the engine running,
 * or -1 where there is none.
 */
int wndl_rt_engine_start(const struct wndl_go *go, struct wndl_ready *ready);

/*
 * engine.c: the calling thread begins, before any code of the program's.
 * Threads that are there when the engine starts are known to it.
 */
void wndl_rt_engine_add_thread(void);

/* engine.c: the calling thread ends; no code of the program's follows. */
void wndl_rt_engine_end_thread(void);

/*
 * engine.c: learns what can be learnt of the calling thread only by calls
 * that it is about to lose the right to make.
 */
void wndl_rt_engine_prepare_thread(void);

/* engine.c: no more samples of the calling thread. */
void wndl_rt_engine_stop(void);

/* hook_thread.c: before the first sample, once per process image. */
void wndl_rt_thread_hook_start(void);

/*
 * engine.c: no signal of the engine's may be under way while the program is
 * replaced: the new image has no handler for it yet. resume() is for when the
 * exec has failed.
 */
void wndl_rt_engine_pause(void);
void wndl_rt_engine_resume(void);

/*
 * modules.c: makes sure that the module of a code address is listed, and tells
 * the first epoch of its row; `*epoch` is left alone if there is no module.
 */
bool wndl_rt_module_note(uint64_t address, uint32_t *epoch);

/* modules.c: the GNU build-id, in the module's memory; empty: it has none. */
struct wndl_bytes wndl_rt_module_build_id(const struct wndl_dlmodule *module);

enum { WNDL_RT_MODULE_PATH = 1024 };

/* The path of the file that its first page is mapped from, to which no link
 * leads; an emulator tells it as it is outside. False when it is not to be had.
 * Async-signal-safe. */
bool wndl_rt_module_path(
    const struct wndl_dlmodule *module, char path[WNDL_RT_MODULE_PATH]);

struct wndl_dlmodule;

/* modules.c: whether Go's linker made it. */
bool wndl_rt_module_is_go(const struct wndl_dlmodule *module);

/* modules.c: looks for listed modules that are gone. */
void wndl_rt_modules_recheck(void);

/*
 * hook_signal.c: does with a signal that is not ours what the program asked.
 * True when a handler of its has run.
 */
bool wndl_rt_signal_chain(int signal, siginfo_t *info, void *ucontext);

/*
 * hook_signal.c: takes over what the image before left: of our signals,
 * `blocked` are. Returns which of those the program is to see as blocked.
 */
uint64_t wndl_rt_signal_inherit(uint64_t blocked);

/* hook_signal.c: those of ours that the program ignores. */
uint64_t wndl_rt_signal_ignored(void);

/* hook_signal.c: in a forked child, before anything else may ask. */
void wndl_rt_signal_after_fork(void);

/* hook_mask.c: which of our signals the program has blocked in this thread. */
void wndl_rt_mask_remember(uint64_t blocked);
uint64_t wndl_rt_mask_blocked(void);

typedef int wndl_rt_spawn(pid_t *, const char *,
    const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
    char *const[], char *const[]);

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
    int (*mlockall)(int);
    int (*prctl)(int, ...);
};

/* real.c: finds them at the first call. Not for signal handlers. */
const struct wndl_rt_real *wndl_rt_real(void);

#endif
