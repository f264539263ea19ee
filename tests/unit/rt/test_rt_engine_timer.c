/* SPDX-License-Identifier: MIT */
/*
 * How long an interrupted call has waited, as the timer's engine tells it when
 * the call goes on: never longer than since the timer's signal was due, or
 * polls and sleeps would return early. The clocks' times are made up, but for
 * what a look takes.
 */
#include "testlib.h"

#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/sample/discover.h"
#include "rt/sample/engine_impl.h"
#include "rt/sample/restart.h"

enum { MS = 1000000 };

struct wndl_rt wndl_rt;

static struct wndl_rt_thread thread;
static ucontext_t context;

/* What the engine asked for. */
static struct {
    uint64_t started, first; /* when the timer was, and until its signal */
    uint64_t waited;
    unsigned gone_on;
    unsigned stopped;
    unsigned taken;
} seen;

/* Whether the signal has interrupted a call that has to go on. */
static bool is_due;

/* ---- what the engine calls */

bool wndl_rt_timer_start(struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind,
    uint64_t first, uint64_t every)
{
    (void)t;
    (void)every;
    if (kind != WNDL_RT_TIMER_WALL)
        return true;
    seen.started = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    seen.first = first;
    return true;
}

void wndl_rt_timer_stop(
    const struct wndl_rt_thread *t, enum wndl_rt_timer_kind kind)
{
    (void)t;
    seen.stopped += kind == WNDL_RT_TIMER_WALL;
}

struct wndl_rt_thread *wndl_rt_thread_at(uint32_t slot)
{
    (void)slot;
    return &thread;
}

enum wndl_rt_verdict wndl_rt_sample_begin(struct wndl_rt_sample *sample)
{
    (void)sample;
    return WNDL_RT_TAKE;
}

uint64_t wndl_rt_thread_open(const struct wndl_rt_thread *t, uint64_t cpu)
{
    return cpu - t->last_cpu;
}

uint64_t wndl_rt_first_interval(const struct wndl_rt_thread *t)
{
    (void)t;
    return MS;
}

bool wndl_rt_sample_take(const struct wndl_rt_sample *sample, uint64_t cpu)
{
    (void)sample;
    (void)cpu;
    seen.taken++;
    return true;
}

void wndl_rt_discover(const struct wndl_rt_sample *sample,
    bool (*start)(struct wndl_rt_thread *thread))
{
    (void)sample;
    (void)start;
}

void wndl_rt_restart_or_count(
    ucontext_t *at, uint64_t waited, struct wndl_rt_time *rest)
{
    (void)at;
    (void)rest;
    seen.waited = waited;
    seen.gone_on++;
}

bool wndl_rt_restart_is_at_call(const ucontext_t *at)
{
    (void)at;
    return false;
}

bool wndl_rt_restart_is_due(const ucontext_t *at)
{
    (void)at;
    return is_due;
}

bool wndl_rt_restart_transfer(ucontext_t *at)
{
    (void)at;
    return false;
}

void wndl_rt_restart_yield(ucontext_t *at)
{
    (void)at;
}

/* ---- looks */

static int set_up(void **state)
{
    (void)state;
    wndl_rt.interval = MS;
    is_due = true;
    memset(&thread, 0, sizeof thread);
    memset(&seen, 0, sizeof seen);
    return 0;
}

/* One that has taken so much of the clock and of the CPU by now. */
static struct wndl_rt_sample look_that_took(uint64_t time, uint64_t cpu)
{
    return (struct wndl_rt_sample){.thread = &thread,
        .context = &context,
        .now = wndl_raw_clock_ns(CLOCK_MONOTONIC) - time,
        .cpu = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu};
}

/*
 * After a look that took `time` and `cpu` the thread makes a call, having used
 * no CPU but the look's, and loses the processor to others. The signal is
 * `late` ns behind where it was due.
 */
static void interrupt_after(uint64_t time, uint64_t cpu, uint64_t late)
{
    struct wndl_rt_sample first = look_that_took(time, cpu);
    wndl_rt_timer_on_tick(&first);
    struct wndl_rt_sample second = first;
    second.now = seen.started + seen.first + late;
    second.cpu = first.cpu + cpu;
    wndl_rt_timer_on_wall(&second);
    assert_int_equal(seen.gone_on, 1);
}

static void no_time_is_made_up_after_a_long_look(void **state)
{
    (void)state;
    interrupt_after(40 * MS, 40 * MS, 0);
    assert_int_equal(seen.waited, 0);
}

/* The look lost the processor itself. */
static void no_time_is_made_up_after_a_look_that_was_interrupted(void **state)
{
    (void)state;
    interrupt_after(40 * MS, 0, 0);
    assert_int_equal(seen.waited, 0);
}

/* What is told is no more than that, and no less than without the look. */
static void a_late_signal_tells_of_waiting(void **state)
{
    const uint64_t late = UINT64_C(1000000) * MS;
    (void)state;
    interrupt_after(40 * MS, 40 * MS, late);
    assert_in_range(seen.waited, 1, late);
    set_up(NULL);
    interrupt_after(0, 0, late);
    assert_in_range(seen.waited, 1, late);
}

/* The first look of a thread knows of nothing before it. */
static void nothing_is_known_before_the_first_look(void **state)
{
    struct wndl_rt_sample sample = look_that_took(0, 0);
    (void)state;
    wndl_rt_timer_on_wall(&sample);
    assert_int_equal(seen.gone_on, 1);
    assert_int_equal(seen.waited, 0);
}

/* Its first signal comes at a random moment of the first interval. */
static void new_thread_is_sampled_at_its_first_signal(void **state)
{
    struct wndl_rt_sample sample = look_that_took(0, 0);
    (void)state;
    is_due = false;
    sample.cpu = MS / 100;
    wndl_rt_timer_on_wall(&sample);
    assert_int_equal(seen.taken, 1);
    sample.now += MS;
    wndl_rt_timer_on_wall(&sample);
    assert_int_equal(seen.taken, 1); /* it has not advanced since */
}

/* A parked thread is woken by its next tick alone. */
static void parked_thread_has_no_wall_timer(void **state)
{
    (void)state;
    wndl_rt_timer_park(0);
    assert_int_equal(seen.stopped, 1);
    assert_int_equal(seen.started, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_time_is_made_up_after_a_long_look, set_up),
        cmocka_unit_test_setup(
            no_time_is_made_up_after_a_look_that_was_interrupted, set_up),
        cmocka_unit_test_setup(a_late_signal_tells_of_waiting, set_up),
        cmocka_unit_test_setup(nothing_is_known_before_the_first_look, set_up),
        cmocka_unit_test_setup(
            new_thread_is_sampled_at_its_first_signal, set_up),
        cmocka_unit_test_setup(parked_thread_has_no_wall_timer, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
