/* SPDX-License-Identifier: MIT */
/*
 * rt: the state of the recorder inside a recorded program. No file of this
 * layer may call libc's allocator or stdio, or take a lock that the program may
 * hold; most of it runs in a signal handler.
 */
#ifndef WNDL_RT_CORE_RT_H
#define WNDL_RT_CORE_RT_H

#include "rec/shm.h"
#include "rt/arch/arch.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <windlass/unwind.h>

/* A definition that programs see: a hook stands before the libc's function of
 * the same name. */
#define WNDL_RT_HOOK __attribute__((visibility("default")))

/* Data that other files' code is to reach at once, not by way of the GOT. */
#define WNDL_RT_HIDDEN __attribute__((visibility("hidden")))

/* Bytes for a line of /proc/self/maps: a path and what stands before it. */
enum { WNDL_RT_SCRATCH = 4096 + 256 };

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
    uint64_t ignored;    /* those of them that were ignored at the start */
    uint32_t engine;     /* enum wndl_engine */
    uint32_t max_frames; /* of a stack, the innermost */
    uint32_t unwind;     /* enum wndl_unwind_policy */
    int pid;
    int collector;      /* its process, 0 when not known */
    bool with_ticks;    /* PERF, with ticks for the time in the kernel */
    bool with_barriers; /* membarrier() is allowed */
    bool with_locks;    /* mlock() and munlock() are allowed */
    char threads[WNDL_SHM_PATTERNS]; /* which to sample */
    /* The clock's last value before the program lost it; 0: it can be read. */
    _Alignas(8) uint64_t tsc_end;
    _Atomic bool careful;       /* there may be a sandbox: hook/prctl.c */
    _Atomic uint32_t epoch;     /* of unloading: walk/modules.c */
    _Atomic uint32_t held;      /* the block's, kept for forked children */
    _Atomic uint32_t unmaps;    /* +1 when the program has unmapped memory */
    _Atomic uint32_t rules_age; /* +1 when a module has gone */
    _Atomic(struct wndl_unwinder *)
        unwinder; /* for all threads: walk/rules.c */
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

/* `unwind` is an enum wndl_unwind_policy. */
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

static inline uint64_t wndl_rt_signal_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

#endif
