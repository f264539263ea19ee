/* SPDX-License-Identifier: MIT */
/*
 * New threads, for the timer engine.
 */
#include "rt/rt.h"

enum { STARTS = 256 };

/* What a new thread is to run, until it has read it. */
static struct start {
    void *(*routine)(void *);
    void *argument;
    atomic_flag taken;
} starts[STARTS];

static struct start *take_start(void)
{
    for (size_t i = 0; i < STARTS; i++) {
        if (!atomic_flag_test_and_set_explicit(
                &starts[i].taken, memory_order_acquire))
            return &starts[i];
    }
    return NULL;
}

static void leave_start(struct start *start)
{
    atomic_flag_clear_explicit(&start->taken, memory_order_release);
}

/* The last call is a jump: no frame of ours stays on the thread's stack. */
static void *run_thread(void *context)
{
    struct start *start = context;
    void *(*routine)(void *) = start->routine;
    void *argument = start->argument;
    leave_start(start);
    wndl_rt_engine_add_thread();
    return routine(argument);
}

WNDL_RT_HOOK int pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    const struct wndl_rt_real *real = wndl_rt_real();
    struct start *start =
        wndl_rt.engine == WNDL_ENGINE_TIMER ? take_start() : NULL;
    if (start == NULL)
        return real->pthread_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    int result = real->pthread_create(thread, attributes, run_thread, start);
    if (result != 0)
        leave_start(start);
    return result;
}
