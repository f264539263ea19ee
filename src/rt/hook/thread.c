/* SPDX-License-Identifier: MIT */
/*
 * thread: new threads, from their start, before any code of theirs, to their
 * end, after it.
 */
#include "rt/hook/thread.h"

#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"
#include "rt/sample/engine.h"
#include "rt/signals/dispositions.h"

#include <limits.h>
#include <pthread.h>

enum { STARTS = 256 };

/* The function of a new thread, until that has read it. */
static struct start {
    void *(*routine)(void *);
    void *argument;
    uint32_t tag;     /* of its blocks */
    uint64_t blocked; /* of our signals, as the new thread inherits them */
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

/* Its destructor reports the end of a thread. */
static pthread_key_t end_key;
static bool has_end_key;

/*
 * Destructors are called in rounds, as long as a value is set: the last round
 * is ours.
 */
static void on_end(void *round)
{
    uintptr_t number = (uintptr_t)round;
    if (number < PTHREAD_DESTRUCTOR_ITERATIONS)
        (void)pthread_setspecific(end_key, (void *)(number + 1));
    else {
        if (!wndl_rt_is_silent())
            wndl_rt_heap_end_thread();
        wndl_rt_engine_end_thread();
    }
}

void wndl_rt_thread_hook_start(void)
{
    if (!has_end_key)
        has_end_key = pthread_key_create(&end_key, on_end) == 0;
}

/* The last call is a jump: no frame of ours stays on the thread's stack. */
static void *run_thread(void *context)
{
    struct start *start = context;
    void *(*routine)(void *) = start->routine;
    void *argument = start->argument;
    const uint32_t tag = start->tag;
    wndl_rt_mask_remember(start->blocked);
    leave_start(start);
    wndl_rt_heap_begin_tag(tag);
    if (has_end_key)
        (void)pthread_setspecific(end_key, (void *)(uintptr_t)1);
    wndl_rt_engine_add_thread();
    return routine(argument);
}

/*
 * The registers of a function's caller, from within that function. On 32-bit
 * Arm the frame does not begin with the caller's frame pointer.
 */
#ifdef __arm__
#define REGS_OF_CALLER()                                                       \
    {                                                                          \
        .ip = (uintptr_t)__builtin_return_address(0),                          \
        .sp = (uintptr_t)__builtin_dwarf_cfa(),                                \
        .valid = WNDL_REG_IP | WNDL_REG_SP,                                    \
    }
#else
#define REGS_OF_CALLER()                                                       \
    {                                                                          \
        .ip = (uintptr_t)__builtin_return_address(0),                          \
        .sp = (uintptr_t)__builtin_dwarf_cfa(),                                \
        .fp = *(const uintptr_t *)__builtin_frame_address(0),                  \
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP,                      \
    }
#endif

WNDL_RT_HOOK int pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    const struct wndl_rt_real *real = wndl_rt_real();
    const struct wndl_regs regs = REGS_OF_CALLER();
    bool hidden =
        !wndl_rt_is_silent() && (wndl_rt.shm != NULL || wndl_rt.signals != 0);
    struct start *start = hidden ? take_start() : NULL;
    if (start == NULL)
        return real->pthread_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    start->tag = wndl_rt_heap_tag_of_start(&regs);
    start->blocked = wndl_rt_mask_blocked();
    int result = real->pthread_create(thread, attributes, run_thread, start);
    if (result != 0)
        leave_start(start);
    return result;
}
