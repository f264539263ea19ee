/* SPDX-License-Identifier: MIT */
#include "rt/sample/discover.h"

#include "os/own_threads.h"
#include "rt/core/rt.h"

#include <string.h>

enum { EVERY = 100000000, WAITING = 64 };

static _Atomic uint64_t next; /* CLOCK_MONOTONIC ns, of the next search */

/*
 * Threads that were unknown at the last search. A thread that just begins
 * announces itself soon. Used by the caller that moved `next`.
 */
static int waiting[WAITING];
static size_t waiting_count;

static bool is_time(uint64_t now)
{
    uint64_t due = atomic_load_explicit(&next, memory_order_relaxed);
    return now >= due &&
           atomic_compare_exchange_strong(&next, &due, now + EVERY);
}

static bool has_waited(int tid)
{
    for (size_t i = 0; i < waiting_count; i++) {
        if (waiting[i] == tid)
            return true;
    }
    return false;
}

/* One search: the threads found, and those that wait for the next one. */
struct search {
    bool (*start)(struct wndl_rt_thread *thread);
    int found[WAITING];
    size_t count;
};

static void look_at(void *context, int tid)
{
    struct search *s = context;
    if (wndl_rt_thread_find(tid) != NULL)
        return;
    if (!has_waited(tid)) {
        if (s->count < WAITING)
            s->found[s->count++] = tid;
        return;
    }
    struct wndl_rt_thread *t = wndl_rt_thread_adopt(tid);
    if (t == NULL || !s->start(t))
        wndl_rt_lose(WNDL_LOSS_THREADS_FULL, 1);
}

/*
 * Whether there are unknown threads. Those that ended without notice are not
 * counted: they would hide as many new ones. Without a free slot there is
 * nothing to be done for them.
 */
static bool are_unknown(uint32_t count)
{
    if (wndl_rt_threads_known() == WNDL_SHM_THREADS)
        return false;
    if (count != 0 && count < wndl_rt_threads_known())
        wndl_rt_threads_sweep();
    return count > wndl_rt_threads_known();
}

void wndl_rt_discover(const struct wndl_rt_sample *sample,
    bool (*start)(struct wndl_rt_thread *thread))
{
    struct wndl_rt_thread *t = sample->thread;
    if (!is_time(sample->now) || wndl_rt_is_careful())
        return;
    struct search s = {.start = start};
    if (are_unknown(wndl_own_threads_count()))
        wndl_own_threads_each(t->scratch, sizeof t->scratch, look_at, &s);
    memcpy(waiting, s.found, sizeof waiting);
    waiting_count = s.count;
}
