/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "model/diff.h"

#include <math.h>

static struct wndl_diff diff;

static int set_up(void **state)
{
    (void)state;
    return wndl_diff_init(&diff, wndl_mem_libc()) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    wndl_diff_free(&diff);
    return 0;
}

static uint32_t key_of(uint32_t caller, uint32_t name)
{
    struct wndl_diff_key key = {.caller = caller, .name = name};
    uint32_t index;
    assert_true(wndl_diff_key(&diff, &key, &index));
    return index;
}

/* A recording in `group` that spent `self` of `all` on `key`. */
static void recorded(uint32_t group, uint32_t key, double self, double all)
{
    struct wndl_diff_recording *r = wndl_diff_recording(&diff, "", group);
    assert_non_null(r);
    wndl_diff_sum(r, 0)->cost[WNDL_DIFF_TOTAL] = all;
    wndl_diff_sum(r, key)->cost[WNDL_DIFF_SELF] = self;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 0.001 * (1 + fabs(expected))))
        fail_msg("%f instead of %f", value, expected);
}

static void keys_are_numbered_once_from_one_on(void **state)
{
    (void)state;
    uint32_t first = key_of(0, 1);
    assert_int_equal(first, 1);
    assert_int_equal(key_of(0, 2), 2);
    assert_int_equal(key_of(0, 1), first);
    assert_int_equal(wndl_diff_key_at(&diff, 2).name, 2);
}

static void key_zero_has_no_name(void **state)
{
    (void)state;
    struct wndl_diff_key none = wndl_diff_key_at(&diff, 0);
    assert_int_equal(none.name, 0);
    assert_int_equal(none.caller, 0);
}

static void path_leads_to_what_nothing_called(void **state)
{
    (void)state;
    uint32_t outer = key_of(0, 7), middle = key_of(outer, 8);
    uint32_t inner = key_of(middle, 9);
    struct wndl_vec keys;
    wndl_vec_init(&keys, &diff.arena, sizeof(uint32_t));
    assert_true(wndl_diff_path_keys(&diff, inner, &keys));
    assert_int_equal(keys.len, 3);
    const uint32_t path[] = {inner, middle, outer};
    assert_memory_equal(keys.data, path, sizeof path);
}

static void share_is_percent_of_the_recording(void **state)
{
    (void)state;
    uint32_t key = key_of(0, 1);
    recorded(0, key, 30, 120);
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, key};
    assert_near(wndl_diff_value(&diff, place, 0).mean, 25);
    place.subject = WNDL_DIFF_AMOUNT;
    assert_near(wndl_diff_value(&diff, place, 0).mean, 30);
}

static void what_a_recording_does_not_know_is_zero(void **state)
{
    (void)state;
    recorded(0, 1, 30, 120);
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_TOTAL, 99};
    assert_near(wndl_diff_value(&diff, place, 0).mean, 0);
}

static void share_of_an_empty_recording_is_zero(void **state)
{
    (void)state;
    recorded(0, 1, 0, 0);
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1};
    assert_near(wndl_diff_value(&diff, place, 0).mean, 0);
}

static void group_is_a_mean_and_a_standard_deviation(void **state)
{
    (void)state;
    static const double of_first[] = {2, 4, 9};
    for (size_t i = 0; i < 3; i++)
        recorded(0, 1, of_first[i], 100);
    recorded(1, 1, 50, 100);
    struct wndl_diff_place place = {WNDL_DIFF_AMOUNT, WNDL_DIFF_SELF, 1};
    struct wndl_diff_value value = wndl_diff_value(&diff, place, 0);
    assert_int_equal(value.recordings, 3);
    assert_near(value.mean, 5);
    assert_near(value.spread, sqrt(13)); /* (9 + 1 + 16) / 2 */
    value = wndl_diff_value(&diff, place, 1);
    assert_int_equal(value.recordings, 1);
    assert_near(value.spread, 0);
}

static void change_is_the_last_group_less_the_first(void **state)
{
    (void)state;
    recorded(0, 1, 10, 100);
    recorded(1, 1, 70, 100);
    recorded(2, 1, 25, 100);
    struct wndl_diff_place place = {WNDL_DIFF_AMOUNT, WNDL_DIFF_SELF, 1};
    struct wndl_diff_change change = wndl_diff_change(&diff, place);
    assert_near(change.change, 15);
    assert_near(change.noise, 0);
    assert_true(change.beyond);
}

/* 99 % of Student's t with 2 degrees of freedom are within 9.925. */
static void noise_is_students_of_how_far_recordings_are_apart(void **state)
{
    (void)state;
    recorded(0, 1, 9, 100);
    recorded(0, 1, 11, 100);
    recorded(1, 1, 19, 100);
    recorded(1, 1, 21, 100);
    struct wndl_diff_place place = {WNDL_DIFF_AMOUNT, WNDL_DIFF_SELF, 1};
    struct wndl_diff_change change = wndl_diff_change(&diff, place);
    assert_near(change.change, 10);
    assert_near(change.noise, 9.925 * sqrt(2));
    assert_false(change.beyond);
}

static void noise_of_a_share_is_at_most_all_of_it(void **state)
{
    (void)state;
    recorded(0, 1, 0, 100);
    recorded(0, 1, 100, 100);
    recorded(1, 1, 100, 100);
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1};
    assert_near(wndl_diff_change(&diff, place).noise, 100);
}

/* A share p of n samples has a standard error of sqrt(p (1 - p) / n). */
static void samples_make_noise_in_a_single_recording(void **state)
{
    (void)state;
    enum { SAMPLES = 10000 };
    diff.of_samples = true;
    for (uint32_t group = 0; group < 2; group++) {
        struct wndl_diff_recording *r = wndl_diff_recording(&diff, "", group);
        r->count = SAMPLES;
        *wndl_diff_sum(r, 0) = (struct wndl_diff_sum){
            {[WNDL_DIFF_TOTAL] = SAMPLES}, {[WNDL_DIFF_TOTAL] = SAMPLES}};
        *wndl_diff_sum(r, 1) = (struct wndl_diff_sum){
            {[WNDL_DIFF_SELF] = SAMPLES / 5}, {[WNDL_DIFF_SELF] = SAMPLES / 5}};
    }
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1};
    assert_near(wndl_diff_value(&diff, place, 0).sampling, 0.4);
    assert_near(wndl_diff_change(&diff, place).noise, 2.5758 * 0.4 * sqrt(2));
}

/* That of a mean is less; of nothing there is none. */
static void samples_of_many_recordings_make_less_noise(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct wndl_diff_recording *r = wndl_diff_recording(&diff, "", 0);
        *wndl_diff_sum(r, 1) = (struct wndl_diff_sum){
            {[WNDL_DIFF_SELF] = 100}, {[WNDL_DIFF_SELF] = 36}};
    }
    struct wndl_diff_place place = {WNDL_DIFF_AMOUNT, WNDL_DIFF_SELF, 1};
    assert_near(wndl_diff_value(&diff, place, 0).sampling, 3);
    assert_near(wndl_diff_value(&diff, place, 1).sampling, 0);
}

static void everything_is_all_of_itself(void **state)
{
    (void)state;
    diff.of_samples = true;
    struct wndl_diff_recording *r = wndl_diff_recording(&diff, "", 0);
    r->count = 5;
    wndl_diff_sum(r, 0)->cost[WNDL_DIFF_TOTAL] = 5;
    wndl_diff_sum(r, 0)->variance[WNDL_DIFF_TOTAL] = 5;
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_TOTAL, 0};
    struct wndl_diff_value value = wndl_diff_value(&diff, place, 0);
    assert_near(value.mean, 100);
    assert_near(value.sampling, 0);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (long budget = 0; !done; budget++) {
        struct failing_mem mem;
        struct wndl_diff d;
        failing_mem_init(&mem, budget);
        if (wndl_diff_init(&d, &mem.mem)) {
            struct wndl_diff_recording *r = wndl_diff_recording(&d, "", 0);
            done = r != NULL && wndl_diff_sum(r, 5000) != NULL;
        }
        wndl_diff_free(&d);
        assert_int_equal(mem.live, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_numbered_once_from_one_on),
        TEST(key_zero_has_no_name),
        TEST(path_leads_to_what_nothing_called),
        TEST(share_is_percent_of_the_recording),
        TEST(what_a_recording_does_not_know_is_zero),
        TEST(share_of_an_empty_recording_is_zero),
        TEST(group_is_a_mean_and_a_standard_deviation),
        TEST(change_is_the_last_group_less_the_first),
        TEST(noise_is_students_of_how_far_recordings_are_apart),
        TEST(noise_of_a_share_is_at_most_all_of_it),
        TEST(samples_make_noise_in_a_single_recording),
        TEST(samples_of_many_recordings_make_less_noise),
        TEST(everything_is_all_of_itself),
        TEST(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
