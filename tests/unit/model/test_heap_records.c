/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "model/heap_records.h"

static struct wndl_heap_list list;

static int set_up(void **state)
{
    (void)state;
    return wndl_heap_list_init(&list, wndl_mem_libc()) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    wndl_heap_list_free(&list);
    return 0;
}

static uint32_t frame_of(uint32_t caller, const char *text)
{
    uint32_t frame;
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    assert_true(wndl_heap_list_frame(&list, caller, bytes, &frame));
    return frame;
}

static void frame_zero_is_no_frame(void **state)
{
    (void)state;
    assert_int_equal(list.frames.len, 1);
    assert_int_equal(wndl_heap_frame_at(&list, 0)->caller, 0);
    assert_int_equal(wndl_heap_frame_at(&list, 0)->text, 0);
    assert_int_equal(frame_of(0, "main"), 1);
}

static void frames_differ_by_text_and_by_caller(void **state)
{
    (void)state;
    uint32_t outer = frame_of(0, "main");
    uint32_t other = frame_of(0, "thread");
    uint32_t inner = frame_of(outer, "make");
    assert_int_not_equal(other, outer);
    assert_int_not_equal(frame_of(other, "make"), inner);
    assert_int_equal(frame_of(outer, "make"), inner);
    assert_int_equal(frame_of(0, "main"), outer);
    assert_int_equal(list.frames.len, 5);
}

static void text_is_copied_and_kept_once(void **state)
{
    (void)state;
    char text[] = "make";
    uint32_t inner = frame_of(frame_of(0, text), text);
    text[0] = 'X';
    const struct wndl_heap_frame *f = wndl_heap_frame_at(&list, inner);
    assert_true(wndl_bytes_is(wndl_intern_get(&list.strings, f->text), "make"));
    assert_int_equal(wndl_heap_frame_at(&list, f->caller)->text, f->text);
}

static void text_with_an_id_is_the_same_text(void **state)
{
    (void)state;
    uint32_t outer = frame_of(0, "main"), same;
    uint32_t id = wndl_heap_frame_at(&list, outer)->text;
    assert_true(wndl_heap_list_frame_of(&list, 0, id, &same));
    assert_int_equal(same, outer);
}

static void caller_has_a_smaller_number(void **state)
{
    (void)state;
    uint32_t caller = 0;
    for (int i = 0; i < 5000; i++) {
        uint32_t frame = frame_of(caller, i % 3 == 0 ? "a" : "b");
        assert_true(frame > caller);
        assert_int_equal(wndl_heap_frame_at(&list, frame)->caller, caller);
        caller = frame;
    }
}

static void blocks_stay_in_order(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        struct wndl_heap_blocks blocks = {.requested = i, .count = -7};
        assert_true(wndl_heap_list_add(&list, &blocks));
    }
    assert_int_equal(list.blocks.len, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct wndl_heap_blocks *b = wndl_vec_at(&list.blocks, i);
        assert_int_equal(b->requested, i);
        assert_int_equal(b->count, -7);
    }
}

static void sum_that_is_too_large_is_the_nearest(void **state)
{
    (void)state;
    assert_true(wndl_add_saturating(40, 2) == 42);
    assert_true(wndl_add_saturating(INT64_MAX, 1) == INT64_MAX);
    assert_true(wndl_add_saturating(-INT64_MAX, -2) == -INT64_MAX);
    struct wndl_heap_figures f = {.requested = 40, .slop = -2};
    assert_true(wndl_heap_usable(&f) == 38);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (long budget = 0; !done; budget++) {
        struct failing_mem mem;
        struct wndl_heap_list l;
        failing_mem_init(&mem, budget);
        if (wndl_heap_list_init(&l, &mem.mem)) {
            uint32_t frame = 0;
            done = true;
            for (uint32_t i = 0; done && i < 5000; i++)
                done = wndl_heap_list_frame_of(&l, frame, i, &frame);
            done =
                done && wndl_heap_list_add(&l, &(struct wndl_heap_blocks){0});
            wndl_heap_list_free(&l);
        }
        assert_int_equal(mem.live, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(frame_zero_is_no_frame),
        TEST(frames_differ_by_text_and_by_caller),
        TEST(text_is_copied_and_kept_once),
        TEST(text_with_an_id_is_the_same_text),
        TEST(caller_has_a_smaller_number),
        TEST(blocks_stay_in_order),
        TEST(sum_that_is_too_large_is_the_nearest),
        TEST(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
