/* SPDX-License-Identifier: MIT */
/*
 * PERF: one task-clock event, opened by the first thread and inherited by all
 * threads that it starts. SIGTRAP is raised by the very instruction stream that
 * runs, so blocked system calls are not interrupted.
 *
 * The event is silent in the kernel, even where it might see it. A signal that
 * it raised inside execve() would reach the new image, which dies of it. The
 * kernel drops only timers and their signals there. So timers on the CPU clock
 * tick beside the event, and are handled on the way back to the program. Each
 * of the event's samples stands for one interval outside of the kernel. A tick
 * after a system call takes the rest:
 *
 *     debt + CPU time since the last sample = the sample's time + debt
 *
 * A tick leaves the time that the event's next sample will stand for.
 *
 * The event's first sample would come at the end of a thread's first interval.
 * A timer takes it at a random moment of that interval instead, if the thread
 * runs then. It stands for the whole interval, and the event's is left out.
 */
#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/sample/engine_impl.h"
#include "rt/sample/restart.h"

#include <linux/perf_event.h>
#include <sys/resource.h>

enum {
    SHORTEST = 1000000, /* between ticks; more often is useless */
    SOME_FAULTS = 2000000,
    MUCH = 30000000, /* ns; faults make that, or a virtual machine's processor
                      * that stood still */
    PROMPT = 100000, /* ns; a later first signal found the thread waiting */
    FAULT_AT_MOST = 8000, /* ns of a fault for a page that exists or is made
                           * anew */
    NOTHING = 8,          /* parts of an interval; less than one counts as
                           * nothing */
};

long wndl_rt_perf_open(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = wndl_rt.interval,
        .sigtrap = 1,
        .sig_data = WNDL_RT_PERF_MARK,
        .remove_on_exec = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    const long a[] = {(long)&attr, 0, -1, -1};
    return wndl_raw6(SYS_perf_event_open, a, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Without ticks a thread is still sampled. */
bool wndl_rt_perf_add_thread(struct wndl_rt_thread *t)
{
    uint64_t every = wndl_rt.interval > SHORTEST ? wndl_rt.interval : SHORTEST;
    (void)wndl_rt_timer_start(t, WNDL_RT_TIMER_TICK, every, every);
    return true;
}

/* A thread that could not get a timer gets the event's first sample. */
static void expect_first(struct wndl_rt_thread *t)
{
    uint64_t after = wndl_rt_first_interval(t);
    t->first = wndl_raw_clock_ns(CLOCK_MONOTONIC) + after;
    (void)wndl_rt_timer_start(t, WNDL_RT_TIMER_WALL, after, 0);
}

bool wndl_rt_perf_begin_thread(struct wndl_rt_thread *t)
{
    expect_first(t);
    return wndl_rt_perf_add_thread(t);
}

/* A timer that could not be made is not requested again at each sample. */
static void add_found_thread(struct wndl_rt_thread *t)
{
    if (t->tick < 0 && t->looks == 1)
        (void)wndl_rt_perf_add_thread(t);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The time that is in no sample yet. */
static uint64_t open_time(const struct wndl_rt_sample *sample)
{
    return wndl_rt_thread_open(sample->thread, sample->cpu);
}

/* Takes a sample that stands for `taken` of the open time, or for more. */
static void take(const struct wndl_rt_sample *sample, uint64_t taken)
{
    int64_t open = sample->thread->debt +
                   (int64_t)(sample->cpu - sample->thread->last_cpu);
    if (wndl_rt_sample_take(sample, taken))
        sample->thread->debt = open - (int64_t)taken;
}

/* Whether the thread ran when its signal was due, as far as that is visible. */
static bool ran(const struct wndl_rt_sample *sample, uint64_t due)
{
    return sample->now < due + PROMPT &&
           !wndl_rt_restart_is_at_call(sample->context);
}

void wndl_rt_perf_on_first(struct wndl_rt_sample *sample, bool waited)
{
    struct wndl_rt_thread *t = sample->thread;
    uint64_t due = t->first;
    t->first = 0;
    wndl_rt_timer_drop_wall(t);
    if (!waited && due != 0 && wndl_rt_sample_begin(sample) == WNDL_RT_TAKE &&
        ran(sample, due))
        take(sample, wndl_rt.interval);
}

void wndl_rt_perf_on_event(struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    uint64_t open = open_time(sample);
    add_found_thread(t);
    t->perf_cpu = sample->cpu;
    t->first = 0;
    if (open > wndl_rt.interval / NOTHING)
        take(sample, smaller(open, wndl_rt.interval));
}

static uint64_t count_faults(void)
{
    struct rusage usage = {0};
    if (!wndl_rt_is_careful())
        (void)wndl_raw3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0);
    return (uint64_t)usage.ru_minflt;
}

/*
 * Page faults leave no trace in the context, but the kernel counts them. A tick
 * cannot wait for a call where none may come for long.
 */
static bool is_by_no_call(const struct wndl_rt_thread *t, uint64_t ns)
{
    return ns > MUCH || (ns > SOME_FAULTS &&
                            (count_faults() - t->faults) * FAULT_AT_MOST > ns);
}

void wndl_rt_perf_on_tick(struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    uint64_t open = open_time(sample);
    uint64_t left = smaller(wndl_rt.interval, sample->cpu - t->perf_cpu);
    if (open <= left + wndl_rt.interval / NOTHING ||
        (!wndl_rt_restart_is_after_call(sample->context) &&
            !is_by_no_call(t, open - left)))
        return;
    sample->in_kernel = true;
    if (!wndl_rt_sample_take(sample, open - left))
        return;
    t->debt = (int64_t)left;
    t->faults = count_faults();
}
