/* SPDX-License-Identifier: MIT */
#include "rt/sample/events.h"

#include "os/raw.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <time.h>

bool wndl_rt_event_put(struct wndl_ring *ring, const struct wndl_event *event)
{
    uint8_t bytes[WNDL_EVENT_MAX];
    size_t size = wndl_event_put(bytes, event);
    return wndl_ring_put(ring, bytes, size);
}

void wndl_rt_thread_exit(struct wndl_ring *ring, uint64_t cpu)
{
    const struct wndl_event event = {
        .kind = WNDL_EVENT_END,
        .time = wndl_raw_clock_ns(CLOCK_MONOTONIC),
        .cpu = cpu,
    };
    (void)wndl_rt_event_put(ring, &event);
}

/* A collector that was killed could not announce its end. */
void wndl_rt_lose_to_full_ring(void)
{
    wndl_rt_lose(WNDL_LOSS_RING_FULL, 1);
    if (wndl_rt.collector > 0 && !wndl_rt_is_careful() &&
        wndl_raw3(SYS_kill, wndl_rt.collector, 0, 0) == -ESRCH)
        atomic_store(&wndl_rt.shm->stop, 1);
}
