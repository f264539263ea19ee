/* SPDX-License-Identifier: MIT */
/* The heap's part of the shared memory: sites, stripes, growth. */
#include "heap_fixture.h"

#include "rt/core/rt.h"
#include "rt/heap/count/growth.h"
#include "rt/heap/count/prefault.h"
#include "rt/heap/count/sites.h"
#include "rt/heap/count/stripes.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAIRS = 4096 };

struct wndl_rt wndl_rt;

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
    return (struct wndl_heap_site){
        i % 32, i % 32 + 9, i / 64 + 1, 0, (uint16_t)(i / 32 % 2)};
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
                const struct wndl_heap_site site = {16 + i, 25 + i, node, 0, 0};
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
    struct wndl_rt_wrong wrong = {
        .node = 7, .kind = WNDL_HEAP_WRONG_TWICE, .address = 0x1000};
    for (int i = 0; i < 10; i++)
        wndl_rt_heap_wrong(shared, &wrong);
    wrong.kind = WNDL_HEAP_WRONG_FOREIGN;
    wrong.address = 0x2000;
    wndl_rt_heap_wrong(shared, &wrong);
    assert_int_equal(shared->wrongs[0].count, 10);
    assert_int_equal(shared->wrongs[0].address, 0x1000);
    assert_int_equal(shared->wrongs[1].kind, WNDL_HEAP_WRONG_FOREIGN);
    assert_int_equal(shared->wrongs[2].node, 0);
    /* Blocks that were taken elsewhere are told apart. */
    wrong = (struct wndl_rt_wrong){7, WNDL_HEAP_WRONG_OTHER, 0x3000, 5,
        WNDL_HEAP_WHOSE_MALLOC, WNDL_HEAP_WHOSE_REPORTED};
    for (int i = 0; i < 4; i++) {
        wrong.taken_at = 5 + i % 2;
        wndl_rt_heap_wrong(shared, &wrong);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(shared->wrongs[2 + i].count, 2);
        assert_int_equal(shared->wrongs[2 + i].taken_at, 5 + i);
    }
    assert_int_equal(shared->wrongs[2].freed_by, WNDL_HEAP_WHOSE_REPORTED);
    assert_int_equal(shared->wrongs[4].node, 0);
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

#define SHARED(test)                                                           \
    cmocka_unit_test_setup_teardown(test, make_shared, free_shared)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timed_blocks_stand_for_all),
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
