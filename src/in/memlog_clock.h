/* SPDX-License-Identifier: MIT */
/* memlog_clock: the ticks of a ring's events as ns since 1970. */
#ifndef WNDL_IN_MEMLOG_CLOCK_H
#define WNDL_IN_MEMLOG_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <windlass/memlog_ring.h>

/* Invariant: anchors[0..count) rise in ticks and in monotonic. */
struct wndl_memlog_clockwork {
    struct wndl_memlog_anchor anchors[WNDL_MEMLOG_ANCHORS + 1];
    size_t count;
    double rate; /* ns a tick, where two anchors do not say it */
    bool has_rate;
    uint64_t set_back; /* ns by which the real time was set back, in all */
};

/* `now` is one more anchor, or NULL. */
void wndl_memlog_clockwork_init(struct wndl_memlog_clockwork *clock,
    const struct wndl_memlog_ring *ring, const struct wndl_memlog_anchor *now);

uint64_t wndl_memlog_clockwork_real(
    const struct wndl_memlog_clockwork *clock, uint64_t ticks);

#endif
