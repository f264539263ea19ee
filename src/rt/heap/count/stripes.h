/* SPDX-License-Identifier: MIT */
/*
 * stripes: where a thread counts: the stripes of rec/heap.h. A thread changes a
 * stripe of its own by plain stores, the shared last one atomically.
 */
#ifndef WNDL_RT_HEAP_COUNT_STRIPES_H
#define WNDL_RT_HEAP_COUNT_STRIPES_H

#include "base/hash.h"
#include "rec/heap.h"

#include <stdbool.h>

struct wndl_rt_stripe {
    struct wndl_heap *heap;
    struct wndl_heap_stripe *totals;
    struct wndl_heap_count *counts; /* by site */
    bool shared;
};

/*
 * A stripe for thread `tid`: one of its own if there is one. Stripes of threads
 * that have ended without a word are free: `pid` is the process.
 */
struct wndl_rt_stripe wndl_rt_stripe_take(
    struct wndl_heap *heap, int pid, int tid);

/* The shared one, for whoever has none. */
struct wndl_rt_stripe wndl_rt_stripe_shared(struct wndl_heap *heap);

/* It is free for another thread. What was counted stays. */
void wndl_rt_stripe_leave(const struct wndl_rt_stripe *stripe);

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

static inline void wndl_rt_stripe_add(
    const struct wndl_rt_stripe *stripe, wndl_heap_number *to, uint64_t what)
{
    wndl_rt_add(stripe->shared, to, what);
}

static inline void wndl_rt_stripe_miss(
    const struct wndl_rt_stripe *stripe, enum wndl_heap_miss why)
{
    wndl_rt_stripe_add(stripe, &stripe->totals->missed[why], 1);
}

/* Adds what the header does not have yet. Returns all that is live, in bytes.
 * */
int64_t wndl_rt_stripe_publish(const struct wndl_rt_stripe *stripe);

/* What is live now is a peak, if there was none higher. */
void wndl_rt_stripe_note_peak(const struct wndl_rt_stripe *stripe);

/* The same, where what is live is what the header has and `unpublished` bytes,
 * which stay so. */
void wndl_rt_stripe_note_rise(
    const struct wndl_rt_stripe *stripe, int64_t unpublished);

/* A stripe keeps up to this much of what is live to itself, or this share of
 * the peak. */
enum { WNDL_RT_KEPT = 1024, WNDL_RT_KEPT_SHIFT = 10 };

static inline bool wndl_rt_stripe_may_keep(
    const struct wndl_rt_stripe *stripe, int64_t bytes)
{
    return __builtin_expect(bytes < WNDL_RT_KEPT, 1) ||
           bytes < atomic_load_explicit(
                       &stripe->heap->peak_bytes, memory_order_relaxed) >>
               WNDL_RT_KEPT_SHIFT;
}

/* Bytes that the header does not have yet. */
static inline int64_t wndl_rt_stripe_unpublished(
    const struct wndl_rt_stripe *stripe)
{
    const struct wndl_heap_stripe *t = stripe->totals;
    return (
        int64_t)(__atomic_load_n(&t->usable, __ATOMIC_RELAXED) -
                 __atomic_load_n(&t->usable_freed, __ATOMIC_RELAXED) -
                 (uint64_t)__atomic_load_n(&t->published, __ATOMIC_RELAXED));
}

static inline void wndl_rt_stripe_count_alloc(
    struct wndl_heap_stripe *t, bool shared, const struct wndl_rt_sizes *sizes)
{
    wndl_rt_add(shared, &t->allocs, 1);
    wndl_rt_add(shared, &t->requested, sizes->requested);
    wndl_rt_add(shared, &t->usable, sizes->usable);
}

static inline void wndl_rt_stripe_count_free(
    struct wndl_heap_stripe *t, bool shared, uint64_t usable)
{
    wndl_rt_add(shared, &t->frees, 1);
    wndl_rt_add(shared, &t->usable_freed, usable);
}

/* A block was allocated, whether it is of a site or not. After
 * wndl_rt_site_add_alloc(). */
static inline void wndl_rt_stripe_add_alloc(
    const struct wndl_rt_stripe *stripe, const struct wndl_rt_sizes *sizes)
{
    wndl_rt_stripe_count_alloc(stripe->totals, stripe->shared, sizes);
    if (!wndl_rt_stripe_may_keep(stripe, wndl_rt_stripe_unpublished(stripe)))
        wndl_rt_stripe_note_peak(stripe);
}

/*
 * While more and more is live every moment is a peak: only the last of them,
 * before something is freed, need be one.
 */
static inline bool wndl_rt_stripe_has_risen(
    const struct wndl_rt_stripe *stripe, int64_t unpublished)
{
    const struct wndl_heap *heap = stripe->heap;
    return unpublished > 0 &&
           atomic_load_explicit(&heap->live_bytes, memory_order_relaxed) +
                   unpublished >
               atomic_load_explicit(&heap->peak_bytes, memory_order_relaxed);
}

/* A block was freed. Before wndl_rt_site_add_free(). */
static inline __attribute__((always_inline)) void wndl_rt_stripe_add_free(
    const struct wndl_rt_stripe *stripe, uint64_t usable)
{
    int64_t unpublished = wndl_rt_stripe_unpublished(stripe);
    if (wndl_rt_stripe_has_risen(stripe, unpublished))
        wndl_rt_stripe_note_rise(stripe, unpublished);
    wndl_rt_stripe_count_free(stripe->totals, stripe->shared, usable);
    if (!wndl_rt_stripe_may_keep(stripe, (int64_t)usable - unpublished))
        (void)wndl_rt_stripe_publish(stripe);
}

/* Whether an allocation, or a free, is to be counted, and no more, in a stripe
 * that is its thread's own. */
static inline bool wndl_rt_stripe_only_counts_alloc(
    const struct wndl_rt_stripe *stripe, uint64_t usable)
{
    int64_t unpublished = wndl_rt_stripe_unpublished(stripe) + (int64_t)usable;
    return !stripe->shared && wndl_rt_stripe_may_keep(stripe, unpublished);
}

static inline bool wndl_rt_stripe_only_counts_free(
    const struct wndl_rt_stripe *stripe, uint64_t usable)
{
    int64_t unpublished = wndl_rt_stripe_unpublished(stripe);
    return !stripe->shared && !wndl_rt_stripe_has_risen(stripe, unpublished) &&
           wndl_rt_stripe_may_keep(stripe, (int64_t)usable - unpublished);
}

/* What the stripe has of the site is about to be other than at the peak. */
static inline void wndl_rt_site_keep_peak(
    const struct wndl_rt_stripe *stripe, struct wndl_heap_count *c)
{
    uint32_t stamp =
        atomic_load_explicit(&stripe->heap->peak_stamp, memory_order_relaxed);
    if (__builtin_expect(
            __atomic_load_n(&c->stamp, __ATOMIC_RELAXED) == stamp, 1))
        return;
    uint64_t allocs = __atomic_load_n(&c->allocs, __ATOMIC_RELAXED);
    uint64_t frees = __atomic_load_n(&c->frees, __ATOMIC_RELAXED);
    __atomic_store_n(&c->at_peak, (int64_t)(allocs - frees), __ATOMIC_RELAXED);
    __atomic_store_n(&c->stamp, stamp, __ATOMIC_RELEASE);
}

/*
 * Whether a block is timed that the stripe has had `order` others of the site
 * before, once not all are: one of EVERY. What a program does in turns must not
 * decide which: multiples of an irrational number, of which WNDL_GOLDEN is
 * 64 bits, fall evenly into whatever a turn has.
 */
static inline bool wndl_rt_site_times(uint64_t order)
{
    return order * WNDL_GOLDEN < UINT64_MAX / WNDL_HEAP_TIMED_EVERY;
}

static inline void wndl_rt_site_add_alloc(
    const struct wndl_rt_stripe *stripe, uint32_t site)
{
    struct wndl_heap_count *c = &stripe->counts[site];
    wndl_rt_site_keep_peak(stripe, c);
    wndl_rt_stripe_add(stripe, &c->allocs, 1);
}

static inline void wndl_rt_site_add_free(
    const struct wndl_rt_stripe *stripe, uint32_t site, uint64_t lifetime)
{
    const bool shared = stripe->shared;
    struct wndl_heap_count *c = &stripe->counts[site];
    wndl_rt_site_keep_peak(stripe, c);
    wndl_rt_add(shared, &c->frees, 1);
    wndl_rt_add(shared, &c->lifetime, lifetime);
}

/*
 * What came `before` is a site plus one, or 0. If it is the same more often
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
