/* SPDX-License-Identifier: MIT */
/* Rules that are there before a walk asks for them. */
#include "testlib.h"

#include "os/dlfind.h"
#include "unwind/fast/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/unwind.h>

enum { MAX = 256, DEPTH = 40, WALKERS = 3, ROUNDS = 300 };

static struct wndl_unwinder *new_unwinder(void)
{
    size_t size = (wndl_unwinder_size() + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, size);
    assert_non_null(memory);
    return wndl_unwinder_init(memset(memory, 0, size));
}

/* The walk, and how many rules it had to find. */
struct walking {
    struct wndl_unwinder *u;
    struct wndl_stack_range stack;
    struct wndl_frame frames[MAX];
    struct wndl_walk walk;
    uint32_t found;
    bool wrong;
};

static void find_stack(struct wndl_stack_range *range)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    (void)!pthread_getattr_np(pthread_self(), &attributes);
    (void)!pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    *range = (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

static struct wndl_dlmodule this_module(void)
{
    struct wndl_dlmodule module;
    assert_true(wndl_dlfind((uintptr_t)&this_module, &module));
    return module;
}

__attribute__((noinline)) static int walk_at(struct walking *w, int depth)
{
    if (depth > 0) {
        int below = walk_at(w, depth - 1);
        __asm__ volatile("" : "+r"(below)); /* no loop is made of it */
        return below + 1;
    }
    w->walk = (struct wndl_walk){.frames = w->frames, .max_frames = MAX};
    uint32_t before = wndl_cache_changes(w->u);
    wndl_unwind_self(w->u, &w->stack, &w->walk);
    w->found = wndl_cache_changes(w->u) - before;
    return 0;
}

static size_t frames_in(
    const struct walking *w, const struct wndl_dlmodule *module)
{
    size_t count = 0;
    for (size_t i = 0; i < w->walk.count; i++)
        count += w->frames[i].address - module->map_start <
                 module->map_end - module->map_start;
    return count;
}

int main(void);

static void prepared_rules_are_not_looked_for(void **state);

/*
 * What is from a page's start before the first of these to some way behind the
 * last: in which order they are is the linker's, and how much more of the
 * program there is, a sanitizer's for one, may be more than is to be prepared.
 */
static size_t prepare_this(struct wndl_unwinder *u, size_t most)
{
    enum { BEHIND = 8192 };
    const struct wndl_dlmodule module = this_module();
    const uintptr_t code[] = {(uintptr_t)&new_unwinder, (uintptr_t)&walk_at,
        (uintptr_t)&prepared_rules_are_not_looked_for, (uintptr_t)&main};
    uintptr_t low = code[0], high = code[0];
    for (size_t i = 1; i < sizeof code / sizeof code[0]; i++) {
        low = code[i] < low ? code[i] : low;
        high = code[i] > high ? code[i] : high;
    }
    low &= -(uintptr_t)4096;
    high = module.map_end - high > BEHIND ? high + BEHIND : module.map_end;
    return wndl_unwind_prepare(u, low, high - low, most);
}

static void prepared_rules_are_not_looked_for(void **state)
{
    (void)state;
    static struct walking cold, warm;
    const struct wndl_dlmodule module = this_module();
    cold.u = new_unwinder();
    warm.u = new_unwinder();
    find_stack(&cold.stack);
    warm.stack = cold.stack;
    assert_true(prepare_this(warm.u, 8192) > 10);
    assert_int_equal(prepare_this(warm.u, 8192), 0); /* all are there */
    assert_int_equal(walk_at(&cold, DEPTH), DEPTH);
    assert_int_equal(walk_at(&warm, DEPTH), DEPTH);
    assert_true(frames_in(&cold, &module) > DEPTH);
    /* Of this program, two kinds at least: walk_at's, and who called it. */
    assert_true(cold.found >= warm.found + 2);
    assert_int_equal(cold.walk.end, warm.walk.end);
    assert_int_equal(cold.walk.count, warm.walk.count);
    for (size_t i = DEPTH / 2; i < cold.walk.count; i++)
        if (i != DEPTH + 1) /* the two calls of walk_at above */
            assert_int_equal(cold.frames[i].address, warm.frames[i].address);
    free(cold.u);
    free(warm.u);
}

static void no_more_is_prepared_than_asked(void **state)
{
    (void)state;
    struct wndl_unwinder *u = new_unwinder();
    assert_int_equal(prepare_this(u, 3), 3);
    assert_int_equal(wndl_cache_changes(u), 3);
    uintptr_t nowhere = 16;
    assert_int_equal(wndl_unwind_prepare(u, nowhere, 4096, 10), 0);
    assert_int_equal(
        wndl_unwind_prepare(u, (uintptr_t)&new_unwinder, 6, 10), 0);
    free(u);
}

/* ---- while others walk */

static void *walk_often(void *context)
{
    struct walking *w = context;
    find_stack(&w->stack);
    for (int i = 0; i < ROUNDS && !w->wrong; i++) {
        (void)walk_at(w, DEPTH);
        if (w->walk.end != WNDL_END_COMPLETE || w->walk.count <= DEPTH)
            w->wrong = true;
    }
    return NULL;
}

static void others_walk_meanwhile(void **state)
{
    (void)state;
    static struct walking walkers[WALKERS];
    pthread_t threads[WALKERS];
    struct wndl_unwinder *u = new_unwinder();
    for (int i = 0; i < WALKERS; i++) {
        walkers[i].u = u;
        assert_int_equal(
            pthread_create(&threads[i], NULL, walk_often, &walkers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        wndl_unwinder_flush(u);
        (void)prepare_this(u, 8192);
    }
    for (int i = 0; i < WALKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(walkers[i].wrong);
    }
    free(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepared_rules_are_not_looked_for),
        cmocka_unit_test(no_more_is_prepared_than_asked),
        cmocka_unit_test(others_walk_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
