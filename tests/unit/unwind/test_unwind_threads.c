/* SPDX-License-Identifier: MIT */
/* Several threads walk at once, with an unwinder each or one for all. */
#include "testlib.h"

#include "unwind_chain.h"

#include <pthread.h>
#include <stdlib.h>
#include <windlass/unwind.h>

enum { THREADS = 4, STACKS = 100, FRAMES = 256 };

struct walking {
    struct wndl_unwinder *unwinder;
    struct wndl_stack_range stack;
    struct chain chain;
    size_t walks, complete;
};

static void walk(void *context)
{
    struct walking *w = context;
    struct wndl_frame frames[FRAMES];
    struct wndl_walk walk = {.frames = frames, .max_frames = FRAMES};
    wndl_unwind_self(w->unwinder, &w->stack, &walk);
    w->walks++;
    w->complete += walk.end == WNDL_END_COMPLETE &&
                   walk.count > w->chain.count && walk.fp_frames == 0;
}

static void find_stack(struct wndl_stack_range *stack)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &low, &size) != 0)
        abort();
    stack->low = (uintptr_t)low;
    stack->high = (uintptr_t)low + size;
    (void)pthread_attr_destroy(&attributes);
}

static void *walk_stacks(void *argument)
{
    struct walking *w = argument;
    find_stack(&w->stack);
    for (uint64_t seed = 1; seed <= STACKS; seed++) {
        chain_random(&w->chain, 5 + seed % 40, seed, 0);
        w->chain.leaf = walk;
        w->chain.context = w;
        chain_run(&w->chain);
        if (seed % 8 == 0)
            wndl_unwinder_flush(w->unwinder);
    }
    return NULL;
}

static struct walking walking[THREADS];

static void walk_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, walk_stacks, &walking[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(walking[i].walks, STACKS);
        assert_int_equal(walking[i].complete, STACKS);
    }
}

static struct wndl_unwinder *make_unwinder(void)
{
    size_t size = (wndl_unwinder_size() + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    assert_non_null(memory);
    memset(memory, 0, size);
    return wndl_unwinder_init(memory);
}

static void threads_with_unwinders_of_their_own_do_not_meet(void **state)
{
    (void)state;
    memset(walking, 0, sizeof walking);
    for (int i = 0; i < THREADS; i++)
        walking[i].unwinder = make_unwinder();
    walk_in_threads();
    for (int i = 0; i < THREADS; i++)
        free(walking[i].unwinder);
}

/* They flush it, too: its slots change hands all the time. */
static void threads_may_share_an_unwinder(void **state)
{
    (void)state;
    memset(walking, 0, sizeof walking);
    struct wndl_unwinder *unwinder = make_unwinder();
    for (int i = 0; i < THREADS; i++)
        walking[i].unwinder = unwinder;
    walk_in_threads();
    free(unwinder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_with_unwinders_of_their_own_do_not_meet),
        cmocka_unit_test(threads_may_share_an_unwinder),
    };
    return cmocka_run_group_tests_name("unwind_threads", tests, NULL, NULL);
}
