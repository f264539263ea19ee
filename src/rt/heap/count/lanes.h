/* SPDX-License-Identifier: MIT */
/*
 * heap_lanes: where a thread counts: rec/heap.h. A lane of a thread's own is
 * changed by plain stores, the shared last one atomically.
 */
#ifndef WNDL_RT_HEAP_COUNT_LANES_H
#define WNDL_RT_HEAP_COUNT_LANES_H

#include "rec/heap.h"

#include <stdbool.h>

struct wndl_rt_lane {
    struct wndl_heap *heap;
    struct wndl_heap_lane *totals;
    struct wndl_heap_count *counts; /* by pair */
    bool shared;
};

/*
 * A lane for thread `tid`: one of its own if there is one. Lanes of threads
 * that have ended without a word are free: `pid` is the process.
 */
struct wndl_rt_lane wndl_rt_lane_take(struct wndl_heap *heap, int pid, int tid);

/* The shared one, for whoever has none. */
struct wndl_rt_lane wndl_rt_lane_shared(struct wndl_heap *heap);

/* It is free for another thread. What was counted stays. */
void wndl_rt_lane_leave(const struct wndl_rt_lane *lane);

struct wndl_rt_sizes {
    uint64_t requested, usable; /* bytes */
};

static inline void wndl_rt_add(bool shared, wndl_heap_number *to, uint64_t what)
{
    if (__builtin_expect(shared, 0))
        (void)__atomic_fetch_add(to, what, __ATOMIC_RELAXED);
    else
        __atomic_store_n(to, *to + what, __ATOMIC_RELAXED);
}

static inline void wndl_rt_lane_add(
    const struct wndl_rt_lane *lane, wndl_heap_number *to, uint64_t what)
{
    wndl_rt_add(lane->shared, to, what);
}

static inline void wndl_rt_lane_miss(
    const struct wndl_rt_lane *lane, enum wndl_heap_miss why)
{
    wndl_rt_lane_add(lane, &lane->totals->missed[why], 1);
}

/* Tells the header what it does not know of yet. Returns all that is live, in
 * bytes. */
int64_t wndl_rt_lane_publish(const struct wndl_rt_lane *lane);

/* What is live now is a peak, if there was none higher. */
void wndl_rt_lane_note_peak(const struct wndl_rt_lane *lane);

/* The same, where that is what the header knows of and `untold` bytes, which it
 * is not told of. */
void wndl_rt_lane_note_rise(const struct wndl_rt_lane *lane, int64_t untold);

/* A lane keeps up to this much of what is live to itself, or this share of
 * the peak. */
enum { WNDL_RT_KEPT = 1024, WNDL_RT_KEPT_SHIFT = 10 };

static inline bool wndl_rt_lane_may_keep(
    const struct wndl_rt_lane *lane, int64_t bytes)
{
    return __builtin_expect(bytes < WNDL_RT_KEPT, 1) ||
           bytes < atomic_load_explicit(
                       &lane->heap->peak_bytes, memory_order_relaxed) >>
               WNDL_RT_KEPT_SHIFT;
}

/* What the header does not know of yet. */
static inline int64_t wndl_rt_lane_untold(const struct wndl_rt_lane *lane)
{
    const struct wndl_heap_lane *t = lane->totals;
    return (int64_t)(__atomic_load_n(&t->usable, __ATOMIC_RELAXED) -
                     __atomic_load_n(&t->usable_freed, __ATOMIC_RELAXED) -
                     (uint64_t)__atomic_load_n(&t->told, __ATOMIC_RELAXED));
}

static inline void wndl_rt_lane_count_birth(
    struct wndl_heap_lane *t, bool shared, const struct wndl_rt_sizes *sizes)
{
    wndl_rt_add(shared, &t->allocs, 1);
    wndl_rt_add(shared, &t->requested, sizes->requested);
    wndl_rt_add(shared, &t->usable, sizes->usable);
}

static inline void wndl_rt_lane_count_death(
    struct wndl_heap_lane *t, bool shared, uint64_t usable)
{
    wndl_rt_add(shared, &t->frees, 1);
    wndl_rt_add(shared, &t->usable_freed, usable);
}

/* A block was allocated, whether it is in a pair or not. After its pair's
 * born(). */
static inline void wndl_rt_lane_born(
    const struct wndl_rt_lane *lane, const struct wndl_rt_sizes *sizes)
{
    wndl_rt_lane_count_birth(lane->totals, lane->shared, sizes);
    if (!wndl_rt_lane_may_keep(lane, wndl_rt_lane_untold(lane)))
        wndl_rt_lane_note_peak(lane);
}

/*
 * While more and more is live every moment is a peak: only the last of them,
 * before something is freed, need be one.
 */
static inline bool wndl_rt_lane_has_risen(
    const struct wndl_rt_lane *lane, int64_t untold)
{
    const struct wndl_heap *heap = lane->heap;
    return untold > 0 &&
           atomic_load_explicit(&heap->live_bytes, memory_order_relaxed) +
                   untold >
               atomic_load_explicit(&heap->peak_bytes, memory_order_relaxed);
}

/* A block was freed. Before its pair's died(). */
static inline __attribute__((always_inline)) void wndl_rt_lane_died(
    const struct wndl_rt_lane *lane, uint64_t usable)
{
    int64_t untold = wndl_rt_lane_untold(lane);
    if (wndl_rt_lane_has_risen(lane, untold))
        wndl_rt_lane_note_rise(lane, untold);
    wndl_rt_lane_count_death(lane->totals, lane->shared, usable);
    if (!wndl_rt_lane_may_keep(lane, (int64_t)usable - untold))
        (void)wndl_rt_lane_publish(lane);
}

/* Whether a birth, or a death, is to be counted, and no more, in a lane that is
 * its thread's own. */
static inline bool wndl_rt_lane_only_counts_birth(
    const struct wndl_rt_lane *lane, uint64_t usable)
{
    int64_t untold = wndl_rt_lane_untold(lane) + (int64_t)usable;
    return !lane->shared && wndl_rt_lane_may_keep(lane, untold);
}

static inline bool wndl_rt_lane_only_counts_death(
    const struct wndl_rt_lane *lane, uint64_t usable)
{
    int64_t untold = wndl_rt_lane_untold(lane);
    return !lane->shared && !wndl_rt_lane_has_risen(lane, untold) &&
           wndl_rt_lane_may_keep(lane, (int64_t)usable - untold);
}

/* What the lane has of the pair is about to be other than at the peak. */
static inline void wndl_rt_pair_keep_peak(
    const struct wndl_rt_lane *lane, struct wndl_heap_count *c)
{
    uint32_t stamp =
        atomic_load_explicit(&lane->heap->peak_stamp, memory_order_relaxed);
    if (__builtin_expect(
            __atomic_load_n(&c->stamp, __ATOMIC_RELAXED) == stamp, 1))
        return;
    uint64_t allocs = __atomic_load_n(&c->allocs, __ATOMIC_RELAXED);
    uint64_t frees = __atomic_load_n(&c->frees, __ATOMIC_RELAXED);
    __atomic_store_n(&c->at_peak, (int64_t)(allocs - frees), __ATOMIC_RELAXED);
    __atomic_store_n(&c->stamp, stamp, __ATOMIC_RELEASE);
}

/*
 * Whether a block is timed that the lane has had `order` others of the pair
 * before, once not all are: one of EVERY. What a program does in turns must not
 * decide which: multiples of an irrational number, of which golden is 64 bits,
 * fall evenly into whatever a turn has.
 */
static inline bool wndl_rt_pair_times(uint64_t order)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    return order * golden < UINT64_MAX / WNDL_HEAP_TIMED_EVERY;
}

static inline void wndl_rt_pair_born(
    const struct wndl_rt_lane *lane, uint32_t pair)
{
    struct wndl_heap_count *c = &lane->counts[pair];
    wndl_rt_pair_keep_peak(lane, c);
    wndl_rt_lane_add(lane, &c->allocs, 1);
}

static inline void wndl_rt_pair_died(
    const struct wndl_rt_lane *lane, uint32_t pair, uint64_t lifetime)
{
    const bool shared = lane->shared;
    struct wndl_heap_count *c = &lane->counts[pair];
    wndl_rt_pair_keep_peak(lane, c);
    wndl_rt_add(shared, &c->frees, 1);
    wndl_rt_add(shared, &c->lifetime, lifetime);
}

/*
 * What came `before` is a pair plus one, or 0. If it is the same more often
 * than not, that is `*after` in the end (Boyer and Moore's majority vote), and
 * each time that it is not takes two off the `*times` that it could be.
 */
static inline void wndl_rt_count_together(
    uint32_t *after, uint32_t *times, uint32_t before)
{
    if (before == 0)
        return;
    if (*times == 0)
        *after = before;
    *times += *after == before ? 1 : UINT32_MAX;
}

#endif
