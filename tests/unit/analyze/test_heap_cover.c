/* SPDX-License-Identifier: MIT */
/* The fewest sets that hold a share, against all sets there are. */
#include "testlib.h"

#include "analyze/heap/cover.h"

enum { SETS = 8, PARTS = 12 };

static uint64_t random_state = 1;

static unsigned next_random(unsigned below)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407;
    return (unsigned)(random_state >> 33) % below;
}

static int count_of(uint64_t sets)
{
    return __builtin_popcountll(sets);
}

/* The size of the smallest choice; SETS + 1 if there is none. */
static int fewest(const struct wndl_cover *cover, double wanted)
{
    int best = SETS + 1;
    for (uint64_t sets = 1; sets < UINT64_C(1) << SETS; sets++) {
        if (wndl_cover_weight(cover, sets) >= wanted && count_of(sets) < best)
            best = count_of(sets);
    }
    return best;
}

static void no_other_choice_is_smaller(void **state)
{
    (void)state;
    int seen[SETS + 2] = {0};
    for (int round = 0; round < 2000; round++) {
        struct wndl_cover_part parts[PARTS];
        double heights[SETS], all = 0;
        for (int i = 0; i < PARTS; i++) {
            parts[i].mask = next_random(1u << SETS) & next_random(1u << SETS);
            parts[i].weight = 1 + next_random(100);
            all += parts[i].weight;
        }
        for (int i = 0; i < SETS; i++)
            heights[i] = next_random(10);
        const struct wndl_cover cover = {parts, PARTS, SETS, heights};
        const double wanted = all * (next_random(10) + 1) / 10;
        const uint64_t got = wndl_cover_fewest(&cover, wanted);
        const int least = fewest(&cover, wanted);
        seen[least]++;
        if (least <= 3)
            assert_int_equal(count_of(got), least);
        if (least <= SETS)
            assert_true(wndl_cover_weight(&cover, got) >= wanted);
        else /* all that there is */
            assert_true(wndl_cover_weight(&cover, got) ==
                        wndl_cover_weight(&cover, (1u << SETS) - 1));
    }
    assert_true(seen[1] > 50 && seen[2] > 50 && seen[3] > 50);
    assert_true(seen[SETS + 1] > 50);
}

/* 0 calls 1, which calls 2; at first 3 calls 2, too. */
static void lower_one_inside_is_chosen(void **state)
{
    (void)state;
    static const struct wndl_cover_part parts[] = {
        {0x7, 85}, {0x3, 5}, {0x1, 5}, {0xc, 5}};
    static const double heights[] = {3, 2, 1, 2};
    const struct wndl_cover cover = {parts, 4, 4, heights};
    assert_int_equal(wndl_cover_fewest(&cover, 80), 0x2);
    static const struct wndl_cover_part inside[] = {
        {0x7, 85}, {0x3, 10}, {0x1, 5}};
    const struct wndl_cover chain = {inside, 3, 3, heights};
    assert_int_equal(wndl_cover_fewest(&chain, 80), 0x4);
    assert_int_equal(wndl_cover_fewest(&chain, 90), 0x2);
    assert_int_equal(wndl_cover_fewest(&chain, 99), 0x1);
    static const struct wndl_cover_part same[] = {{0x3, 100}};
    const struct wndl_cover equal = {same, 1, 2, heights};
    assert_int_equal(wndl_cover_fewest(&equal, 80), 0x2);
}

static void nothing_covers_nothing(void **state)
{
    (void)state;
    const struct wndl_cover none = {NULL, 0, 0, NULL};
    assert_int_equal(wndl_cover_fewest(&none, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_choice_is_smaller),
        cmocka_unit_test(lower_one_inside_is_chosen),
        cmocka_unit_test(nothing_covers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
