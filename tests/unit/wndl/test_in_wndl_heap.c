/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "model/heap.h"
#include "os/file.h"
#include "rec/chunk.h"
#include "recipe.h"
#include "wndl/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two processes, the first with two snapshots and all else there is. */
static const char golden[] =
    "meta 1000000 2 0 box / app\n"
    "process 0 100 /bin/app app\n"
    "process 1 101 /bin/kid kid\n"
    "image /bin/app a1b2\n"
    "heap 0 3 0\n"
    "heap 1 0 4096\n"
    "site 0 0 100 12 0:10 0:20\n"
    "site 0 1 5000 8 0:10 0:30\n"
    "site 0 0 8 16\n"
    "site 1 0 1000 8 0:10 0:20\n"
    "library lib*.so driver\n"
    "library own* -\n"
    "tag 0 0 web_gl\n"
    "tag 0 1 - 0:10 0:30\n"
    "owners 0 0 1 2 2\n"
    "live 0 0 0 0 500 112 1\n"
    "wait 1000\n"
    "snapshot 0 1 first_one 1 0 100 112 0 0 0 112 900 0\n"
    "counts 0 0 1 0 1 0 0\n"
    "live 0 250 112 1\n"
    "wait 1000\n"
    "snapshot 0 0 _ 9 4 5500 6000 448 1 2 5900 1800 3 77 / 5 0 0 0 1 2 4\n"
    "counts 0 0 6 4 2 1 700 1 1 0 1 0 0\n"
    "counts 0 2 2 0 0 0 0\n"
    "leaks 0 0 1 0 1 2 0 2 0\n"
    "growth 0 0 1 9 900 100 200 1 20 0:10 0:40\n"
    "growth 0 1 2 8 800 90 190 4096 4096 0:10 0:50\n"
    "wrong 0 2 3 7f00 0:10 0:60\n"
    "wrong 0 9 1 10 0:10\n"
    "mixed 0 2 1 4 7f20 0:10 0:60 / 0:10 0:40\n"
    "mixed 0 200 3 1 20 0:10\n"
    "together 0 2 0 6\n"
    "failed 0 2 my_cache\n"
    "failed 0 1 another\n"
    "reported 0 0 0 1\n"
    "reported 0 1 1 3 0:10 0:70\n"
    "reported 0 2 7 2 0:10 0:70 / 0:10 0:80\n"
    "snapshot 1 0 _ 3 1\n"
    "counts 1 0 3 1 1 0 5\n"
    "done 0 0\n";

static struct wndl_buf cook(const char *recipe)
{
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    assert_true(recipe_cook(recipe, &file));
    return file;
}

static void read_wanted(
    const char *recipe, uint64_t snapshot, struct wndl_profile *p)
{
    struct wndl_buf file = cook(recipe);
    assert_true(wndl_profile_init(p, wndl_mem_libc()));
    p->wanted_snapshot = snapshot;
    struct wndl_bytes bytes = {file.data, file.size};
    assert_int_equal(wndl_reader_read(p, bytes, NULL), WNDL_OK);
    wndl_buf_free(&file);
}

/* Frees the file. */
static void read_lived_of(
    struct wndl_buf *file, uint64_t snapshot, struct wndl_profile *p)
{
    struct wndl_bytes bytes = {file->data, file->size};
    assert_true(wndl_profile_init(p, wndl_mem_libc()));
    p->wanted_snapshot = snapshot;
    p->wants_lived = true;
    assert_int_equal(wndl_reader_read(p, bytes, NULL), WNDL_OK);
    wndl_buf_free(file);
}

static void read_lived(
    const char *recipe, uint64_t snapshot, struct wndl_profile *p)
{
    struct wndl_buf file = cook(recipe);
    read_lived_of(&file, snapshot, p);
}

static void read_recipe(const char *recipe, struct wndl_profile *p)
{
    read_wanted(recipe, WNDL_LAST_SNAPSHOT, p);
}

static const struct wndl_process_heap *heap_at(
    const struct wndl_profile *p, size_t i)
{
    return wndl_vec_at(&p->heaps, i);
}

static void heaps_and_their_sites_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    assert_int_equal(p.chunks_damaged, 0);
    assert_int_equal(p.chunks_unknown, 0);
    assert_int_equal(p.heaps.len, 2);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    assert_int_equal(heap->process, 0);
    assert_true(heap->cumulative);
    assert_true(heap->leaks_wanted);
    assert_int_equal(heap->sample_below, 0);
    assert_int_equal(heap->sites.len, 3);
    const struct wndl_alloc_site *sites = heap->sites.data;
    assert_int_equal(sites[0].requested, 100);
    assert_int_equal(sites[0].slop, 12);
    assert_int_equal(sites[1].end, WNDL_WALK_TRUNCATED);
    assert_int_equal(sites[2].node, 0);
    const struct wndl_node *leaf = wndl_vec_at(&p.nodes, sites[1].node);
    const struct wndl_frame_key *frame = wndl_vec_at(&p.frames, leaf->frame);
    assert_int_equal(frame->address, 0x30);
    const struct wndl_process_heap *sampled = heap_at(&p, 1);
    assert_false(sampled->cumulative);
    assert_int_equal(sampled->sample_below, 4096);
    const struct wndl_alloc_site *site = sampled->sites.data;
    /* The stack is the same one as in the other process. */
    assert_int_equal(site->node, sites[0].node);
    assert_true(fabs(wndl_alloc_weight(sampled, site) - 4.096) < 1e-9);
    assert_true(wndl_alloc_weight(heap, &sites[2]) == 1);
    wndl_profile_free(&p);
}

static void tags_and_libraries_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_alloc_site *sites = heap->sites.data;
    const struct wndl_alloc_tag *tags = heap->tags.data;
    const struct wndl_tag_library *libraries = p.libraries.data;
    assert_int_equal(heap->tags.len, 2);
    assert_true(wndl_bytes_is(tags[0].name, "web gl"));
    assert_int_equal(tags[0].node, 0);
    assert_int_equal(tags[1].name.size, 0);
    assert_int_equal(tags[1].node, sites[1].node);
    assert_int_equal(tags[1].outer, 1);
    assert_int_equal(sites[0].tag, 1);
    assert_int_equal(sites[1].tag, 0);
    assert_int_equal(sites[2].tag, 2);
    assert_int_equal(heap_at(&p, 1)->tags.len, 0);
    assert_int_equal(p.libraries.len, 2);
    assert_true(wndl_bytes_is(libraries[0].pattern, "lib*.so"));
    assert_true(wndl_bytes_is(libraries[0].tag, "driver"));
    assert_int_equal(libraries[1].tag.size, 0);
    wndl_profile_free(&p);
}

static void last_snapshot_is_kept(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_heap_snapshot *s = wndl_heap_kept(heap);
    assert_int_equal(heap->snapshots.len, 2);
    assert_int_equal(s->number, 1);
    assert_int_equal(s->time, 2000);
    assert_int_equal(s->why, WNDL_SNAPSHOT_END);
    assert_false(s->cut);
    assert_int_equal(s->totals[WNDL_HEAP_TOTAL_ALLOCS], 9);
    assert_int_equal(s->totals[WNDL_HEAP_TOTAL_PEAK_TIME], 1800);
    assert_int_equal(s->totals[WNDL_HEAP_TOTAL_INHERITED], 3);
    assert_int_equal(s->missed[0], 5);
    assert_int_equal(s->missed[4], 1);
    assert_int_equal(s->missed[WNDL_HEAP_MISSED_OTHER], 6);
    assert_int_equal(heap->counts.len, 3);
    const struct wndl_alloc_counts *counts = heap->counts.data;
    assert_int_equal(counts[0].allocs, 6);
    assert_int_equal(counts[0].frees, 4);
    assert_int_equal(counts[0].at_peak, 2);
    assert_int_equal(counts[0].temporary, 1);
    assert_int_equal(counts[0].lifetime, 700);
    assert_int_equal(counts[1].site, 1);
    assert_int_equal(counts[2].site, 2);
    assert_int_equal(wndl_alloc_live(&counts[2]), 2);
    wndl_profile_free(&p);
}

static void snapshot_that_is_wanted_is_kept(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_wanted(golden, 0, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    assert_int_equal(wndl_heap_kept(heap)->number, 0);
    assert_int_equal(wndl_heap_kept(heap)->why, WNDL_SNAPSHOT_CONTROL);
    assert_true(wndl_bytes_is(wndl_heap_kept(heap)->text, "first one"));
    assert_int_equal(heap->counts.len, 1);
    wndl_profile_free(&p);
    read_wanted(golden, 1, &p);
    assert_int_equal(heap_at(&p, 0)->counts.len, 3);
    assert_null(wndl_heap_kept(heap_at(&p, 1)));
    assert_int_equal(heap_at(&p, 1)->counts.len, 0);
    wndl_profile_free(&p);
}

static void what_lived_at_each_snapshot_is_kept_if_wanted(void **state)
{
    (void)state;
    static const struct wndl_alloc_lived wanted[] = {
        {0, 0, 1}, {1, 0, 2}, {1, 1, 1}, {1, 2, 2}};
    struct wndl_profile p;
    read_lived(golden, WNDL_LAST_SNAPSHOT, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_alloc_lived *lived = heap->lived.data;
    assert_int_equal(heap->lived.len, 4);
    for (size_t i = 0; i < heap->lived.len; i++) {
        assert_int_equal(lived[i].snapshot, wanted[i].snapshot);
        assert_int_equal(lived[i].site, wanted[i].site);
        assert_int_equal(lived[i].blocks, wanted[i].blocks);
        assert_true(wndl_heap_knows_lived(heap, lived[i].snapshot));
    }
    wndl_profile_free(&p);
    /* Else the counts of the others are not read. */
    read_lived(golden, 0, &p);
    assert_int_equal(heap_at(&p, 0)->lived.len, 0);
    assert_false(wndl_heap_knows_lived(heap_at(&p, 0), 1));
    wndl_profile_free(&p);
    read_recipe(golden, &p);
    assert_int_equal(heap_at(&p, 0)->lived.len, 0);
    assert_false(wndl_heap_knows_lived(heap_at(&p, 0), 0));
    wndl_profile_free(&p);
}

/* A snapshot in which `count` elements tell of one live block each. */
static void add_snapshot(struct wndl_buf *file, unsigned number, unsigned count)
{
    enum { COUNTS = 6 }; /* numbers of an element */
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, file, WNDL_CHUNK_HSNP);
    const uint64_t begins[] = {0, number, number, 3, 0, 0, 0};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        wndl_buf_uleb(w.out, begins[i]);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    wndl_chunk_begin(&w, file, WNDL_CHUNK_HCNT);
    wndl_buf_uleb(w.out, 0);
    wndl_buf_uleb(w.out, number);
    wndl_buf_uleb(w.out, count);
    for (unsigned i = 0; i < COUNTS * count; i++)
        wndl_buf_byte(w.out, i % COUNTS == 1);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
}

/* Every second snapshot is dropped, and again; the last is always known. */
static void too_much_that_lived_is_thinned_out(void **state)
{
    (void)state;
    enum { EACH = 1 << 18, SNAPSHOTS = 10 };
    struct wndl_buf file = cook("meta 1000000 2 0 box / app\n"
                                "process 0 100 /bin/app app\n"
                                "heap 0 0 0\nsite 0 0 8 0\n");
    for (unsigned i = 0; i < SNAPSHOTS; i++)
        add_snapshot(&file, i, EACH);
    struct wndl_profile p;
    read_lived_of(&file, WNDL_LAST_SNAPSHOT, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_alloc_lived *lived = heap->lived.data;
    assert_int_equal(heap->lived_step, 4);
    assert_int_equal(heap->lived.len, 3 * EACH); /* of 0, 4 and 8 */
    assert_int_equal(lived[EACH].snapshot, 4);
    ((struct wndl_heap_snapshot *)heap->snapshots.data)[SNAPSHOTS - 1].cut =
        false; /* the file has no end */
    for (uint32_t i = 0; i < SNAPSHOTS; i++)
        assert_int_equal(
            wndl_heap_knows_lived(heap, i), i % 4 == 0 || i == SNAPSHOTS - 1);
    wndl_profile_free(&p);
}

static void what_was_found_at_the_end_is_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    assert_int_equal(heap->moments.len, 3);
    const struct wndl_heap_moment *moments = heap->moments.data;
    assert_int_equal(moments[1].time, 500);
    assert_int_equal(moments[1].bytes, 112);
    assert_int_equal(moments[2].time, 1250);
    assert_true(heap->leaks_known);
    assert_false(heap_at(&p, 1)->leaks_known);
    const struct wndl_alloc_leaks *leaks = heap->leaks.data;
    assert_int_equal(heap->leaks.len, 2);
    assert_int_equal(leaks[0].possible, 1);
    assert_int_equal(leaks[1].site, 2);
    assert_int_equal(leaks[1].indirect, 2);
    const struct wndl_alloc_growth *growths = heap->growths.data;
    assert_int_equal(heap->growths.len, 2);
    assert_false(growths[0].by_copy);
    assert_int_equal(growths[0].doubling, 200);
    assert_int_equal(growths[0].least_step, 1);
    assert_true(growths[1].by_copy);
    assert_int_equal(growths[1].most_step, 4096);
    const struct wndl_alloc_wrong *wrongs = heap->wrongs.data;
    assert_int_equal(heap->wrongs.len, 4);
    assert_int_equal(wrongs[0].kind, WNDL_WRONG_FREE_TWICE);
    assert_int_equal(wrongs[0].count, 3);
    assert_int_equal(wrongs[0].address, 0x7f00);
    assert_int_equal(wrongs[0].taken_at, 0);
    assert_int_equal(wrongs[1].kind, WNDL_WRONG_FREE_OTHER);
    assert_int_equal(wrongs[2].kind, WNDL_WRONG_FREE_ALLOCATOR);
    assert_int_equal(wrongs[2].node, wrongs[0].node);
    assert_int_equal(wrongs[2].taken_at, growths[0].node);
    assert_int_equal(wrongs[2].taken_by, WNDL_WHOSE_REPORTED);
    assert_int_equal(wrongs[2].freed_by, WNDL_WHOSE_MALLOC);
    assert_int_equal(wrongs[2].count, 4);
    assert_int_equal(wrongs[2].address, 0x7f20);
    assert_int_equal(wrongs[3].taken_by, WNDL_WHOSE_UNKNOWN);
    assert_int_equal(wrongs[3].freed_by, WNDL_WHOSE_LIBC);
    assert_int_equal(wrongs[3].taken_at, 0);
    const struct wndl_alloc_together *together = heap->together.data;
    assert_int_equal(heap->together.len, 1);
    assert_int_equal(together[0].site, 2);
    assert_int_equal(together[0].other, 0);
    assert_int_equal(together[0].blocks, 6);
    wndl_profile_free(&p);
}

static void reports_are_of_the_last_run(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_alloc_reported *reported = heap->reported.data;
    assert_true(heap->reported_known);
    assert_int_equal(heap->reporter_failure, WNDL_REPORTER_ENDED);
    assert_true(wndl_bytes_is(heap->reporter, "my cache")); /* the first */
    assert_int_equal(heap_at(&p, 1)->reporter_failure, WNDL_REPORTER_NONE);
    assert_false(heap_at(&p, 1)->reported_known);
    assert_int_equal(heap->reported_snapshot, 1);
    assert_int_equal(heap->reported_time, 2000);
    assert_int_equal(heap->reported.len, 3);
    assert_int_equal(reported[0].reports, 0);
    assert_int_equal(reported[1].reports, 1);
    assert_int_equal(reported[1].site, 1);
    assert_int_equal(reported[1].blocks, 3);
    assert_int_not_equal(reported[1].by[0].node, 0);
    assert_int_equal(reported[2].reports, 2);
    assert_int_equal(reported[2].by[0].node, reported[1].by[0].node);
    assert_int_not_equal(reported[2].by[1].node, reported[2].by[0].node);
    wndl_profile_free(&p);
    read_wanted(golden, 0, &p); /* they are later than that */
    assert_false(heap_at(&p, 0)->reported_known);
    wndl_profile_free(&p);
}

/* ---- damage */

/* The golden with the line that begins so damaged. */
static void read_damaged(const char *line, struct wndl_profile *p)
{
    char recipe[sizeof golden + 20];
    const char *at = strstr(golden, line);
    assert_non_null(at);
    const char *end = strchr(at, '\n') + 1;
    snprintf(recipe, sizeof recipe, "%.*sflip 5\n%s", (int)(end - golden),
        golden, end);
    read_recipe(recipe, p);
}

static void damaged_site_loses_its_blocks_alone(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_damaged("site 0 1 5000", &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    assert_int_equal(p.chunks_damaged, 1);
    assert_int_equal(heap->sites.len, 2);
    assert_int_equal(heap->counts.len, 2);
    assert_int_equal(heap->lost, 1);
    const struct wndl_alloc_counts *counts = heap->counts.data;
    assert_int_equal(counts[1].site, 1);
    assert_int_equal(counts[1].allocs, 2);
    const struct wndl_alloc_together *together = heap->together.data;
    assert_int_equal(together[0].site, 1);
    wndl_profile_free(&p);
}

static void damaged_snapshot_loses_its_counts(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_damaged("snapshot 0 0", &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    assert_int_equal(p.chunks_damaged, 3); /* its two counts are about it */
    assert_int_equal(wndl_heap_kept(heap)->number, 0);
    assert_int_equal(heap->counts.len, 1);
    wndl_profile_free(&p);
}

/* A tag that is lost is none, and those after it keep their numbers. */
static void damaged_tag_is_none(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_damaged("tag 0 0 web_gl", &p);
    const struct wndl_process_heap *heap = heap_at(&p, 0);
    const struct wndl_alloc_tag *tags = heap->tags.data;
    const struct wndl_alloc_site *sites = heap->sites.data;
    assert_int_equal(p.chunks_damaged, 1);
    assert_int_equal(heap->tags.len, 2);
    assert_int_equal(tags[0].name.size, 0);
    assert_int_equal(tags[0].node, 0);
    assert_int_not_equal(tags[1].node, 0);
    assert_int_equal(sites[2].tag, 2);
    wndl_profile_free(&p);
}

static void damaged_heap_is_none(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_damaged("heap 0", &p);
    assert_int_equal(p.heaps.len, 1);
    assert_int_equal(heap_at(&p, 0)->process, 1);
    wndl_profile_free(&p);
}

static void damage_is_counted(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "heap 0 0 0\n",   /* twice */
        "site 2 0 1 0\n", /* of no heap */
        "site 0 0 18446744073709551615 1\n",
        "counts 2 0 1 0 0 0 0\n",
        "live 0 18446744073709551615 1 1 18446744073709551615 1 1\n",
        "chunk HPAR !\n",
        "owners 2 0 1\n", /* of no heap */
        "chunk HTAG !\n",
        "chunk HOWN !\n",
        "chunk HLIB !!\n",
        "chunk HSNP !\n",
        "chunk HLEK !\n",
        "chunk HGRO !!!!!!!!\n",
        "chunk HWRO !!!\n",
        "chunk HMIX !!!\n",
        "chunk HTOG !!!\n",
        "chunk HREP !!!!!\n",
        "chunk HFAL !!\n",
        "memory 2 1 1 1 1 1\n", /* of no heap */
        "memory 0 1 1 1 1 18446744073709551615 1\n",
        "chunk HMEM !!!!!!!\n",
        "place 2 1 1 1 1 f\n", /* of no heap */
        "chunk HWHO !!!!!!!!\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char recipe[400];
        struct wndl_profile p;
        snprintf(recipe, sizeof recipe,
            "meta 1 1 0 h / c\nprocess 0 1 /bin/a a\nheap 0 0 0\n"
            "process 0 2 /bin/b b\nprocess 0 3 /bin/c c\nsnapshot 0 0 _ 1\n%s"
            "site 0 0 7 0\n",
            wrong[i]);
        read_recipe(recipe, &p);
        assert_int_equal(p.chunks_damaged, 1);
        assert_int_equal(heap_at(&p, 0)->sites.len, 1);
        wndl_profile_free(&p);
    }
}

static void file_that_ends_in_a_snapshot_says_so(void **state)
{
    (void)state;
    static const char start[] = "meta 1 1 0 h / c\nprocess 0 1 /bin/a a\n"
                                "heap 0 0 0\nsite 0 0 7 0\nsnapshot 0 0 _ 1\n"
                                "counts 0 0 1 0 0 0 0\n";
    struct wndl_profile p;
    char recipe[300];
    read_recipe(start, &p);
    assert_true(wndl_heap_kept(heap_at(&p, 0))->cut);
    wndl_profile_free(&p);
    snprintf(recipe, sizeof recipe, "%sleaks 0\n", start);
    read_recipe(recipe, &p);
    assert_false(wndl_heap_kept(heap_at(&p, 0))->cut);
    wndl_profile_free(&p);
    snprintf(recipe, sizeof recipe, "%sdone 0 0\n", start);
    read_recipe(recipe, &p);
    assert_false(wndl_heap_kept(heap_at(&p, 0))->cut);
    wndl_profile_free(&p);
}

static void check_prefix(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    enum wndl_status status = wndl_reader_read(&p, prefix, NULL);
    if (status == WNDL_OK) {
        assert_int_equal(p.chunks_damaged, 0);
        for (size_t i = 0; i < p.heaps.len; i++)
            assert_true(heap_at(&p, i)->lost == 0);
    }
    wndl_profile_free(&p);
}

static void every_truncation_is_read_to_its_last_chunk(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden);
    for_each_truncation(
        (struct wndl_bytes){file.data, file.size}, check_prefix, NULL);
    wndl_buf_free(&file);
}

/* ---- contents of blocks */

static void put_contents(
    struct wndl_buf *file, uint64_t position, const char *part)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, file, WNDL_CHUNK_HCON);
    wndl_buf_uleb(w.out, 0); /* process */
    wndl_buf_uleb(w.out, position);
    wndl_chunk_str(
        w.out, (struct wndl_bytes){(const uint8_t *)part, strlen(part)});
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
}

/* A scan of one block of site 0, which says that it has so many bytes. */
static void put_scan(struct wndl_buf *file, uint64_t contents)
{
    static const uint8_t block[] = {1, 2, 1, 0};
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, file, WNDL_CHUNK_HSCN);
    wndl_buf_uleb(w.out, 0); /* process */
    wndl_buf_uleb(w.out, 0); /* snapshot */
    wndl_buf_uleb(w.out, WNDL_SCAN_DONE);
    wndl_buf_uleb(w.out, 0); /* position */
    wndl_chunk_str(w.out, (struct wndl_bytes){block, sizeof block});
    wndl_buf_uleb(w.out, 0); /* written */
    wndl_buf_uleb(w.out, contents);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
}

/* Contents of 3 and 5 bytes. */
static struct wndl_buf cook_contents(uint64_t told)
{
    struct wndl_buf file = cook("meta 1 1 0 h / c\nprocess 0 1 /bin/a a\n"
                                "heap 0 0 0\nsite 0 0 8 16\n"
                                "snapshot 0 0 _ 1 1 8 8\n"
                                "counts 0 0 1 0 1 0 0\n");
    put_contents(&file, 0, "abc");
    put_contents(&file, 3, "defgh");
    put_scan(&file, told);
    return file;
}

/* Parts of contents are all there, or none. */
static void check_contents(struct wndl_bytes prefix, void *context)
{
    size_t *const most = context;
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    if (wndl_reader_read(&p, prefix, NULL) == WNDL_OK && p.heaps.len != 0) {
        const size_t parts = heap_at(&p, 0)->contents.len;
        assert_int_equal(p.chunks_damaged, 0);
        assert_true(parts == 0 || parts == 2);
        *most = parts > *most ? parts : *most;
    }
    wndl_profile_free(&p);
}

static void contents_that_are_cut_belong_to_no_scan(void **state)
{
    (void)state;
    for (uint64_t told = 7; told <= 8; told++) {
        struct wndl_buf file = cook_contents(told);
        const struct wndl_bytes all = {file.data, file.size};
        size_t most = 0;
        for_each_truncation(all, check_contents, &most);
        assert_int_equal(most, 0);
        check_contents(all, &most);
        assert_int_equal(most, told == 8 ? 2 : 0);
        wndl_buf_free(&file);
    }
}

static void lack_of_memory_is_told(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden);
    struct wndl_bytes bytes = {file.data, file.size};
    enum wndl_status status = WNDL_NOMEM;
    long budget = 0;
    for (; status != WNDL_OK; budget++) {
        struct failing_mem f;
        struct wndl_profile p;
        failing_mem_init(&f, budget);
        if (!wndl_profile_init(&p, &f.mem))
            continue;
        status = wndl_reader_read(&p, bytes, NULL);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        wndl_profile_free(&p);
        assert_int_equal(f.live, 0);
    }
    assert_true(budget > 2);
    wndl_buf_free(&file);
}

/* Of the mapping that begins at `start`: how much is in our memory. */
static unsigned long resident_kb(const void *start)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    uintptr_t first = 0;
    unsigned long kb = 0;
    bool found = false;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        (void)sscanf(line, "%" SCNxPTR "-", &first);
        found = first == (uintptr_t)start && sscanf(line, "Rss: %lu", &kb) == 1;
    }
    fclose(maps);
    assert_true(found);
    return kb;
}

static struct wndl_file map_bytes(const struct wndl_buf *bytes)
{
    struct wndl_file file;
    int fd = memfd_create("recording", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(write(fd, bytes->data, bytes->size) == (ssize_t)bytes->size);
    assert_int_equal(wndl_file_of_descriptor(fd, &file, NULL), WNDL_OK);
    close(fd);
    return file;
}

static void what_is_read_of_a_file_does_not_stay_in_memory(void **state)
{
    (void)state;
    enum { CHUNKS = 20, SIZE = 1024 * 1024, PART_KB = 4 * 1024 };
    struct wndl_buf bytes = cook(golden);
    for (size_t i = 0; i < CHUNKS; i++) {
        struct wndl_chunk_writer chunk;
        wndl_chunk_begin(&chunk, &bytes, 0x4e4f4e45);
        memset(wndl_buf_reserve(&bytes, SIZE), 'x', SIZE);
        bytes.size += SIZE;
        assert_int_equal(wndl_chunk_finish(&chunk), WNDL_OK);
    }
    struct wndl_file file = map_bytes(&bytes);
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read_file(&p, &file, NULL), WNDL_OK);
    assert_int_equal(p.heaps.len, 2);
    assert_int_equal(p.chunks_unknown, CHUNKS);
    assert_int_equal(p.chunks_damaged, 0);
    assert_true(resident_kb(file.bytes.data) < 2 * PART_KB);
    assert_memory_equal(file.bytes.data, bytes.data, bytes.size);
    wndl_profile_free(&p);
    wndl_file_close(&file);
    wndl_buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_and_their_sites_are_read),
        cmocka_unit_test(tags_and_libraries_are_read),
        cmocka_unit_test(last_snapshot_is_kept),
        cmocka_unit_test(snapshot_that_is_wanted_is_kept),
        cmocka_unit_test(what_lived_at_each_snapshot_is_kept_if_wanted),
        cmocka_unit_test(too_much_that_lived_is_thinned_out),
        cmocka_unit_test(what_was_found_at_the_end_is_read),
        cmocka_unit_test(reports_are_of_the_last_run),
        cmocka_unit_test(damaged_site_loses_its_blocks_alone),
        cmocka_unit_test(damaged_snapshot_loses_its_counts),
        cmocka_unit_test(damaged_tag_is_none),
        cmocka_unit_test(damaged_heap_is_none),
        cmocka_unit_test(damage_is_counted),
        cmocka_unit_test(file_that_ends_in_a_snapshot_says_so),
        cmocka_unit_test(every_truncation_is_read_to_its_last_chunk),
        cmocka_unit_test(contents_that_are_cut_belong_to_no_scan),
        cmocka_unit_test(lack_of_memory_is_told),
        cmocka_unit_test(what_is_read_of_a_file_does_not_stay_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
