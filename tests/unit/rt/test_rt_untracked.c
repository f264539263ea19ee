/* SPDX-License-Identifier: MIT */
/* Blocks from before the recording, and calls that are only counted. The tests
 * are the life of one process, in its order. */
#include "testlib.h"

#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/enter.h"
#include "rt/heap/count/stripes.h"
#include "rt/heap/record/untracked.h"

#include <stdlib.h>

enum { SITES = 1024, BLOCK = 4096, USABLE = 40 };

static struct wndl_heap *shared;
static struct wndl_rt_heap_state recording;
static uint8_t blocks[WNDL_RT_EARLY + 8][BLOCK];
static struct wndl_rt_root roots[WNDL_RT_EARLY];

static size_t usable_of(void *block)
{
    (void)block;
    return USABLE;
}

static const struct wndl_rt_allocator real = {.usable = usable_of};

static const struct wndl_heap_stripe *totals(void)
{
    return wndl_rt_stripe_shared(shared).totals;
}

/* ---- before the recording */

static void blocks_from_before_are_kept(void **state)
{
    (void)state;
    wndl_rt_untracked_alloc(NULL, 1, 1);
    assert_int_equal(wndl_rt_untracked_roots(roots), 0);
    for (size_t i = 0; i < WNDL_RT_EARLY; i++)
        wndl_rt_untracked_alloc(blocks[i], 10, 20 + i);
    assert_int_equal(wndl_rt_untracked_roots(roots), WNDL_RT_EARLY);
    for (size_t i = 0; i < WNDL_RT_EARLY; i++) {
        assert_int_equal(roots[i].start, (uintptr_t)blocks[i]);
        assert_int_equal(roots[i].size, 20 + i);
        assert_true(wndl_rt_blocks_maybe((uintptr_t)blocks[i]));
    }
    assert_false(wndl_rt_heap_inconsistent);
    assert_false(wndl_rt_untracked_take_early(blocks[0]));
}

/* Frees of blocks that found no room will be frees of unknown ones. */
static void too_many_of_them_are_said(void **state)
{
    (void)state;
    wndl_rt_untracked_alloc(blocks[WNDL_RT_EARLY], 10, 20);
    assert_true(wndl_rt_heap_inconsistent);
    assert_int_equal(wndl_rt_untracked_roots(roots), WNDL_RT_EARLY);
}

static void settled_process_keeps_none(void **state)
{
    (void)state;
    wndl_rt_heap_inconsistent = false;
    wndl_rt_untracked_settle();
    wndl_rt_untracked_alloc(blocks[WNDL_RT_EARLY + 1], 10, 20);
    assert_false(wndl_rt_heap_inconsistent);
}

/* ---- while it is recorded */

static int begin_recording(void **state)
{
    const size_t size = wndl_heap_layout(SITES).size;
    void *memory;
    (void)state;
    if (posix_memalign(&memory, 4096, size) != 0)
        return -1;
    shared = memset(memory, 0, size);
    wndl_heap_begin(shared, SITES, WNDL_HEAP_ON, 0);
    recording = (struct wndl_rt_heap_state){.shared = shared};
    wndl_rt_heap = &recording;
    return 0;
}

static int end_recording(void **state)
{
    (void)state;
    wndl_rt_heap = &wndl_rt_heap_none;
    free(shared);
    return 0;
}

static void block_from_before_is_taken_once(void **state)
{
    (void)state;
    assert_false(wndl_rt_untracked_take_early(blocks[3] + 16));
    assert_true(wndl_rt_untracked_take_early(blocks[3]));
    assert_false(wndl_rt_untracked_take_early(blocks[3]));
    assert_false(wndl_rt_blocks_maybe((uintptr_t)blocks[3]));
    assert_true(wndl_rt_untracked_take_early(blocks[WNDL_RT_EARLY - 1]));
    assert_int_equal(wndl_rt_untracked_roots(roots), WNDL_RT_EARLY);
    assert_int_equal(roots[3].start, 0);
    assert_true(wndl_rt_blocks_maybe((uintptr_t)blocks[4]));
}

static void allocs_are_counted_with_their_reason(void **state)
{
    (void)state;
    wndl_rt_untracked_alloc(NULL, 1, 1);
    wndl_rt_untracked_alloc(blocks[0], 100, 120);
    assert_true(totals()->missed[WNDL_HEAP_MISS_NO_THREAD] == 1);
    assert_true(totals()->missed[WNDL_HEAP_MISS_NESTED] == 0);
    wndl_rt_heap_here.busy = true;
    wndl_rt_untracked_alloc(blocks[1], 1, 2);
    wndl_rt_heap_here.busy = false;
    assert_true(totals()->missed[WNDL_HEAP_MISS_NESTED] == 1);
    assert_true(totals()->allocs == 2);
    assert_true(totals()->requested == 101);
    assert_true(totals()->usable == 122);
}

static void frees_are_counted_but_of_blocks_from_before(void **state)
{
    (void)state;
    wndl_rt_untracked_free(&real, NULL);
    wndl_rt_untracked_free(&real, blocks[7]);
    assert_true(totals()->frees == 0);
    wndl_rt_untracked_free(&real, blocks[7]);
    assert_true(totals()->frees == 1);
    assert_true(totals()->usable_freed == USABLE);
    assert_true(shared->inherited == 0);
}

/* Later calls for a block may follow one that was not recorded. */
static void places_remember_untracked_calls(void **state)
{
    (void)state;
    uint8_t *place = blocks[9];
    assert_int_equal(wndl_rt_untracked_at(place + 16), 0);
    wndl_rt_untracked_alloc(place + 16, 1, 1);
    assert_int_equal(wndl_rt_untracked_at(place + 16), WNDL_RT_UNTRACKED_ALLOC);
    assert_int_equal(wndl_rt_untracked_at(place + 32), 0);
    wndl_rt_untracked_free(&real, place + 16);
    assert_int_equal(wndl_rt_untracked_at(place + 16),
        WNDL_RT_UNTRACKED_ALLOC | WNDL_RT_UNTRACKED_FREE);
}

/* ---- in a child that has blocks of its ancestors */

static void inherited_block_is_told_from_an_own_one(void **state)
{
    (void)state;
    void *inherited = blocks[11] + 16, *own = blocks[11] + 64;
    wndl_rt_heap_generation = 1;
    recording.inherits = true;
    wndl_rt_untracked_alloc(own, 1, 1);
    assert_true(wndl_rt_untracked_is_inherited(inherited));
    assert_false(wndl_rt_untracked_is_inherited(own));
    wndl_rt_untracked_free(&real, inherited);
    assert_true(shared->inherited == 1);
    assert_true(totals()->frees == 0);
    wndl_rt_untracked_free(&real, own);
    assert_true(shared->inherited == 1);
    assert_true(totals()->frees == 1);
}

static void own_block_is_the_child_s_inherited_one(void **state)
{
    (void)state;
    void *block = blocks[12] + 16;
    recording.inherits = true;
    wndl_rt_untracked_note_made(block);
    assert_false(wndl_rt_untracked_is_inherited(block));
    wndl_rt_heap_generation++;
    assert_true(wndl_rt_untracked_is_inherited(block));
    recording.inherits = false;
    assert_false(wndl_rt_untracked_is_inherited(block));
}

/* Or a free of that block would be taken for one of the recording. */
static void overflow_in_a_recording_is_said_there(void **state)
{
    (void)state;
    wndl_rt_heap_set_inconsistent();
    assert_true(wndl_rt_heap_inconsistent);
    assert_int_equal(shared->inconsistent, 1);
}

#define RECORDED(test)                                                         \
    cmocka_unit_test_setup_teardown(test, begin_recording, end_recording)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_from_before_are_kept),
        cmocka_unit_test(too_many_of_them_are_said),
        cmocka_unit_test(settled_process_keeps_none),
        RECORDED(block_from_before_is_taken_once),
        RECORDED(allocs_are_counted_with_their_reason),
        RECORDED(frees_are_counted_but_of_blocks_from_before),
        RECORDED(places_remember_untracked_calls),
        RECORDED(inherited_block_is_told_from_an_own_one),
        RECORDED(own_block_is_the_child_s_inherited_one),
        RECORDED(overflow_in_a_recording_is_said_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
