/* SPDX-License-Identifier: MIT */
#include "in/memlog_clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SPAN = 1 << 20,           /* ticks from which a rate can be had */
    MOST_STEP = 1000 * 1000 * 1000, /* ns a tick that can be true */
    LEAST_SET_BACK =
        2000 * 1000 * 1000, /* ns; a thread may wait amid an anchor */
};

static bool is_whole(const struct wndl_memlog_anchor *a)
{
    return a->ticks != 0 && a->check == wndl_memlog_anchor_check(a);
}

static int compare_ticks(const void *a, const void *b)
{
    const struct wndl_memlog_anchor *x = a;
    const struct wndl_memlog_anchor *y = b;
    return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static bool is_later(
    const struct wndl_memlog_anchor *a, const struct wndl_memlog_anchor *before)
{
    return a->ticks > before->ticks && a->monotonic > before->monotonic;
}

/* Leaves out anchors at which CLOCK_MONOTONIC did not rise. */
static void keep_rising(struct wndl_memlog_clockwork *clock)
{
    size_t kept = 0;
    for (size_t i = 0; i < clock->count; i++) {
        const struct wndl_memlog_anchor *a = &clock->anchors[i];
        if (kept == 0 || is_later(a, &clock->anchors[kept - 1]))
            clock->anchors[kept++] = *a;
    }
    clock->count = kept;
}

static double rate_between(
    const struct wndl_memlog_anchor *a, const struct wndl_memlog_anchor *b)
{
    return (double)(b->monotonic - a->monotonic) /
           (double)(b->ticks - a->ticks);
}

/*
 * By how much the real time was set back between two anchors. (After a suspend
 * it is ahead of CLOCK_MONOTONIC, which keeps the order.)
 */
static uint64_t set_back_between(
    const struct wndl_memlog_anchor *a, const struct wndl_memlog_anchor *b)
{
    const uint64_t expected = a->real + (b->monotonic - a->monotonic);
    return b->real < expected && expected - b->real >= LEAST_SET_BACK
               ? expected - b->real
               : 0;
}

void wndl_memlog_clockwork_init(struct wndl_memlog_clockwork *clock,
    const struct wndl_memlog_ring *ring, const struct wndl_memlog_anchor *now)
{
    *clock = (struct wndl_memlog_clockwork){.rate = 1};
    for (size_t i = 0; i < WNDL_MEMLOG_ANCHORS; i++) {
        if (is_whole(&ring->anchors[i]))
            clock->anchors[clock->count++] = ring->anchors[i];
    }
    if (now != NULL)
        clock->anchors[clock->count++] = *now;
    qsort(clock->anchors, clock->count, sizeof *clock->anchors, compare_ticks);
    keep_rising(clock);
    for (size_t i = 1; i < clock->count; i++)
        clock->set_back +=
            set_back_between(&clock->anchors[i - 1], &clock->anchors[i]);
    const struct wndl_memlog_anchor *last = &clock->anchors[clock->count];
    clock->has_rate = ring->clock == WNDL_MEMLOG_NANOSECONDS;
    if (clock->has_rate || clock->count < 2 ||
        last[-1].ticks - clock->anchors[0].ticks < LEAST_SPAN)
        return;
    clock->rate = rate_between(clock->anchors, last - 1);
    clock->has_rate = true;
}

/* The last anchor before `ticks`, or the first one. */
static size_t find_anchor(
    const struct wndl_memlog_clockwork *clock, uint64_t ticks)
{
    size_t i = 0;
    while (i + 1 < clock->count && clock->anchors[i + 1].ticks <= ticks)
        i++;
    return i;
}

/* `from` + `delta`, where both ends of the scale hold. */
static uint64_t moved(uint64_t from, double delta)
{
    const double sum = (double)from + delta;
    if (!(sum > 0))
        return 0;
    if (sum >= 18e18)
        return UINT64_C(18000000000000000000);
    return delta < 0 ? from - (uint64_t)-delta : from + (uint64_t)delta;
}

uint64_t wndl_memlog_clockwork_real(
    const struct wndl_memlog_clockwork *clock, uint64_t ticks)
{
    if (clock->count == 0)
        return moved(0, (double)ticks * clock->rate);
    const size_t i = find_anchor(clock, ticks);
    const struct wndl_memlog_anchor *a = &clock->anchors[i];
    double rate = clock->rate;
    if (i + 1 < clock->count && ticks > a->ticks &&
        a[1].ticks - a->ticks >= LEAST_SPAN)
        rate = rate_between(a, a + 1);
    const double span = ticks >= a->ticks ? (double)(ticks - a->ticks)
                                          : -(double)(a->ticks - ticks);
    return moved(a->real, span * (rate > MOST_STEP ? 1 : rate));
}
