/* SPDX-License-Identifier: MIT */
/* The tables of live blocks, and what a leak check knows of them. */
#include "heap_fixture.h"

#include "rt/core/rt.h"
#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/shards.h"
#include "rt/heap/leaks/block_bitmap.h"
#include "rt/heap/leaks/pointer_filter.h"

enum { BLOCKS = 60000, ROUNDS = 400000 };

struct wndl_rt wndl_rt;

/* Whether there is one thread, for the blocks. */
static char alone;

static uint64_t address_of(unsigned i)
{
    return UINT64_C(0x7f0000000000) + 48 * (uint64_t)i;
}

static void count_one(void *context, const struct wndl_rt_block *block)
{
    (void)block;
    ++*(size_t *)context;
}

static size_t count_blocks(void)
{
    size_t count = 0;
    wndl_rt_blocks_each(count_one, &count);
    return count;
}

static void check_take(unsigned i, bool there)
{
    struct wndl_rt_block got;
    enum wndl_rt_found found = wndl_rt_blocks_take(address_of(i), &got);
    assert_int_equal(found, there ? WNDL_RT_BLOCK_FOUND : WNDL_RT_BLOCK_ABSENT);
    if (!there)
        return;
    assert_int_equal(got.address, address_of(i));
    assert_int_equal(got.site, 0xffffff - i);
    assert_int_equal(got.time, (UINT64_C(1) << 46) + i);
    assert_int_equal(got.generation, i % 256);
    assert_int_equal(got.grown, i % 3 == 0);
}

static void check_put(unsigned i, bool there)
{
    const struct wndl_rt_block block = {
        .address = address_of(i),
        .time = (UINT64_C(1) << 46) + i,
        .site = 0xffffff - i,
        .generation = (uint8_t)i,
        .grown = i % 3 == 0,
    };
    struct wndl_rt_block before;
    wndl_rt_blocks_expect(block.address);
    assert_int_equal(wndl_rt_blocks_put(&block, &before),
        there ? WNDL_RT_BLOCK_FOUND : WNDL_RT_BLOCK_ABSENT);
    if (there)
        assert_int_equal(before.site, block.site);
}

/* From the first to the last entry of all shards; *sum: their bytes. */
static size_t extent_of_shards(size_t *sum)
{
    uintptr_t low = UINTPTR_MAX, high = 0;
    *sum = 0;
    for (size_t i = 0; i < WNDL_RT_SHARDS; i++) {
        const uintptr_t start = (uintptr_t)wndl_rt_shards[i].entries;
        const size_t size = wndl_rt_shard_bytes(&wndl_rt_shards[i]);
        if (size == 0)
            continue;
        *sum += size;
        low = start < low ? start : low;
        high = start + size > high ? start + size : high;
    }
    return high - low;
}

/* Shards that grow leave the place where they are together. */
static void gathered_blocks_are_found(void **state)
{
    enum { MANY = 150000, MORE = 200000 };
    size_t sum;
    (void)state;
    for (unsigned i = 0; i < MANY; i++)
        check_put(i, false);
    wndl_rt_blocks_gather();
    const size_t extent = extent_of_shards(&sum);
    assert_int_equal(extent, sum);
    const void *there = wndl_rt_shard_of(address_of(0))->entries;
    wndl_rt_blocks_gather();
    assert_ptr_equal(wndl_rt_shard_of(address_of(0))->entries, there);
    for (unsigned i = MANY; i < MORE; i++)
        check_put(i, false);
    assert_int_equal(count_blocks(), MORE);
    for (unsigned i = 0; i < MORE; i++)
        check_take(i, true);
    assert_int_equal(count_blocks(), 0);
}

/* `changes`: at times there are more threads, at times no more. */
static void put_and_take_some(unsigned rounds, bool changes)
{
    static bool there[BLOCKS];
    uint64_t random = 1;
    size_t count = 0;
    for (unsigned n = 0; n < rounds; n++) {
        unsigned i = (unsigned)(next_random(&random) % BLOCKS);
        bool take = next_random(&random) % 2 == 0;
        if (changes && n % 1000 == 0)
            alone = n / 1000 % 3 != 0;
        if (take)
            check_take(i, there[i]);
        else
            check_put(i, there[i]);
        count = count - there[i] + !take;
        there[i] = !take;
    }
    assert_int_equal(count_blocks(), count);
    for (unsigned i = 0; i < BLOCKS; i++) {
        check_take(i, there[i]);
        there[i] = false;
    }
    assert_int_equal(count_blocks(), 0);
}

static void what_was_put_is_taken_once(void **state)
{
    (void)state;
    put_and_take_some(ROUNDS, false);
}

static void who_is_alone_takes_what_was_put_once(void **state)
{
    (void)state;
    put_and_take_some(ROUNDS / 8, true);
}

static void look(void *context, struct wndl_rt_block *block)
{
    *(uint32_t *)context = block->site;
    block->grown = true;
}

static void a_held_block_can_be_changed(void **state)
{
    uint32_t seen = 0;
    struct wndl_rt_block got;
    (void)state;
    check_put(1, false);
    assert_int_equal(
        wndl_rt_blocks_hold(address_of(1), look, &seen), WNDL_RT_BLOCK_FOUND);
    assert_int_equal(seen, 0xffffff - 1);
    assert_int_equal(
        wndl_rt_blocks_hold(address_of(2), look, &seen), WNDL_RT_BLOCK_ABSENT);
    assert_int_equal(
        wndl_rt_blocks_take(address_of(1), &got), WNDL_RT_BLOCK_FOUND);
    assert_true(got.grown);
}

static int be_alone(void **state)
{
    (void)state;
    alone = 1;
    wndl_rt_blocks_follow(&alone);
    return 0;
}

static int be_no_more_alone(void **state)
{
    (void)state;
    alone = 0;
    return 0;
}

enum { MISSED = 2000 };

/* One after the other takes the other's place among the young. */
static void a_missed_end_is_seen_wherever_the_block_is(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MISSED; i++)
        check_put(i, false);
    for (unsigned i = 0; i < MISSED; i++)
        check_put(i, true);
    assert_int_equal(count_blocks(), MISSED);
    for (unsigned i = 0; i < MISSED; i++)
        check_take(i, true);
    assert_int_equal(count_blocks(), 0);
}

/* A copy of the process would lack a part that was there before. */
static void visits_of_a_settled_table_move_nothing(void **state)
{
    enum { SHARDS = WNDL_RT_SHARDS, STEP = 40 };
    (void)state;
    for (unsigned i = 0; i < BLOCKS; i++) {
        const struct wndl_rt_entry *before[SHARDS];
        check_put(i, false);
        if (i % STEP != 0)
            continue;
        wndl_rt_blocks_settle();
        for (unsigned k = 0; k < SHARDS; k++)
            before[k] = wndl_rt_shards[k].entries;
        assert_int_equal(count_blocks(), i + 1);
        for (unsigned k = 0; k < SHARDS; k++)
            assert_ptr_equal(wndl_rt_shards[k].entries, before[k]);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        check_take(i, true);
}

static void marks_are_taken_back(void **state)
{
    (void)state;
    assert_false(wndl_rt_blocks_maybe(address_of(7)));
    wndl_rt_blocks_mark(address_of(7));
    wndl_rt_blocks_mark(address_of(7));
    wndl_rt_blocks_unmark(address_of(7));
    assert_true(wndl_rt_blocks_maybe(address_of(7)));
    wndl_rt_blocks_unmark(address_of(7));
    assert_false(wndl_rt_blocks_maybe(address_of(7)));
    for (int i = 0; i < 1000; i++)
        wndl_rt_blocks_mark(address_of(7));
    for (int i = 0; i < 1000; i++)
        wndl_rt_blocks_unmark(address_of(7));
    assert_true(wndl_rt_blocks_maybe(address_of(7)));
}

/* All in one region, so that they wait for each other. */
static void *put_and_take(void *argument)
{
    unsigned own = (unsigned)(uintptr_t)argument;
    for (unsigned n = 0; n < 40000; n++) {
        struct wndl_rt_block before;
        const struct wndl_rt_block block = {
            .address = address_of(own + THREADS * (n % 1000)),
            .site = own,
        };
        if (n / 1000 % 2 == 0)
            (void)wndl_rt_blocks_put(&block, &before);
        else if (wndl_rt_blocks_take(block.address, &before) !=
                     WNDL_RT_BLOCK_FOUND ||
                 before.site != own)
            return argument;
    }
    return NULL;
}

static void threads_do_not_lose_each_others_blocks(void **state)
{
    (void)state;
    run_threads(put_and_take);
    assert_int_equal(count_blocks(), 0);
}

enum { EACH = 200 };

static void *take_own(void *argument)
{
    unsigned own = (unsigned)(uintptr_t)argument;
    for (unsigned n = 0; n < EACH; n++) {
        struct wndl_rt_block block;
        uint64_t address = address_of(own + THREADS * n);
        if (wndl_rt_blocks_take(address, &block) != WNDL_RT_BLOCK_FOUND ||
            block.site != own)
            return argument;
    }
    return NULL;
}

/* The first of them sees to it that all find them. */
static void threads_find_the_blocks_of_who_was_alone(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        alone = 1;
        for (unsigned n = 0; n < EACH * THREADS; n++) {
            struct wndl_rt_block before;
            const struct wndl_rt_block block = {
                .address = address_of(1 + n), .site = 1 + n % THREADS};
            assert_int_equal(
                wndl_rt_blocks_put(&block, &before), WNDL_RT_BLOCK_ABSENT);
        }
        alone = 0;
        run_threads(take_own);
        assert_int_equal(count_blocks(), 0);
    }
}

/* Also what others may take only when that is over. */
static void a_fork_leaves_all_to_be_taken(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EACH; i++)
        check_put(i, false);
    wndl_rt_blocks_hold_all();
    alone = 0;
    wndl_rt_blocks_leave_all();
    for (unsigned i = 0; i < EACH; i++)
        check_take(i, true);
    assert_int_equal(count_blocks(), 0);
}

/* The libc may know nothing of the others. */
static void who_shares_is_alone_no_more(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EACH; i++)
        check_put(i, false);
    wndl_rt_blocks_share();
    wndl_rt_blocks_follow(&alone);
    for (unsigned i = 0; i < EACH; i++)
        check_take(i, true);
    run_threads(put_and_take);
    assert_int_equal(count_blocks(), 0);
}

/* ---- the bitmap of blocks */

enum { FAR_APART = 1 << 25, SPAN = 4096 };

/* All that can be asked about `address`, by a look at every place. */
static void check_near(const struct wndl_rt_block_bitmap *s,
    const bool there[static SPAN], uintptr_t address)
{
    enum { A = WNDL_RT_BLOCK_ALIGNMENT };
    long before = -1, after = -1;
    for (long i = 0; i < SPAN; i++) {
        uintptr_t at = s->low + (uintptr_t)i * A;
        if (there[i] && at <= address)
            before = i;
        if (there[i] && at >= address && after < 0)
            after = i;
    }
    uintptr_t found = 0;
    assert_int_equal(
        wndl_rt_block_bitmap_before(s, address, &found), before >= 0);
    if (before >= 0)
        assert_int_equal(found, s->low + (uintptr_t)before * A);
    assert_int_equal(
        wndl_rt_block_bitmap_after(s, address, &found), after >= 0);
    if (after >= 0)
        assert_int_equal(found, s->low + (uintptr_t)after * A);
    assert_int_equal(
        wndl_rt_block_bitmap_has(s, address), before >= 0 && before == after);
}

static void starts_are_found_from_both_sides(void **state)
{
    (void)state;
    enum { A = WNDL_RT_BLOCK_ALIGNMENT, SETS = 40, QUESTIONS = 400 };
    uint64_t random = 7;
    for (unsigned round = 0; round < SETS; round++) {
        struct wndl_rt_block_bitmap s = {.low = 0x12345678};
        s.high = s.low + (SPAN - 1) * A;
        void *memory = test_calloc(1, wndl_rt_block_bitmap_size(&s));
        bool there[SPAN] = {false};
        wndl_rt_block_bitmap_init(&s, memory);
        for (unsigned i = 0; i < 1U << round % 12; i++) {
            unsigned place = (unsigned)(next_random(&random) % SPAN);
            there[place] = true;
            wndl_rt_block_bitmap_add(&s, s.low + place * A);
        }
        for (unsigned i = 0; i < QUESTIONS; i++)
            check_near(
                &s, there, s.low - A + next_random(&random) % (A * (SPAN + 2)));
        test_free(memory);
    }
}

static void notes_of_neighbours_are_apart(void **state)
{
    (void)state;
    enum { A = WNDL_RT_BLOCK_ALIGNMENT };
    struct wndl_rt_block_bitmap s = {.low = 4096, .high = 4096 + 10 * A};
    void *memory = test_calloc(1, wndl_rt_block_bitmap_size(&s));
    wndl_rt_block_bitmap_init(&s, memory);
    for (unsigned i = 0; i <= 10; i++)
        wndl_rt_block_bitmap_set_mark(&s, s.low + i * A, 15 - i);
    wndl_rt_block_bitmap_set_mark(&s, s.low + 5 * A, 3);
    for (unsigned i = 0; i <= 10; i++)
        assert_int_equal(
            wndl_rt_block_bitmap_mark(&s, s.low + i * A), i == 5 ? 3 : 15 - i);
    test_free(memory);
}

static void starts_may_be_far_apart(void **state)
{
    (void)state;
    struct wndl_rt_block_bitmap s = {.low = 64};
    s.high = s.low + FAR_APART;
    void *memory = test_calloc(1, wndl_rt_block_bitmap_size(&s));
    uintptr_t found;
    wndl_rt_block_bitmap_init(&s, memory);
    wndl_rt_block_bitmap_add(&s, s.low);
    wndl_rt_block_bitmap_add(&s, s.high);
    assert_true(wndl_rt_block_bitmap_before(&s, s.high - 1, &found));
    assert_int_equal(found, s.low);
    assert_true(wndl_rt_block_bitmap_before(&s, UINTPTR_MAX, &found));
    assert_int_equal(found, s.high);
    assert_true(wndl_rt_block_bitmap_after(&s, s.low + 1, &found));
    assert_int_equal(found, s.high);
    assert_false(wndl_rt_block_bitmap_after(&s, s.high + 1, &found));
    test_free(memory);
}

/* ---- the filter of pointers */

/* Near each end of the blocks and of what is between them, or anywhere. */
static uintptr_t some_word(
    const struct wndl_rt_pointer_filter *s, uint64_t *random)
{
    const uintptr_t ends[] = {s->low, s->high, s->gap, s->gap_end, 0};
    const uint64_t r = next_random(random);
    if (r % 4 != 0)
        return (uintptr_t)(next_random(random) << 33 ^ next_random(random));
    return ends[r / 4 % 5] + (uintptr_t)(r / 64 % 5) - 2;
}

static void check_sifted(const struct wndl_rt_pointer_filter *s,
    const uintptr_t *words, size_t count, uintptr_t *found)
{
    size_t kept = wndl_rt_pointer_filter_keep(s, words, count, found);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_in = words[i] >= s->low && words[i] < s->high &&
                     !(words[i] >= s->gap && words[i] < s->gap_end);
        if (!is_in)
            continue;
        assert_true(at < kept);
        assert_int_equal(found[at++], words[i]);
    }
    assert_int_equal(at, kept);
}

/* On this processor, and as on any. */
static void words_in_blocks_are_kept(void **state)
{
    enum { WORDS = 203 };
    const struct wndl_rt_pointer_filter sieves[] = {
        {0x1000, 0x2000, 0, 0, 0, false},
        {0x55d8a000, 0x7fb26df78000, 0x55e7f000, 0x7fb26df37010, 0, false},
        {1, UINTPTR_MAX, 2, UINTPTR_MAX / 2 + 2, 0, false},
        {UINTPTR_MAX / 2 - 9, UINTPTR_MAX / 2 + 9, UINTPTR_MAX / 2,
            UINTPTR_MAX / 2 + 1, 0, false},
    };
    uint64_t random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof sieves / sizeof sieves[0]; i++) {
        struct wndl_rt_pointer_filter s = sieves[i];
        for (size_t count = 0; count <= WORDS; count++) {
            uintptr_t words[WORDS], found[WORDS];
            for (size_t k = 0; k < count; k++)
                words[k] = some_word(&s, &random);
            s.has_avx2 = false;
            check_sifted(&s, words, count, found);
            s.has_avx2 = wndl_rt_pointer_filter_has_avx2();
            check_sifted(&s, words, count, found);
        }
    }
}

#define ALONE(test)                                                            \
    cmocka_unit_test_setup_teardown(test, be_alone, be_no_more_alone)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_taken_once),
        cmocka_unit_test(a_held_block_can_be_changed),
        ALONE(visits_of_a_settled_table_move_nothing),
        cmocka_unit_test(marks_are_taken_back),
        cmocka_unit_test(threads_do_not_lose_each_others_blocks),
        ALONE(who_is_alone_takes_what_was_put_once),
        ALONE(a_held_block_can_be_changed),
        ALONE(a_missed_end_is_seen_wherever_the_block_is),
        ALONE(threads_find_the_blocks_of_who_was_alone),
        ALONE(a_fork_leaves_all_to_be_taken),
        ALONE(who_shares_is_alone_no_more),
        cmocka_unit_test(gathered_blocks_are_found),
        cmocka_unit_test(starts_are_found_from_both_sides),
        cmocka_unit_test(notes_of_neighbours_are_apart),
        cmocka_unit_test(starts_may_be_far_apart),
        cmocka_unit_test(words_in_blocks_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
