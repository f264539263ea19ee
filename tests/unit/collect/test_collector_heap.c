/* SPDX-License-Identifier: MIT */
/* Snapshots of a process's heap, and what is found in it at its end. */
#include "heap_bench.h"

#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <windlass/unwind.h>

static void what_was_counted_is_in_the_last_snapshot(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t root = insert(&b, 0, 0x1000);
    uint32_t leaf = insert(&b, root, 0x2000);
    uint32_t first = add_pair(&b, leaf, 100, 104);
    uint32_t second = add_pair(&b, root, 8, 24);
    pair_at(&b, second)->end = WNDL_END_TRUNCATED;
    allocate(&b, 0, first, 3);
    allocate(&b, 3, first, 2);
    release(&b, 3, first, 4); /* in another stripe than some were made in */
    allocate(&b, 15, second, 7);
    b.head->stripe[15].missed[WNDL_HEAP_MISS_NESTED] = 5;
    b.head->stripe[3].reallocs = 2;
    b.head->stripe[3].temporary = 1;
    count_at(&b, 3, first)->temporary = 1;
    atomic_store(&b.head->inherited, 9);
    b.head->own_allocator = 1;
    atomic_store(&b.head->inconsistent, 1);
    finish(&b);
    assert_string_equal(b.text,
        "HEAP 0 1 0\n"
        "HPAR 0 0 | 2 0 100 4 | 1 1 8 16\n"
        "HTIM 0 t | 0 272 8\n"
        "HSNP 0 0 t 0 '' | 12 4 556 688 416 2 1 272 t 9 1 1 | 5 0 0 0 0 0 0 0\n"
        "HCNT 0 0 | 0 5 4 1 1 0 | 1 7 0 7 0 0\n");
    const struct wndl_collector_heap_totals *t = &b.totals.heap;
    assert_int_equal(t->heaps, 1);
    assert_int_equal(t->own_allocators, 1);
    assert_true(t->allocs == 12 && t->frees == 4 && t->requested == 556);
    assert_true(t->live_bytes == 272 && t->live_blocks == 8 && t->peak == 272);
    assert_true(t->ends[WNDL_END_COMPLETE] == 5);
    assert_true(t->ends[WNDL_END_TRUNCATED] == 7);
    assert_true(t->missed[WNDL_HEAP_MISS_NESTED] == 5);
    assert_int_equal(b.totals.damaged, 0);
}

/* What is told by the stamps: rec/heap.h, struct wndl_heap_count. */
static void blocks_at_the_peak_are_those_of_its_stamp(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    uint32_t copied = add_pair(&b, node, 16, 16);
    uint32_t untouched = add_pair(&b, node, 32, 32);
    uint32_t gone = add_pair(&b, node, 64, 64);
    atomic_store(&b.head->peak_bytes, 1 << 20);
    atomic_store(&b.head->peak_stamp, 7);
    atomic_store(&b.head->peak_tsc, 1);
    allocate(&b, 0, copied, 50);
    release(&b, 1, copied, 45);
    count_at(&b, 0, copied)->stamp = 7;
    count_at(&b, 0, copied)->at_peak = 40;
    count_at(&b, 1, copied)->stamp = 7;
    count_at(&b, 1, copied)->at_peak = -20;
    allocate(&b, 0, untouched, 6);
    count_at(&b, 0, untouched)->stamp = 6; /* of an earlier peak */
    count_at(&b, 0, untouched)->at_peak = 1;
    allocate(&b, 0, gone, 1);
    release(&b, 0, gone, 1);
    finish(&b);
    assert_non_null(strstr(
        b.text, "HCNT 0 0 | 0 50 45 20 0 0 | 1 6 0 6 0 0 | 1 1 1 0 0 0\n"));
    assert_non_null(strstr(b.text, " 1048576 t 0 0 0 | 0 0 0"));
}

/* Lanes lag behind in telling what lives: a peak may not have been noticed. */
static void what_lives_now_may_be_the_peak(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t site = add_pair(&b, insert(&b, 0, 0x1000), 10, 10);
    atomic_store(&b.head->peak_bytes, 79);
    atomic_store(&b.head->peak_stamp, 1);
    allocate(&b, 0, site, 8);
    count_at(&b, 0, site)->stamp = 1;
    count_at(&b, 0, site)->at_peak = 2;
    finish(&b);
    assert_non_null(strstr(b.text, "HTIM 0 t | 0 80 8\n"));
    assert_non_null(strstr(b.text, "HCNT 0 0 | 0 8 0 8 0 0\n"));
    assert_non_null(strstr(b.text, " 80 t 0 0 0 | 0 0 0"));
}

static void a_pair_waits_until_its_stack_is_in_the_file(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t root = insert(&b, 0, 0x1000);
    uint32_t early = add_pair(&b, root, 1, 1);
    uint32_t waits = add_pair(&b, root + 1, 2, 2); /* not there yet */
    uint32_t behind = add_pair(&b, root, 3, 3);
    uint32_t unfinished = add_pair(&b, root, 4, 4);
    pair_at(&b, unfinished)->usable = 0;
    for (uint32_t i = 0; i < 4; i++)
        allocate(&b, 0, i, i == unfinished ? 0 : 1);
    drain(&b);
    wndl_collector_heap_snapshot(b.process, WNDL_SNAPSHOT_CONTROL);
    assert_true(insert(&b, root, 0x2000) == root + 1);
    drain(&b);
    finish(&b);
    assert_true(early == 0 && waits == 1 && behind == 2);
    assert_string_equal(b.text,
        "HEAP 0 1 0\n"
        "HPAR 0 0 | 1 0 1 0\n"
        "HTIM 0 t | 0 6 3\n"
        "HSNP 0 0 t 1 '' | 3 0 6 6 0 0 0 6 t 0 0 0 | 0 0 0 0 0 0 0 0\n"
        "HCNT 0 0 | 0 1 0 1 0 0\n"
        "HTIM 0 t | 0 6 3\n"
        "HPAR 0 1 | 2 0 2 0 | 1 0 3 0\n"
        "HSNP 0 1 t 0 '' | 3 0 6 6 0 0 0 6 t 0 0 0 | 0 0 0 0 0 0 0 0\n"
        "HCNT 0 1 | 0 1 0 1 0 0 | 1 1 0 1 0 0 | 1 1 0 1 0 0\n");
}

static void snapshots_are_taken_when_the_program_asks(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    drain(&b);
    snprintf(b.head->text, sizeof b.head->text, "after loading");
    atomic_store(&b.head->asked, 3);
    drain(&b);
    assert_int_equal(atomic_load(&b.head->done), 3);
    drain(&b);
    memset(b.head->text, 'x', sizeof b.head->text); /* never ends */
    atomic_store(&b.head->asked, 4);
    finish(&b);
    assert_non_null(strstr(b.text, "HSNP 0 0 t 2 'after loading' |"));
    assert_non_null(strstr(b.text, "HSNP 0 1 t 2 'xxxx"));
    assert_non_null(strstr(b.text, "HSNP 0 2 t 0 '' |"));
    assert_null(strstr(b.text, "HSNP 0 3"));
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void each_peak_that_is_5_percent_higher_has_a_snapshot(void **state)
{
    (void)state;
    static struct bench b;
    const struct wndl_collector_heap_request request = {.flags = WNDL_HEAP_ON,
        .sites = 100,
        .nodes = WNDL_SHM_NODES,
        .at_peaks = true};
    set_up_for(&b, &request);
    drain(&b); /* nothing is live */
    const int64_t peaks[] = {1000, 1000, 1049, 1050, 1060, 1102, 1103, 5000};
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        atomic_store(&b.head->peak_bytes, peaks[i]);
        drain(&b);
    }
    finish(&b);
    assert_int_equal(count_of(b.text, " t 4 '' |"), 4);
    assert_non_null(strstr(b.text, " 1050 t 0 0 0 |"));
    assert_non_null(strstr(b.text, " 1102 t 0 0 0 |"));
}

static void snapshots_by_the_clock_come_again_and_again(void **state)
{
    (void)state;
    static struct bench b;
    const struct wndl_collector_heap_request request = {.flags = WNDL_HEAP_ON,
        .sites = 100,
        .nodes = WNDL_SHM_NODES,
        .every = 1};
    set_up_for(&b, &request);
    drain(&b);
    drain(&b);
    drain(&b);
    finish(&b);
    assert_int_equal(count_of(b.text, " t 3 '' |"), 3);
}

static void the_time_line_tells_of_changes_only(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t site = add_pair(&b, insert(&b, 0, 0x1000), 10, 10);
    drain(&b);
    allocate(&b, 2, site, 5);
    drain(&b);
    drain(&b);
    release(&b, 4, site, 5);
    finish(&b);
    assert_int_equal(count_of(b.text, "HTIM"), 2);
    assert_non_null(strstr(b.text, "HTIM 0 t | 0 50 5\n"));
    assert_non_null(strstr(b.text, "HTIM 0 t | 0 0 0\n"));
}

static struct wndl_tag *tag_at(const struct bench *b, uint32_t tag)
{
    void *tags = b->memory + b->layout.tags;
    return (struct wndl_tag *)tags + tag;
}

/* Tags are written before the first sites that have them, and once. */
static void tags_come_with_their_sites(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    *tag_at(&b, 1) = (struct wndl_tag){.is_used = 1, .node = node};
    *tag_at(&b, 2) = (struct wndl_tag){.is_used = 1, .node = 999, .outer = 1};
    for (uint32_t i = 0; i < 4; i++)
        allocate(&b, 0, add_pair(&b, node, 10 + i, 10 + i), 1);
    pair_at(&b, 1)->tag = 1;
    pair_at(&b, 3)->tag = 1;
    drain(&b);
    allocate(&b, 0, add_pair(&b, node, 20, 20), 1);
    pair_at(&b, 4)->tag = 2;
    drain(&b);
    finish(&b);
    assert_int_equal(count_of(b.text, "HTAG"), 2);
    assert_non_null(strstr(b.text, "HTAG 0 1 | 1 0 0\nHPAR 0 0"));
    assert_non_null(strstr(b.text, "HOWN 0 | 1 1 | 2 1\n"));
    assert_non_null(strstr(b.text, "HTAG 0 2 | 0 1 0\nHPAR 0 4"));
    assert_non_null(strstr(b.text, "HOWN 0 | 4 2\n"));
}

/* Of many sites, each chunk holds a part. */
static void many_pairs_are_written_in_parts(void **state)
{
    (void)state;
    static struct bench b;
    enum { PART = 2 * 1024 };
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    atomic_store(&b.head->site_count, PAIRS + 5); /* the limit was met */
    for (uint32_t i = 0; i < PAIRS; i++)
        *pair_at(&b, i) = (struct wndl_heap_site){i, i + 1, node, 0, 0};
    allocate(&b, 0, 5, 1);
    allocate(&b, 0, PART - 1, 2);
    allocate(&b, 0, PART, 3);
    allocate(&b, 9, PAIRS - 1, 4);
    struct wndl_recording *r = &b.recording;
    drain(&b);
    assert_int_equal(r->status, WNDL_OK);
    wndl_collector_heap_snapshot(b.process, WNDL_SNAPSHOT_CONTROL);
    wndl_buf_clear(&r->out); /* that is too much to be looked at */
    finish(&b);
    assert_non_null(strstr(b.text, "HCNT 0 1 | 5 1 0 1 0 0 | 2042 2 0 2 0 0\n"
                                   "HCNT 0 1 | 2048 3 0 3 0 0\n"
                                   "HCNT 0 1 | 19999 4 0 4 0 0\n"));
}

static void lifetimes_are_told_in_nanoseconds(void **state)
{
    (void)state;
#if !defined(__x86_64__)
    SKIP("for x86-64");
#endif
    static struct bench b;
    enum { TICKS = 1000 };
    set_up(&b);
    b.head->start_tsc = __builtin_ia32_rdtsc();
    b.head->start_time = wndl_clock_monotonic_ns();
    uint32_t site = add_pair(&b, insert(&b, 0, 0x1000), 10, 10);
    allocate(&b, 0, site, 1);
    release(&b, 0, site, 1);
    count_at(&b, 0, site)->lifetime = TICKS;
    usleep(20000);
    finish(&b);
    const char *at = strstr(b.text, "HCNT 0 0 | 0 1 1 0 0 ");
    assert_non_null(at);
    long ns = strtol(at + strlen("HCNT 0 0 | 0 1 1 0 0 "), NULL, 10);
    /* Processors tick with 0.5 to 8 GHz. */
    assert_in_range(ns, TICKS * 64 / 8, TICKS * 64 * 2);
}

/* A program of another processor has no clock that we could read. */
static void lifetimes_of_other_processors_are_nanoseconds(void **state)
{
    (void)state;
    static struct bench b;
    enum { TICKS = 1000 };
    set_up(&b);
    b.head->tsc_in_ns = 1;
    b.head->start_tsc = UINT64_C(1) << 60;
    b.head->start_time = wndl_clock_monotonic_ns() - 1000;
    uint32_t site = add_pair(&b, insert(&b, 0, 0x1000), 10, 10);
    allocate(&b, 0, site, 1);
    release(&b, 0, site, 1);
    count_at(&b, 0, site)->lifetime = TICKS;
    finish(&b);
    const char *at = strstr(b.text, "HCNT 0 0 | 0 1 1 0 0 ");
    assert_non_null(at);
    assert_int_equal(
        strtol(at + strlen("HCNT 0 0 | 0 1 1 0 0 "), NULL, 10), TICKS * 64);
}

static void leaks_are_told_if_they_were_looked_for(void **state)
{
    (void)state;
    static struct bench b;
    struct wndl_heap_leaks *leaks;
    for (int round = 0; round < 3; round++) {
        set_up(&b);
        void *table = b.memory + b.layout.leaks;
        leaks = table;
        uint32_t node = insert(&b, 0, 0x1000);
        for (int i = 0; i < 3; i++)
            allocate(&b, 0, add_pair(&b, node, 1, 1), 5);
        if (round > 0)
            leaks[0] = (struct wndl_heap_leaks){.definite = 3, .possible = 1};
        if (round > 0)
            leaks[2] = (struct wndl_heap_leaks){.indirect = 2};
        atomic_store(&b.head->leaks_known, round != 1);
        finish(&b);
        if (round == 0)
            assert_non_null(strstr(b.text, "\nHLEK 0\n"));
        else if (round == 1)
            assert_null(strstr(b.text, "HLEK"));
        else
            assert_non_null(strstr(b.text, "\nHLEK 0 | 0 3 0 1 | 2 0 2 0\n"));
    }
}

static void growing_buffers_and_wrong_frees_are_told(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    struct wndl_heap_growth *g = b.head->growths;
    g[WNDL_HEAP_GROWTHS - 1] = (struct wndl_heap_growth){.node = node,
        .by_copy = 1,
        .chains = 2,
        .steps = 30,
        .allocated = 4000,
        .final = 200,
        .doubling = 400,
        .least_step = 1,
        .most_step = 9};
    g[7] = (struct wndl_heap_growth){.node = node + 1, .chains = 1};
    b.head->wrongs[0] = (struct wndl_heap_wrong){
        node, WNDL_HEAP_WRONG_TWICE, 3, 0x7f0000001000, 0, 0, 0, 0};
    b.head->wrongs[1] = (struct wndl_heap_wrong){node, 9, 3, 4, 0, 0, 0, 0};
    b.head->wrongs[2] = (struct wndl_heap_wrong){node + 1, 1, 3, 4, 0, 0, 0, 0};
    b.head->wrongs[3] = (struct wndl_heap_wrong){
        node, WNDL_HEAP_WRONG_OTHER, 6, 16, node, 1, 2, 0};
    b.head->wrongs[4] = (struct wndl_heap_wrong){
        node, WNDL_HEAP_WRONG_OTHER, 5, 17, node + 1, 1, 2, 0};
    finish(&b);
    assert_non_null(strstr(b.text, "\nHGRO 0 | 1 1 2 30 4000 200 400 1 9\n"
                                   "HWRO 0 | 1 2 3 139637976731648 | 1 3 5 17\n"
                                   "HMIX 0 | 1 1 1 2 6 16\n"));
}

/* ---- foreign bytes */

static void a_process_that_never_began_has_no_heap(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    b.head->start_time = 0;
    finish(&b);
    assert_string_equal(b.text, "");
    assert_int_equal(b.totals.heap.heaps, 0);
}

static void impossible_contents_are_given_up(void **state)
{
    (void)state;
    static struct bench b;
    set_up(&b);
    uint32_t node = insert(&b, 0, 0x1000);
    uint32_t site = add_pair(&b, UINT32_MAX, 10, 4); /* usable < requested */
    uint32_t huge = add_pair(&b, node, 1, 1);
    uint32_t freed = add_pair(&b, node, 1, 1);
    pair_at(&b, site)->end = 0xffff;
    allocate(&b, 0, site, 1);
    allocate(&b, 0, huge, 1);
    count_at(&b, 0, huge)->allocs = UINT64_MAX;
    allocate(&b, 0, freed, 2);
    count_at(&b, 0, freed)->frees = 5;
    count_at(&b, 0, freed)->temporary = 7;
    count_at(&b, 0, freed)->lifetime = UINT64_MAX;
    b.head->stripe[0].usable_freed = b.head->stripe[0].frees = INT64_MAX;
    drain(&b);
    finish(&b);
    assert_non_null(strstr(b.text, "HPAR 0 0 | 0 7 10 0 | 1 0 1 0 | 1 0 1 0"));
    assert_non_null(strstr(b.text, "HCNT 0 0 | 0 1 0 0 0 0 | 2 2 2 0 2 0\n"));
    assert_int_equal(b.totals.damaged, 1);
}

/* Everything a program could overwrite, overwritten, with a fixed seed. */
static void scribbled_memory_never_breaks_the_recording(void **state)
{
    (void)state;
    enum { ROUNDS = 12, SMALL = 300 };
    static struct bench b;
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        const struct wndl_collector_heap_request request = {
            .flags = WNDL_HEAP_ON | WNDL_HEAP_CUMULATIVE | WNDL_HEAP_LEAKS,
            .sites = SMALL,
            .nodes = WNDL_SHM_NODES,
            .every = 1,
            .at_peaks = true};
        set_up_for(&b, &request);
        uint32_t node = insert(&b, 0, 0x1000);
        for (uint32_t i = 0; i < 50; i++)
            allocate(&b, i % 16, add_pair(&b, node, i, i + 1), i);
        drain(&b);
        size_t from = round % 2 == 0 ? 0 : b.layout.sites;
        size_t to = round % 2 == 0 ? sizeof(struct wndl_heap) : b.layout.size;
        for (size_t i = from; i < to; i++)
            b.memory[i] = (uint8_t)random();
        for (int i = 0; i < 3; i++)
            drain(&b);
        const struct wndl_recording_done done = {.processes = 1};
        wndl_collector_process_end(b.process, WNDL_ENDED_EXIT);
        wndl_collector_process_free(b.process);
        assert_int_equal(
            wndl_recording_close(&b.recording, &done, NULL), WNDL_OK);
        wndl_recording_free(&b.recording);
        assert_true(lseek(b.fd, 0, SEEK_END) < 8 * 1024 * 1024);
        close(b.fd);
        unlink(b.path);
        munmap(b.memory, b.layout.size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_counted_is_in_the_last_snapshot),
        cmocka_unit_test(blocks_at_the_peak_are_those_of_its_stamp),
        cmocka_unit_test(what_lives_now_may_be_the_peak),
        cmocka_unit_test(a_pair_waits_until_its_stack_is_in_the_file),
        cmocka_unit_test(snapshots_are_taken_when_the_program_asks),
        cmocka_unit_test(each_peak_that_is_5_percent_higher_has_a_snapshot),
        cmocka_unit_test(snapshots_by_the_clock_come_again_and_again),
        cmocka_unit_test(the_time_line_tells_of_changes_only),
        cmocka_unit_test(tags_come_with_their_sites),
        cmocka_unit_test(many_pairs_are_written_in_parts),
        cmocka_unit_test(lifetimes_are_told_in_nanoseconds),
        cmocka_unit_test(lifetimes_of_other_processors_are_nanoseconds),
        cmocka_unit_test(leaks_are_told_if_they_were_looked_for),
        cmocka_unit_test(growing_buffers_and_wrong_frees_are_told),
        cmocka_unit_test(a_process_that_never_began_has_no_heap),
        cmocka_unit_test(impossible_contents_are_given_up),
        cmocka_unit_test(scribbled_memory_never_breaks_the_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
