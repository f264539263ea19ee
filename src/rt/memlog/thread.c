/* SPDX-License-Identifier: MIT */
/* thread: the start and the end of threads, with the size of their stacks. */
#include "rt/memlog/thread.h"

#include "rt/memlog/calls.h"
#include "rt/memlog/real.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum { STARTS = 256, MOST_A_SECOND = 200 };

/* The function of a new thread, until that has read it. */
static struct start {
    void *(*routine)(void *);
    void *argument;
    int64_t stack; /* bytes */
    atomic_flag is_taken;
} starts[STARTS];

static struct wndl_memlog_type type_thread = {
    "thread", WNDL_MEMLOG_OTHER, MOST_A_SECOND, {{"stack", "bytes"}}, {0, 0}};

static pthread_key_t end_key; /* the value is a number of rounds */
static _Atomic bool has_end_key;

static struct start *take_start(void)
{
    for (size_t i = 0; i < STARTS; i++) {
        if (!atomic_flag_test_and_set_explicit(
                &starts[i].is_taken, memory_order_acquire))
            return &starts[i];
    }
    return NULL;
}

static void leave_start(struct start *start)
{
    atomic_flag_clear_explicit(&start->is_taken, memory_order_release);
}

/*
 * Destructors are called in rounds, as long as a value is set: the last round
 * is ours.
 */
static void on_end(void *round)
{
    const uintptr_t number = (uintptr_t)round;
    if (number < PTHREAD_DESTRUCTOR_ITERATIONS)
        (void)pthread_setspecific(end_key, (void *)(number + 1));
    else
        wndl_memlog_end(&type_thread, NULL, 0);
}

void wndl_calls_thread_start(void)
{
    has_end_key = pthread_key_create(&end_key, on_end) == 0;
}

/* The last call is a jump: no frame of ours stays on the thread's stack. */
static void *run_thread(void *context)
{
    struct start *start = context;
    void *(*routine)(void *) = start->routine;
    void *argument = start->argument;
    const int64_t stack = start->stack;
    leave_start(start);
    wndl_memlog_begin(&type_thread, &stack, 1);
    if (has_end_key)
        (void)pthread_setspecific(end_key, (void *)(uintptr_t)1);
    return routine(argument);
}

/* Without attributes, or without a size in them: the default. */
static int64_t stack_size(const pthread_attr_t *attributes)
{
    pthread_attr_t none;
    size_t size = 0;
    if (attributes == NULL && pthread_attr_init(&none) == 0)
        attributes = &none;
    if (attributes != NULL)
        (void)pthread_attr_getstacksize(attributes, &size);
    return (int64_t)size;
}

WNDL_CALLS_HOOK int pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    const struct wndl_calls_real *real = wndl_calls_real();
    struct start *start = wndl_memlog_active() ? take_start() : NULL;
    if (start == NULL)
        return real->pthread_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    start->stack = stack_size(attributes);
    const int result =
        real->pthread_create(thread, attributes, run_thread, start);
    if (result != 0)
        leave_start(start);
    return result;
}
