/* SPDX-License-Identifier: MIT */
/* thread: threads that are created while a tag is open have it, too. */
#include "rt/tags/core/current.h"
#include "rt/tags/real.h"

#include <stdint.h>

/* A new thread's function, in a block of the allocator's own. */
struct start {
    void *(*routine)(void *);
    thrd_start_t c11_routine; /* of thrd_create() */
    void *argument;
    uint32_t tag;
};

static struct start *make_start(void *argument)
{
    const uint32_t tag = wndl_rt_tag_current();
    struct start *start = tag == 0 || !wndl_rt_tags_resolve()
                              ? NULL
                              : wndl_rt_tags_real.malloc(sizeof *start);
    if (start != NULL)
        *start = (struct start){.argument = argument, .tag = tag};
    return start;
}

static struct start begin(struct start *start)
{
    const struct start taken = *start;
    wndl_rt_tags_real.free(start);
    wndl_rt_tag_begin(taken.tag);
    return taken;
}

static void *run(void *context)
{
    const struct start start = begin(context);
    return start.routine(start.argument);
}

static int run_c11(void *context)
{
    const struct start start = begin(context);
    return start.c11_routine(start.argument);
}

WNDL_RT_TAGS_HOOK int pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    struct start *start = make_start(argument);
    if (start == NULL)
        return real->pthread_create(thread, attributes, routine, argument);
    start->routine = routine;
    const int result = real->pthread_create(thread, attributes, run, start);
    if (result != 0)
        real->free(start);
    return result;
}

WNDL_RT_TAGS_HOOK int thrd_create(
    thrd_t *thread, thrd_start_t routine, void *argument)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    struct start *start = make_start(argument);
    if (start == NULL)
        return real->thrd_create(thread, routine, argument);
    start->c11_routine = routine;
    const int result = real->thrd_create(thread, run_c11, start);
    if (result != thrd_success)
        real->free(start);
    return result;
}
