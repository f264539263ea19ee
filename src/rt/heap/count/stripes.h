/* SPDX-License-Identifier: MIT */
/*
 * stripes: the stripes of rec/heap.h, in which threads count. A thread changes
 * its own stripe by plain stores, and the shared last one atomically.
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
 * Takes a stripe for thread `tid`, its own if one is free. Stripes of threads
 * that have ended without notice are free; `pid` is the process.
 */
struct wndl_rt_stripe wndl_rt_stripe_take(
    struct wndl_heap *heap, int pid, int tid);

/* The shared stripe. */
struct wndl_rt_stripe wndl_rt_stripe_shared(struct wndl_heap *heap);

/* Frees the stripe for another thread. Its counts stay. */
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

/* Adds to the header the bytes that it lacks. Returns all live bytes. */
int64_t wndl_rt_stripe_publish(const struct wndl_rt_stripe *stripe);

/* Notes a peak, if the live bytes exceed the last one. */
void wndl_rt_stripe_note_peak(const struct wndl_rt_stripe *stripe);

/*
 * The same, if the header and `unpublished` bytes together are live. These stay
 * unpublished.
 */
void wndl_rt_stripe_note_rise(
    const struct wndl_rt_stripe *stripe, int64_t unpublished);

/*
 * The live bytes that a stripe may keep unpublished: these, or this share of
 * the peak.
 */
enum { WNDL_RT_KEPT = 1024, WNDL_RT_KEPT_SHIFT = 10 };

static inline bool wndl_rt_stripe_may_keep(
    const struct wndl_rt_stripe *stripe, int64_t bytes)
{
    return __builtin_expect(bytes < WNDL_RT_KEPT, 1) ||
           bytes < atomic_load_explicit(
                       &stripe->heap->peak_bytes, memory_order_relaxed) >>
               WNDL_RT_KEPT_SHIFT;
}

/* Bytes that the header lacks. */
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

/*
 * Counts an allocation, whether it is in a site or not. Call it after
 * wndl_rt_site_add_alloc().
 */
static inline void wndl_rt_stripe_add_alloc(
    const struct wndl_rt_stripe *stripe, const struct wndl_rt_sizes *sizes)
{
    wndl_rt_stripe_count_alloc(stripe->totals, stripe->shared, sizes);
    if (!wndl_rt_stripe_may_keep(stripe, wndl_rt_stripe_unpublished(stripe)))
        wndl_rt_stripe_note_peak(stripe);
}

/*
 * Whether the heap is higher than the noted peak. While it grows, each moment
 * is a peak, so only the last of them, before a free, need be noted.
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

/* Counts a free. Call it before wndl_rt_site_add_free(). */
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

/*
 * Whether an allocation, or a free, needs no more than counting in a stripe of
 * the thread's own.
 */
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

/*
 * Saves the stripe's part of the site as it was at the peak, before it changes.
 */
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
 * Whether a block's lifetime is measured once only one of EVERY is. `order` is
 * the number of blocks of the site that the stripe made before. A period in the
 * program must not decide that. Multiples of an irrational number, of which
 * WNDL_GOLDEN is 64 bits, are evenly spread over any period.
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
 * Counts what came `before`, a site plus one, or 0 for nothing. If it is the
 * same more often than not, it is in *after in the end (Boyer and Moore's
 * majority vote). Each time it is another one takes two off the maximum of
 * *times.
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
