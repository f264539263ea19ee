/* SPDX-License-Identifier: MIT */
#include "rt/heap/count/stripes.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <errno.h>

enum { OWN_STRIPES = WNDL_HEAP_STRIPES - 1 };

/* ---- owners of stripes */

static struct wndl_rt_stripe stripe_at(struct wndl_heap *heap, uint32_t index)
{
    struct wndl_heap_layout layout = wndl_heap_layout(heap->sites);
    size_t each = (layout.reported - layout.counts) / WNDL_HEAP_STRIPES;
    uint8_t *counts = (uint8_t *)heap + layout.counts + index * each;
    return (struct wndl_rt_stripe){
        .heap = heap,
        .totals = &heap->stripe[index],
        .counts = (struct wndl_heap_count *)(void *)counts,
        .shared = index == OWN_STRIPES,
    };
}

struct wndl_rt_stripe wndl_rt_stripe_shared(struct wndl_heap *heap)
{
    return stripe_at(heap, OWN_STRIPES);
}

static bool claim(struct wndl_heap_stripe *stripe, uint32_t owner, int tid)
{
    return atomic_compare_exchange_strong(
        &stripe->owner, &owner, (uint32_t)tid);
}

static bool claim_from_ended(struct wndl_heap_stripe *stripe, int pid, int tid)
{
    uint32_t owner = atomic_load(&stripe->owner);
    return owner != 0 && !wndl_rt_is_careful() &&
           wndl_raw3(SYS_tgkill, pid, (int)owner, 0) == -ESRCH &&
           claim(stripe, owner, tid);
}

struct wndl_rt_stripe wndl_rt_stripe_take(
    struct wndl_heap *heap, int pid, int tid)
{
    for (uint32_t i = 0; i < OWN_STRIPES; i++) {
        if (claim(&heap->stripe[i], 0, tid))
            return stripe_at(heap, i);
    }
    for (uint32_t i = 0; i < OWN_STRIPES; i++) {
        if (claim_from_ended(&heap->stripe[i], pid, tid))
            return stripe_at(heap, i);
    }
    return wndl_rt_stripe_shared(heap);
}

void wndl_rt_stripe_leave(const struct wndl_rt_stripe *stripe)
{
    if (!stripe->shared)
        atomic_store(&stripe->totals->owner, 0);
}

/* ---- live bytes and the peak */

/* Bytes that others publish for the shared stripe at the same time add up. */
int64_t wndl_rt_stripe_publish(const struct wndl_rt_stripe *stripe)
{
    struct wndl_heap_stripe *t = stripe->totals;
    int64_t published,
        live = (int64_t)(__atomic_load_n(&t->usable, __ATOMIC_RELAXED) -
                         __atomic_load_n(&t->usable_freed, __ATOMIC_RELAXED));
    if (stripe->shared) {
        published = __atomic_exchange_n(&t->published, live, __ATOMIC_RELAXED);
    } else {
        published = t->published;
        t->published = live;
    }
    return atomic_fetch_add_explicit(&stripe->heap->live_bytes,
               live - published, memory_order_relaxed) +
           live - published;
}

static void raise_peak(struct wndl_heap *heap, int64_t bytes)
{
    int64_t peak =
        atomic_load_explicit(&heap->peak_bytes, memory_order_relaxed);
    while (bytes > peak) {
        if (!atomic_compare_exchange_weak(&heap->peak_bytes, &peak, bytes))
            continue;
        atomic_store_explicit(
            &heap->peak_tsc, wndl_rt_tsc(), memory_order_relaxed);
        atomic_fetch_add(&heap->peak_stamp, 1);
        return;
    }
}

void wndl_rt_stripe_note_peak(const struct wndl_rt_stripe *stripe)
{
    raise_peak(stripe->heap, wndl_rt_stripe_publish(stripe));
}

void wndl_rt_stripe_note_rise(
    const struct wndl_rt_stripe *stripe, int64_t unpublished)
{
    raise_peak(stripe->heap,
        atomic_load_explicit(&stripe->heap->live_bytes, memory_order_relaxed) +
            unpublished);
}
