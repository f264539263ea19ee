/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/heap/count/block_marks.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/growth.h"
#include "rt/heap/count/prefault.h"
#include "rt/heap/count/sites.h"
#include "rt/heap/count/stripes.h"
#include "rt/heap/leaks/block_bitmap.h"
#include "rt/heap/leaks/pointer_filter.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 60000, ROUNDS = 400000, THREADS = 4, PAIRS = 4096 };

struct wndl_rt wndl_rt;

/* Whether there is one thread, for the blocks. */
static char alone;

static uint64_t next_random(uint64_t *random)
{
    *random =
        *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* ---- blocks */

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

static void run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
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

/* ---- sites and stripes */

static struct wndl_heap *shared;

static int make_shared(void **state)
{
    size_t size = wndl_heap_layout(PAIRS).size;
    void *memory;
    (void)state;
    if (posix_memalign(&memory, 4096, size) != 0)
        return 1;
    memset(memory, 0, size);
    shared = memory;
    shared->sites = PAIRS;
    shared->stripes = WNDL_HEAP_STRIPES;
    return 0;
}

static int free_shared(void **state)
{
    (void)state;
    free(shared);
    return 0;
}

static struct wndl_rt_sites pairs_table(void)
{
    struct wndl_heap_layout l = wndl_heap_layout(PAIRS);
    return (struct wndl_rt_sites){
        .sites = (void *)((uint8_t *)shared + l.sites),
        .index = (void *)((uint8_t *)shared + l.index),
        .count = &shared->site_count,
        .max = PAIRS,
    };
}

static struct wndl_heap_site site_of(uint32_t i)
{
    return (struct wndl_heap_site){i % 64, i % 64 + 9, i / 64 + 1, 0};
}

static void a_full_table_still_finds_its_pairs(void **state)
{
    struct wndl_rt_sites table = pairs_table();
    (void)state;
    for (uint32_t i = 0; i < PAIRS + 10; i++) {
        struct wndl_heap_site site = site_of(i);
        uint32_t number = wndl_rt_sites_find(&table, &site);
        assert_int_equal(number, i < PAIRS ? i + 1 : 0);
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct wndl_heap_site site = site_of(i);
        assert_int_equal(wndl_rt_sites_find(&table, &site), i + 1);
        assert_memory_equal(&table.sites[i], &site, sizeof site);
    }
}

/*
 * Or the index would take all of its 16 MB for some thousand sites: most stacks
 * have few sizes, one of them has many.
 */
static void pairs_of_stacks_that_are_near_are_near(void **state)
{
    enum {
        MAX = 1 << 18,
        NODES = 64 * 1024,
        STEP = 5,
        MANY = 500,
        PAGE = 1024
    };
    struct wndl_heap_site *sites = test_calloc(MAX, sizeof *sites);
    _Atomic uint32_t *index = test_calloc(2 * MAX, sizeof *index);
    _Atomic uint32_t count = 0;
    const struct wndl_rt_sites table = {sites, index, &count, MAX};
    size_t pages = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        uint32_t number = 0;
        for (uint32_t node = 1; node < NODES; node += STEP) {
            const uint32_t sizes = node / STEP == 300 ? MANY : 1;
            for (uint32_t i = 0; i < sizes; i++) {
                const struct wndl_heap_site site = {16 + i, 25 + i, node, 0};
                assert_int_equal(wndl_rt_sites_find(&table, &site), ++number);
            }
        }
    }
    for (size_t i = 0; i < 2 * MAX; i += PAGE) {
        bool used = false;
        for (size_t n = 0; n < PAGE; n++)
            used |= index[i + n] != 0;
        pages += used;
    }
    /* Of 512: a line for 32 nodes, and some that found no room there. */
    assert_true(pages <= NODES / 32 / 64 + 8);
    test_free(sites);
    test_free(index);
}

/* Wherever in a line each of them would be if it were alone. */
static void a_line_remembers_as_many_pairs_as_it_has_room_for(void **state)
{
    enum { WAYS = WNDL_RT_RECENT_WAYS };
    static struct wndl_rt_recent recent[WNDL_RT_RECENT_SITES];
    const uint64_t place = UINT64_MAX / WNDL_RT_RECENT_SITES + 1;
    (void)state;
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < WAYS; i++) {
            uint64_t a = (i * round + 5) % WAYS * place + i;
            const struct wndl_rt_recent site = {a, round, i + 1};
            assert_int_equal(wndl_rt_recent_find(recent, &site), 0);
            wndl_rt_recent_keep(recent, &site);
        }
        for (uint32_t i = 0; i < WAYS; i++) {
            uint64_t a = (i * round + 5) % WAYS * place + i;
            const struct wndl_rt_recent site = {a, round, 0};
            assert_int_equal(wndl_rt_recent_find(recent, &site), i + 1);
        }
    }
}

static uint32_t found_by[THREADS + 1][1000];

static void *find_all(void *argument)
{
    struct wndl_rt_sites table = pairs_table();
    uintptr_t own = (uintptr_t)argument;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t k = (uint32_t)(i * 7 + own * 100) % 1000;
        struct wndl_heap_site site = site_of(k);
        found_by[own][k] = wndl_rt_sites_find(&table, &site);
    }
    return NULL;
}

static void threads_find_the_same_pairs(void **state)
{
    (void)state;
    run_threads(find_all);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_not_equal(found_by[1][i], 0);
        for (uint32_t t = 2; t <= THREADS; t++)
            assert_int_equal(found_by[t][i], found_by[1][i]);
    }
}

static void born(
    const struct wndl_rt_stripe *stripe, uint32_t site, uint64_t size)
{
    wndl_rt_site_add_alloc(stripe, site);
    wndl_rt_stripe_add_alloc(stripe, &(struct wndl_rt_sizes){size, size});
}

static void died(
    const struct wndl_rt_stripe *stripe, uint32_t site, uint64_t size)
{
    wndl_rt_stripe_add_free(stripe, size);
    wndl_rt_site_add_free(stripe, site, 5);
}

static int64_t at_peak(const struct wndl_rt_stripe *stripe, uint32_t site)
{
    const struct wndl_heap_count *c = &stripe->counts[site];
    return c->stamp == shared->peak_stamp ? c->at_peak
                                          : (int64_t)(c->allocs - c->frees);
}

static void the_peak_has_what_was_live_then(void **state)
{
    struct wndl_rt_stripe stripe =
        wndl_rt_stripe_take(shared, getpid(), gettid());
    (void)state;
    assert_false(stripe.shared);
    for (int i = 0; i < 100; i++)
        born(&stripe, 1, 10); /* 1000 */
    for (int i = 0; i < 60; i++)
        died(&stripe, 1, 10); /* 400 */
    for (int i = 0; i < 7; i++)
        born(&stripe, 2, 100); /* 1100: the peak */
    died(&stripe, 2, 100);
    for (int i = 0; i < 40; i++)
        died(&stripe, 1, 10); /* 600 */
    born(&stripe, 3, 450);    /* 1050 */
    wndl_rt_stripe_note_peak(&stripe);
    assert_int_equal(shared->peak_bytes, 1100);
    assert_int_equal(at_peak(&stripe, 1), 40);
    assert_int_equal(at_peak(&stripe, 2), 7);
    assert_int_equal(at_peak(&stripe, 3), 0);
    assert_int_equal(
        shared->live_bytes + wndl_rt_stripe_unpublished(&stripe), 1050);
    assert_int_equal(stripe.totals->allocs, 108);
    assert_int_equal(stripe.totals->usable_freed, 1100);
    assert_int_equal(stripe.counts[1].lifetime, 500);
    wndl_rt_stripe_leave(&stripe);
}

static void the_last_lane_is_for_all_others(void **state)
{
    struct wndl_rt_stripe stripes[WNDL_HEAP_STRIPES + 1];
    (void)state;
    for (int i = 0; i <= WNDL_HEAP_STRIPES; i++) {
        stripes[i] = wndl_rt_stripe_take(shared, getpid(), gettid());
        assert_int_equal(stripes[i].shared, i >= WNDL_HEAP_STRIPES - 1);
    }
    wndl_rt_stripe_leave(&stripes[3]);
    struct wndl_rt_stripe again =
        wndl_rt_stripe_take(shared, getpid(), gettid());
    assert_ptr_equal(again.totals, stripes[3].totals);
    wndl_rt_stripe_leave(&stripes[WNDL_HEAP_STRIPES]);
    assert_int_equal(stripes[WNDL_HEAP_STRIPES].totals->owner, 0);
}

static void *count_many(void *argument)
{
    struct wndl_rt_stripe stripe =
        (uintptr_t)argument % 2 == 0
            ? wndl_rt_stripe_shared(shared)
            : wndl_rt_stripe_take(shared, getpid(), gettid());
    for (int i = 0; i < 50000; i++) {
        born(&stripe, (uint32_t)i % 10, 100);
        died(&stripe, (uint32_t)i % 10, 100);
    }
    return NULL;
}

static void threads_count_all(void **state)
{
    uint64_t allocs = 0, frees = 0;
    int64_t told = 0, live = 0;
    (void)state;
    run_threads(count_many);
    for (size_t i = 0; i < WNDL_HEAP_STRIPES; i++) {
        allocs += shared->stripe[i].allocs;
        frees += shared->stripe[i].frees;
        told += shared->stripe[i].published;
        live += (int64_t)(shared->stripe[i].usable -
                          shared->stripe[i].usable_freed);
    }
    assert_int_equal(allocs, THREADS * 50000);
    assert_int_equal(frees, allocs);
    assert_int_equal(live, 0);
    assert_int_equal(shared->live_bytes, told);
    assert_true(shared->peak_bytes >= 100);
}

/* ---- growth */

static const struct wndl_heap_growth *growth_of(uint32_t node, bool by_copy)
{
    for (size_t i = 0; i < WNDL_HEAP_GROWTHS; i++) {
        const struct wndl_heap_growth *g = &shared->growths[i];
        if (g->node == node && g->by_copy == by_copy)
            return g;
    }
    return NULL;
}

static void growth_is_told_from_doubling(void **state)
{
    (void)state;
    for (uint64_t size = 16; size < 1000; size++)
        wndl_rt_heap_grown(shared,
            &(struct wndl_rt_growth){5, false, size == 16, size, size + 1});
    for (uint64_t size = 16; size < 1024; size *= 2)
        wndl_rt_heap_grown(shared,
            &(struct wndl_rt_growth){5, true, size == 16, size, 2 * size});
    const struct wndl_heap_growth *g = growth_of(5, false);
    assert_int_equal(g->chains, 1);
    assert_int_equal(g->steps, 984);
    assert_int_equal(g->final, 1000);
    assert_int_equal(g->allocated, 1000 * 1001 / 2 - 15 * 16 / 2);
    assert_int_equal(g->doubling, 2 * 1024 - 16);
    assert_int_equal(g->most_step, 1);
    g = growth_of(5, true);
    assert_int_equal(g->allocated, g->doubling);
    assert_int_equal(g->least_step, 16);
    assert_int_equal(g->most_step, 512);
}

static void wrong_frees_are_told_once_a_site(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        wndl_rt_heap_wrong(shared, 7, WNDL_HEAP_WRONG_TWICE, 0x1000);
    wndl_rt_heap_wrong(shared, 7, WNDL_HEAP_WRONG_FOREIGN, 0x2000);
    assert_int_equal(shared->wrongs[0].count, 10);
    assert_int_equal(shared->wrongs[0].address, 0x1000);
    assert_int_equal(shared->wrongs[1].kind, WNDL_HEAP_WRONG_FOREIGN);
    assert_int_equal(shared->wrongs[2].node, 0);
}

/* ---- starts */

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

/* ---- pages in front of what grows */

static size_t count_there(uint8_t *memory, size_t pages)
{
    unsigned char there[64];
    size_t count = 0;
    assert_int_equal(mincore(memory, pages * 4096, there), 0);
    for (size_t i = 0; i < pages; i++)
        count += there[i] & 1;
    return count;
}

/* None for small tables, then some at a time, and no more than that. */
static void pages_are_there_before_they_are_needed(void **state)
{
    enum {
        PAGE = 4096,
        PAGES = 64,
        AHEAD = WNDL_RT_PREFAULT / PAGE,
        STEP = 24
    };
    struct wndl_rt_prefault prefault = wndl_rt_prefault_none();
    uint8_t *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    (void)state;
    /* Where the system cannot do it, the rest has nothing to see. */
    bool can = madvise(memory, PAGE, 23) == 0;
    uint8_t *table = memory + 128;
    for (size_t offset = 0; offset < WNDL_RT_PREFAULT; offset += STEP)
        wndl_rt_prefault_of(&prefault.sites, table, offset);
    assert_int_equal(count_there(memory, PAGES), can ? 1 : 0);
    size_t calls = 0;
    for (size_t offset = WNDL_RT_PREFAULT; offset < 3 * WNDL_RT_PREFAULT;
         offset += STEP) {
        size_t before = prefault.sites;
        wndl_rt_prefault_of(&prefault.sites, table, offset);
        calls += prefault.sites != before;
        assert_true(prefault.sites > offset);
    }
    assert_in_range(calls, 2, 3);
    assert_int_equal(prefault.nodes, WNDL_RT_PREFAULT);
    if (can)
        assert_int_equal(count_there(memory, PAGES), 1 + calls * AHEAD);
    munmap(memory, PAGES * PAGE);
}

/* In a sandbox the system is not asked. */
static void nothing_is_asked_for_in_a_sandbox(void **state)
{
    size_t there = WNDL_RT_PREFAULT;
    uint8_t *memory = mmap(NULL, 2 * WNDL_RT_PREFAULT, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    (void)state;
    atomic_store(&wndl_rt.careful, true);
    wndl_rt_prefault_of(&there, memory, WNDL_RT_PREFAULT);
    atomic_store(&wndl_rt.careful, false);
    assert_int_equal(there, 2 * WNDL_RT_PREFAULT);
    assert_int_equal(count_there(memory, 16), 0);
    munmap(memory, 2 * WNDL_RT_PREFAULT);
}

/* ---- sifting */

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
        {0x1000, 0x2000, 0, 0, false},
        {0x55d8a000, 0x7fb26df78000, 0x55e7f000, 0x7fb26df37010, false},
        {1, UINTPTR_MAX, 2, UINTPTR_MAX / 2 + 2, false},
        {UINTPTR_MAX / 2 - 9, UINTPTR_MAX / 2 + 9, UINTPTR_MAX / 2,
            UINTPTR_MAX / 2 + 1, false},
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

#define SHARED(test)                                                           \
    cmocka_unit_test_setup_teardown(test, make_shared, free_shared)
#define ALONE(test)                                                            \
    cmocka_unit_test_setup_teardown(test, be_alone, be_no_more_alone)

/* However a program takes turns, of each turn's blocks as many are timed. */
static void timed_blocks_stand_for_all(void **state)
{
    enum { ORDERS = 1000 * 1000, TURNS = 64 };
    (void)state;
    for (uint64_t turns = 1; turns <= TURNS; turns++) {
        uint64_t timed[TURNS] = {0}, all[TURNS] = {0};
        for (uint64_t i = WNDL_HEAP_TIMED_ALL; i < ORDERS; i++) {
            timed[i % turns] += wndl_rt_site_times(i);
            all[i % turns]++;
        }
        for (uint64_t turn = 0; turn < turns; turn++)
            assert_in_range(timed[turn] * WNDL_HEAP_TIMED_EVERY,
                all[turn] * 98 / 100, all[turn] * 102 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timed_blocks_stand_for_all),
        cmocka_unit_test(what_was_put_is_taken_once),
        cmocka_unit_test(a_held_block_can_be_changed),
        cmocka_unit_test(marks_are_taken_back),
        cmocka_unit_test(threads_do_not_lose_each_others_blocks),
        ALONE(who_is_alone_takes_what_was_put_once),
        ALONE(a_held_block_can_be_changed),
        ALONE(a_missed_end_is_seen_wherever_the_block_is),
        ALONE(threads_find_the_blocks_of_who_was_alone),
        ALONE(a_fork_leaves_all_to_be_taken),
        ALONE(who_shares_is_alone_no_more),
        cmocka_unit_test(starts_are_found_from_both_sides),
        cmocka_unit_test(notes_of_neighbours_are_apart),
        cmocka_unit_test(starts_may_be_far_apart),
        cmocka_unit_test(words_in_blocks_are_kept),
        cmocka_unit_test(pages_are_there_before_they_are_needed),
        cmocka_unit_test(nothing_is_asked_for_in_a_sandbox),
        SHARED(a_full_table_still_finds_its_pairs),
        cmocka_unit_test(pairs_of_stacks_that_are_near_are_near),
        cmocka_unit_test(a_line_remembers_as_many_pairs_as_it_has_room_for),
        SHARED(threads_find_the_same_pairs),
        SHARED(the_peak_has_what_was_live_then),
        SHARED(the_last_lane_is_for_all_others),
        SHARED(threads_count_all),
        SHARED(growth_is_told_from_doubling),
        SHARED(wrong_frees_are_told_once_a_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
