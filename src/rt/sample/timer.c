/* SPDX-License-Identifier: MIT */
#include "rt/sample/timer.h"

#include "os/raw.h"
#include "rec/shm.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"

enum { KIND_SHIFT = 16, SLOT_MASK = (1 << KIND_SHIFT) - 1, NANOS = 1000000000 };

_Static_assert(
    (int)WNDL_SHM_THREADS <= (int)SLOT_MASK, "a slot has no room in a tag");

/* The mark, the kind and the slot. */
static uint64_t tag_of(uint32_t slot, enum wndl_rt_timer_kind kind)
{
    return WNDL_ARCH_MARK | (uint64_t)kind << KIND_SHIFT | slot;
}

bool wndl_rt_timer_sent(
    const siginfo_t *info, struct wndl_rt_timer_signal *from)
{
    if (info->si_code != SI_TIMER)
        return false;
    uint64_t tag = (uintptr_t)info->si_value.sival_ptr;
    from->slot = (uint32_t)tag & SLOT_MASK;
    from->kind = (enum wndl_rt_timer_kind)(tag >> KIND_SHIFT & 1);
    from->overruns = (uint64_t)info->si_overrun;
    return tag == tag_of(from->slot, from->kind);
}

static int *id_of(struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind)
{
    return kind == WNDL_RT_TIMER_WALL ? &t->timer : &t->tick;
}

/*
 * The kernel's number of a thread's clock. CLOCK_THREAD_CPUTIME_ID is always
 * the calling thread's.
 */
static clockid_t cpu_clock_of(int tid)
{
    enum { OF_THREAD = 4, SCHEDULED = 2, TID_SHIFT = 3 };
    return (clockid_t)(~(unsigned)tid << TID_SHIFT | OF_THREAD | SCHEDULED);
}

static int make(const struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind)
{
    clockid_t clock =
        kind == WNDL_RT_TIMER_WALL ? CLOCK_MONOTONIC : cpu_clock_of(t->tid);
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = SIGPROF,
        .sigev_value.sival_ptr = (void *)(uintptr_t)tag_of(t->slot, kind),
    };
    event._sigev_un._tid = t->tid;
    int timer = -1;
    long failed =
        wndl_raw3(SYS_timer_create, (long)clock, (long)&event, (long)&timer);
    return failed != 0 ? -1 : timer;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / NANOS), .tv_nsec = (long)(ns % NANOS)};
}

bool wndl_rt_timer_start(struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind,
    uint64_t first, uint64_t every)
{
    const struct itimerspec setting = {
        .it_value = timespec_of(first), .it_interval = timespec_of(every)};
    int *id = id_of(t, kind);
    if (wndl_rt_is_careful())
        return false;
    if (*id < 0)
        *id = make(t, kind);
    return *id >= 0 &&
           wndl_raw4(SYS_timer_settime, *id, 0, (long)&setting, 0) == 0;
}

void wndl_rt_timer_stop(
    const struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind)
{
    const struct itimerspec never = {0};
    int id = kind == WNDL_RT_TIMER_WALL ? t->timer : t->tick;
    if (id >= 0 && !wndl_rt_is_careful())
        (void)wndl_raw4(SYS_timer_settime, id, 0, (long)&never, 0);
}

/* A timer that is kept sends nothing, because its thread is gone. */
static void drop(int *id)
{
    if (*id >= 0 && !wndl_rt_is_careful())
        (void)wndl_raw3(SYS_timer_delete, *id, 0, 0);
    *id = -1;
}

void wndl_rt_timer_drop_wall(struct wndl_rt_thread *t)
{
    drop(&t->timer);
}

void wndl_rt_timers_drop_all(void)
{
    for (uint32_t slot = 0; slot < WNDL_SHM_THREADS; slot++) {
        const struct wndl_rt_thread *t = wndl_rt_thread_at(slot);
        if (t != NULL && t->timer >= 0)
            (void)wndl_raw3(SYS_timer_delete, t->timer, 0, 0);
        if (t != NULL && t->tick >= 0)
            (void)wndl_raw3(SYS_timer_delete, t->tick, 0, 0);
    }
}

void wndl_rt_timers_drop(struct wndl_rt_thread *t)
{
    drop(&t->timer);
    drop(&t->tick);
}
