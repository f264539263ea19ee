/* SPDX-License-Identifier: MIT */
/* Sites whose blocks come and go together. */
#include "heap_bench.h"

struct bond {
    uint32_t stripe, site, times, born_after, freed_after; /* sites */
};

static void live_bonds(struct bench *b, const struct bond *bonds, size_t count)
{
    uint32_t node = insert(b, 0, 0x1000);
    for (uint32_t i = 0; i < 2; i++)
        (void)add_pair(b, node, 16 + i, 24);
    for (size_t i = 0; i < count; i++) {
        const struct bond *x = &bonds[i];
        struct wndl_heap_count *c = count_at(b, x->stripe, x->site);
        allocate(b, x->stripe, x->site, x->times);
        release(b, x->stripe, x->site, x->times);
        c->born_after = x->born_after + 1;
        c->freed_after = x->freed_after + 1;
        c->born_after_times = c->freed_after_times = x->times;
    }
}

static bool are_together(const struct bond *bonds, size_t count)
{
    static struct bench b;
    set_up(&b);
    live_bonds(&b, bonds, count);
    finish(&b);
    return strstr(b.text, "\nHTOG 0 | 1 0 ") != NULL;
}

static void pairs_that_come_together_in_every_lane_are_told(void **state)
{
    (void)state;
    const struct bond good[] = {
        {0, 0, 5, 1, 1}, {0, 1, 5, 0, 0}, {4, 0, 4, 9, 9}, {4, 1, 4, 0, 0}};
    struct bond bad[4];
    assert_true(are_together(good, 4));
    memcpy(bad, good, sizeof bad);
    bad[3].born_after = 7; /* in one stripe it comes after another one */
    assert_false(are_together(bad, 4));
    memcpy(bad, good, sizeof bad);
    bad[2].times = 5; /* the other one comes more often */
    assert_false(are_together(bad, 4));
    assert_false(are_together(good, 2)); /* too few to say so */
    memcpy(bad, good, sizeof bad);
    bad[1].freed_after = 7;
    assert_false(are_together(bad, 4));
    /* Freed the other way round. */
    const struct bond crossed[] = {{0, 0, 9, 5, 1}, {0, 1, 9, 0, 5}};
    assert_true(are_together(crossed, 2));
    const struct bond alone[] = {{0, 1, 9, 1, 1}};
    assert_false(are_together(alone, 1));
}

/* Of the same stacks and requests as those two, in blocks that are larger. */
static bool are_together_but(uint32_t times, uint32_t odd, uint32_t others)
{
    static struct bench b;
    const struct bond bonds[] = {{0, 0, 98, 5, 1}, {0, 1, 98, 0, 0}};
    const uint32_t sites[] = {2, 3};
    set_up(&b);
    live_bonds(&b, bonds, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct wndl_heap_site *site = pair_at(&b, i);
        assert_int_equal(
            add_pair(&b, site->node, site->requested, 40), sites[i]);
    }
    allocate(&b, 0, 2, odd);
    release(&b, 0, 2, odd);
    allocate(&b, 0, 3, others);
    release(&b, 0, 3, others);
    count_at(&b, 0, 1)->born_after_times = times;
    count_at(&b, 0, 1)->freed_after_times = times;
    finish(&b);
    return strstr(b.text, "\nHTOG 0 | 1 0 98\n") != NULL;
}

static void an_odd_block_does_not_part_a_couple(void **state)
{
    (void)state;
    assert_true(are_together_but(98, 2, 2));
    assert_true(are_together_but(94, 2, 2));
    assert_true(are_together_but(90, 2, 2));
    assert_false(are_together_but(88, 2, 2)); /* that takes more than they */
    assert_false(are_together_but(98, 2, 1)); /* one more of these */
    assert_true(are_together_but(98, 6, 6));
    assert_false(are_together_but(98, 20, 20)); /* too many not to look at */
}

static void what_is_gone_before_is_not_together(void **state)
{
    (void)state;
    static struct bench b;
    const struct bond bonds[] = {{0, 0, 9, 5, 1}, {0, 1, 9, 0, 0}};
    set_up(&b);
    live_bonds(&b, bonds, 2);
    count_at(&b, 0, 0)->temporary = 1;
    finish(&b);
    assert_null(strstr(b.text, "HTOG"));
    set_up(&b);
    live_bonds(&b, bonds, 2);
    count_at(&b, 0, 1)->temporary = 9;
    finish(&b);
    assert_non_null(strstr(b.text, "\nHTOG 0 | 1 0 9\n"));
}

static void births_that_were_not_counted_are_not_together(void **state)
{
    (void)state;
    static struct bench b;
    const struct bond bonds[] = {{0, 0, 9, 5, 5}, {0, 1, 9, 0, 0}};
    set_up(&b);
    live_bonds(&b, bonds, 2);
    finish(&b);
    assert_non_null(strstr(b.text, "\nHTOG 0 | 1 0 9\n"));
    set_up(&b);
    live_bonds(&b, bonds, 2);
    count_at(&b, 0, 1)->born_after_times = 8;
    finish(&b);
    assert_null(strstr(b.text, "HTOG"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_that_come_together_in_every_lane_are_told),
        cmocka_unit_test(an_odd_block_does_not_part_a_couple),
        cmocka_unit_test(what_is_gone_before_is_not_together),
        cmocka_unit_test(births_that_were_not_counted_are_not_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
