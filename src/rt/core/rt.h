/* SPDX-License-Identifier: MIT */
/*
 * rt: the state of the recorder in a recorded program. No file of this layer
 * may call libc's allocator or stdio, or take a lock that the program may hold.
 * Most of it runs in a signal handler.
 */
#ifndef WNDL_RT_CORE_RT_H
#define WNDL_RT_CORE_RT_H

#include "os/raw.h"
#include "rec/shm.h"
#include "rt/arch/arch.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <windlass/unwind.h>

/*
 * A definition that the program sees: a hook that replaces libc's function of
 * the same name.
 */
#define WNDL_RT_HOOK __attribute__((visibility("default")))

/* Data that other files' code accesses directly, without the GOT. */
#define WNDL_RT_HIDDEN __attribute__((visibility("hidden")))

/* Bytes for a line of /proc/self/maps: a path, and the fields before it. */
enum { WNDL_RT_SCRATCH = 4096 + 256 };

/*
 * The state of one process image. `shm` is NULL and `signals` 0 while nothing
 * is recorded. Both are set before the first sample. Afterwards they change in
 * a forked child only, while it has one thread and that thread's signals are
 * blocked.
 */
struct wndl_rt {
    struct wndl_shm *shm;
    size_t shared_size; /* bytes mapped at `shm` */
    struct wndl_stacktree *tree;
    struct wndl_shm_copy *copies; /* NULL: the block has none */
    const char *session; /* path of the socket, NULL when not recorded */
    uint64_t vdso;       /* avma of the vDSO's ELF header, 0 if none */
    uint64_t loaded;     /* CPU ns at the start of this image; 0 in a fork */
    uint64_t interval;   /* ns */
    uint64_t signals;    /* of the engine: bits as in a sigset_t */
    uint64_t ignored;    /* of `signals`, those ignored at the start */
    uint32_t engine;     /* enum wndl_engine */
    uint32_t max_frames; /* of a stack; the innermost are kept */
    uint32_t unwind;     /* enum wndl_unwind_policy */
    int pid;
    int collector;        /* its pid, 0: not known */
    bool with_barriers;   /* membarrier() is allowed */
    bool with_locks;      /* mlock() and munlock() are allowed */
    bool with_events;     /* so are the calls on perf events */
    bool may_begin_alone; /* so are the calls of start/alone.c */
    bool was_late;        /* it left before the answer; its forks ask anew */
    /* Address space of all threads' slots, most of it never used; or NULL. */
    _Atomic uintptr_t slots_start;
    size_t slots_size;
    char threads[WNDL_SHM_PATTERNS]; /* patterns of the threads to sample */
    /* Last value of the clock before the program disabled it; 0: enabled. */
    _Alignas(8) uint64_t tsc_end;
    _Atomic uint64_t ahead;     /* CPU ns of ended threads' samples beyond
                                 * what the threads used */
    _Atomic bool careful;       /* there may be a sandbox: hook/prctl.c */
    _Atomic bool silent;        /* its filter forbids even that */
    bool filtered;              /* a filter is known to be in force */
    _Atomic uint32_t held;      /* the block's, kept for forked children */
    _Atomic uint32_t unmaps;    /* +1 when the program unmaps memory */
    _Atomic uint32_t rules_age; /* +1 when a module is unloaded */
};

extern struct wndl_rt wndl_rt;

/*
 * The signals that we block while at work. SIGSYS stays open: a sandbox may
 * answer one of our calls with it, and its handler then returns an error for
 * the call. If it were blocked, the process would end.
 */
#define WNDL_RT_ALL_SIGNALS (~(UINT64_C(1) << (SIGSYS - 1)))

/*
 * Whether to make only the calls that any sandbox allows to threads: those on
 * the clock, on signals and their masks, on ids, and on memory.
 */
static inline bool wndl_rt_is_careful(void)
{
    return atomic_load_explicit(&wndl_rt.careful, memory_order_relaxed);
}

/*
 * Whether our signals can interrupt a blocked call: TIMER's, and PERF's timer
 * of a thread's first sample.
 */
static inline bool wndl_rt_interrupts_calls(void)
{
    return wndl_rt.engine == WNDL_ENGINE_TIMER ||
           wndl_rt.engine == WNDL_ENGINE_PERF;
}

/*
 * Whether nothing is recorded any more, because a filter does not let through
 * the calls that we would make. The runtime then makes none.
 */
static inline bool wndl_rt_is_silent(void)
{
    return atomic_load_explicit(&wndl_rt.silent, memory_order_relaxed);
}

/*
 * Whether this is the recorded process, and no child of vfork(), which shares
 * its memory. False when silent: hooks then pass everything on.
 */
static inline bool wndl_rt_is_own_process(void)
{
    return !wndl_rt_is_silent() && wndl_raw_getpid() == wndl_rt.pid;
}

/* The processor's clock. A program may disable reading it. */
static inline uint64_t wndl_rt_tsc(void)
{
    uint64_t end = __atomic_load_n(&wndl_rt.tsc_end, __ATOMIC_RELAXED);
    return __builtin_expect(end == 0, 1) ? wndl_arch_ticks() : end;
}

/* Translates `unwind`, an enum wndl_unwind_policy. */
static inline enum wndl_walk_method wndl_rt_walk_method(uint32_t unwind)
{
    if (unwind == WNDL_UNWIND_SCAN)
        return WNDL_WALK_SCAN;
    return (enum wndl_walk_method)unwind;
}

/* Changes at the start and the end of each pause. Odd during a pause. */
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

/* Notes that `pid` has become, or will become, another program. */
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
