/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "model/profile.h"

static uint32_t frame_at(struct wndl_profile *p, uint32_t image, uint64_t rva)
{
    uint32_t index;
    assert_true(wndl_profile_frame(
        p, (struct wndl_frame_key){.image = image, .address = rva}, &index));
    return index;
}

static void empty_profile_has_the_root_alone(void **state)
{
    (void)state;
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(p.nodes.len, 1);
    assert_int_equal(p.frames.len, 0);
    wndl_profile_free(&p);
}

static void frames_differ_by_every_field(void **state)
{
    (void)state;
    static const struct wndl_frame_key keys[] = {
        {.image = 0, .address = 0x1000},
        {.image = 1, .address = 0x1000},
        {.image = WNDL_NO_INDEX, .address = 0x1000},
        {.image = WNDL_NO_INDEX, .process = 1, .address = 0x1000},
        {.image = 0, .address = 0x1001},
        {.image = 0, .address = 0x1000, .exact = WNDL_EXACT_INTERRUPTED},
        {.image = 0, .address = 0x1000, .how = 2},
        {.image = 0, .address = 0},
        {.image = 0, .address = UINT64_MAX},
    };
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            uint32_t index;
            assert_true(wndl_profile_frame(&p, keys[i], &index));
            assert_int_equal(index, i);
        }
    }
    wndl_profile_free(&p);
}

static void thousands_of_frames_keep_their_numbers(void **state)
{
    (void)state;
    enum { FRAMES = 20000 };
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    for (uint32_t i = 0; i < FRAMES; i++)
        assert_int_equal(frame_at(&p, i % 7, i / 7 * 16), i);
    for (uint32_t i = 0; i < FRAMES; i++)
        assert_int_equal(frame_at(&p, i % 7, i / 7 * 16), i);
    assert_int_equal(p.frames.len, FRAMES);
    wndl_profile_free(&p);
}

static void same_path_is_the_same_node(void **state)
{
    (void)state;
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    uint32_t f = frame_at(&p, 0, 16);
    uint32_t g = frame_at(&p, 0, 32);
    uint32_t first, child, again, other;
    assert_true(wndl_profile_node(&p, 0, f, &first));
    assert_true(wndl_profile_node(&p, first, g, &child));
    assert_true(wndl_profile_node(&p, first, g, &again));
    assert_true(wndl_profile_node(&p, 0, g, &other));
    assert_int_equal(child, again);
    assert_int_not_equal(child, other);
    const struct wndl_node *node = wndl_vec_at(&p.nodes, child);
    assert_int_equal(node->parent, first);
    assert_int_equal(node->frame, g);
    wndl_profile_free(&p);
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    bool worked = false;
    for (long budget = 0; !worked; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        struct wndl_profile p;
        worked = wndl_profile_init(&p, &heap.mem);
        for (uint32_t i = 0; i < 5000 && worked; i++) {
            struct wndl_frame_key key = {.address = i};
            uint32_t frame, node;
            worked = wndl_profile_frame(&p, key, &frame) &&
                     wndl_profile_node(&p, i, frame, &node);
        }
        wndl_profile_free(&p);
        assert_int_equal(heap.live, 0);
    }
}

static void every_number_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        assert_non_null(wndl_loss_name(i));
        assert_non_null(wndl_walk_end_text(i));
    }
    assert_string_equal(
        wndl_loss_name(WNDL_LOST_OVERRUN), "ticks came too fast");
    assert_string_equal(wndl_loss_name(WNDL_LOST_OTHER), "another reason");
    assert_string_equal(wndl_walk_end_text(WNDL_WALK_OTHER), "another end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_profile_has_the_root_alone),
        cmocka_unit_test(frames_differ_by_every_field),
        cmocka_unit_test(thousands_of_frames_keep_their_numbers),
        cmocka_unit_test(same_path_is_the_same_node),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
        cmocka_unit_test(every_number_has_a_name),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
