/* SPDX-License-Identifier: MIT */
/*
 * TIMER: a timer on CLOCK_MONOTONIC for each thread. It interrupts a blocked
 * call, which the handler makes go on, and is then parked. Until the thread
 * runs again, a timer on its CPU clock, which cannot fire before, takes its
 * place. So a call is interrupted once, and an idle thread costs nothing.
 */
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/sample/discover.h"
#include "rt/sample/engine_impl.h"
#include "rt/sample/restart.h"

enum {
    AT_NEXT_TICK = 1,
    LATER = 20000000,   /* CPU ns, if nothing is to be sampled */
    STANDING_STILL = 8, /* CPU use of less than an interval's part in so many */
    SHARE = 4,          /* minimum distance of looks, in times of a look */
    OUT_OF_STEP = 997   /* one part in so many of an interval */
};

/*
 * The kernel's tick attributes all time since the last one to whatever runs. If
 * the timer were in step with it, that could always be us.
 */
static uint64_t every(void)
{
    return wndl_rt.interval + wndl_rt.interval / OUT_OF_STEP;
}

static bool start_wall(struct wndl_rt_thread *t, uint64_t first)
{
    return wndl_rt_timer_start(t, WNDL_RT_TIMER_WALL, first, every());
}

static bool park(struct wndl_rt_thread *t, uint64_t until)
{
    if (!wndl_rt_timer_start(t, WNDL_RT_TIMER_TICK, until, 0))
        return false;
    wndl_rt_timer_stop(t, WNDL_RT_TIMER_WALL);
    return true;
}

bool wndl_rt_timer_add_thread(struct wndl_rt_thread *t)
{
    return t->left_out ? park(t, LATER)
                       : start_wall(t, wndl_rt_first_interval(t));
}

void wndl_rt_timer_park(uint32_t slot)
{
    struct wndl_rt_thread *t = wndl_rt_thread_at(slot);
    uint64_t mask = WNDL_RT_ALL_SIGNALS;
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&mask,
        WNDL_ARCH_SIGSET_BYTES);
    if (t != NULL)
        (void)park(t, AT_NEXT_TICK);
    (void)wndl_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
        WNDL_ARCH_SIGSET_BYTES);
}

static void remember(
    const struct wndl_rt_sample *sample, enum wndl_rt_verdict verdict)
{
    if (verdict == WNDL_RT_STOPPED)
        return;
    wndl_rt_discover(sample, wndl_rt_timer_add_thread);
    sample->thread->look_time = sample->now;
    sample->thread->look_cpu = sample->cpu;
}

/* For a timer that was started in this look: its signal comes in `first` ns. */
static void expect(const struct wndl_rt_sample *sample, uint64_t first)
{
    uint64_t took = wndl_raw_clock_ns(CLOCK_MONOTONIC) - sample->now;
    sample->thread->next_signal = took + first;
}

/*
 * The call cannot have begun before the timer's signal was due, which would
 * have come earlier, nor have used the CPU. Only the rest has surely been
 * waited.
 */
static uint64_t waited(const struct wndl_rt_sample *sample)
{
    const struct wndl_rt_thread *t = sample->thread;
    uint64_t passed = sample->now - t->look_time;
    uint64_t used = sample->cpu - t->look_cpu + t->next_signal;
    return t->look_time != 0 && passed > used ? passed - used : 0;
}

/*
 * A thread that lost the CPU to another one has stood still, too, so two looks
 * are needed. A new thread has had no look to stand still since: its first may
 * come at any moment of an interval.
 */
static bool stands_still(const struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    bool before = t->stood_still;
    t->stood_still = t->look_time != 0 && sample->cpu - t->look_cpu <
                                              wndl_rt.interval / STANDING_STILL;
    return before && t->stood_still;
}

/* Whether the thread was blocked, as far as that is visible. */
static bool is_blocked(const struct wndl_rt_sample *sample, bool interrupted)
{
    bool still = stands_still(sample);
    return interrupted || still || wndl_rt_restart_is_at_call(sample->context);
}

/*
 * A thread that shares the CPU is examined too often. There, half an interval
 * of CPU time makes a sample.
 */
static bool is_too_often(const struct wndl_rt_sample *sample)
{
    const struct wndl_rt_thread *t = sample->thread;
    uint64_t used = sample->cpu - t->look_cpu;
    uint64_t without = sample->now - t->look_time - used;
    return wndl_rt_thread_open(t, sample->cpu) < wndl_rt.interval / 2 &&
           t->look_time != 0 && without > wndl_rt.interval / 4;
}

/*
 * If a look takes as long as an interval, as in an emulator that steps, the
 * next signal would come before the program has advanced.
 */
static void leave_time(const struct wndl_rt_sample *sample)
{
    uint64_t took = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - sample->cpu;
    if (took <= wndl_rt.interval / 2)
        return;
    uint64_t first = every() + SHARE * took;
    (void)wndl_rt_timer_start(
        sample->thread, WNDL_RT_TIMER_WALL, first, every());
    expect(sample, first);
}

/*
 * The first sample stands for a whole interval, because the timer first fires
 * at a random moment of it.
 */
static void take_sample(const struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    uint64_t open = wndl_rt_thread_open(t, sample->cpu);
    bool is_first = t->look_time == 0 && open < wndl_rt.interval;
    uint64_t taken = is_first ? wndl_rt.interval : open;
    if (!wndl_rt_sample_take(sample, taken)) {
        (void)park(t, LATER);
        return;
    }
    t->debt = is_first ? (int64_t)(open - taken) : 0;
    leave_time(sample);
}

void wndl_rt_timer_on_wall(struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    bool is_ours = !wndl_arch_came_back(sample->context);
    bool interrupted = is_ours && wndl_rt_restart_is_due(sample->context);
    bool cut_short = is_ours && wndl_rt_restart_transfer(sample->context);
    enum wndl_rt_verdict verdict = wndl_rt_sample_begin(sample);
    if (interrupted)
        wndl_rt_restart_or_count(sample->context,
            verdict == WNDL_RT_TAKE ? waited(sample) : 0, &t->rest);
    t->next_signal = every();
    if (verdict == WNDL_RT_STOPPED)
        wndl_rt_timer_stop(t, WNDL_RT_TIMER_WALL);
    else if (verdict == WNDL_RT_SKIP)
        (void)park(t, LATER);
    else if (is_blocked(sample, interrupted || cut_short))
        (void)park(t, AT_NEXT_TICK);
    else if (!t->stood_still && !is_too_often(sample))
        take_sample(sample);
    if (!interrupted)
        wndl_rt_restart_yield(sample->context);
    remember(sample, verdict);
}

void wndl_rt_timer_on_tick(struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    enum wndl_rt_verdict verdict = wndl_rt_sample_begin(sample);
    if (verdict == WNDL_RT_SKIP)
        (void)park(t, LATER);
    if (verdict == WNDL_RT_TAKE) {
        t->stood_still = false;
        if (!start_wall(t, every()))
            (void)park(t, AT_NEXT_TICK);
        expect(sample, every());
        take_sample(sample);
    }
    remember(sample, verdict);
}
