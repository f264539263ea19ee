/* SPDX-License-Identifier: MIT */
#include "heap_bench.h"

#include "os/file.h"
#include "rec/chunk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <windlass/unwind.h>

void set_up_for(
    struct bench *b, const struct wndl_collector_heap_request *request)
{
    char command[] = "test";
    char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {.command = list};
    *b = (struct bench){.path = "/tmp/wndl-collector-heap-XXXXXX"};
    b->fd = mkstemp(b->path);
    assert_true(b->fd >= 0);
    wndl_recording_open(&b->recording, b->fd, &meta);
    const struct wndl_recording_process origin = {
        .pid = (uint32_t)getpid(), .time = b->recording.time_base};
    int memfd = -1;
    b->process = wndl_collector_process_new(
        &b->recording, &b->totals, &origin, request, &memfd);
    assert_non_null(b->process);
    wndl_collector_process_announce(b->process, &origin);
    b->layout = wndl_heap_layout(request->sites);
    b->memory = mmap(NULL, b->layout.size, PROT_READ | PROT_WRITE, MAP_SHARED,
        memfd, (off_t)wndl_heap_offset(request->nodes));
    assert_true(b->memory != MAP_FAILED);
    close(memfd);
    b->head = (struct wndl_heap *)(void *)b->memory;
    assert_int_equal(b->head->sites, request->sites);
    assert_int_equal(b->head->stripes, WNDL_HEAP_STRIPES);
    assert_int_equal(b->head->flags, request->flags);
    assert_true(b->head->sample_below == request->sample_below);
    /* No processor ticks that slowly: times of ticks are not known. */
    b->head->start_tsc = 1;
    b->head->start_time = b->recording.time_base;
}

void set_up(struct bench *b)
{
    const struct wndl_collector_heap_request request = {
        .flags = WNDL_HEAP_ON | WNDL_HEAP_CUMULATIVE,
        .sites = PAIRS,
        .nodes = WNDL_SHM_NODES};
    set_up_for(b, &request);
}

/* ---- the process's side */

struct wndl_heap_site *pair_at(struct bench *b, uint32_t site)
{
    void *sites = b->memory + b->layout.sites;
    return (struct wndl_heap_site *)sites + site;
}

struct wndl_heap_count *count_at(
    struct bench *b, uint32_t stripe, uint32_t site)
{
    size_t size =
        wndl_round_up_page(b->head->sites * sizeof(struct wndl_heap_count));
    void *counts = b->memory + b->layout.counts + stripe * size;
    return (struct wndl_heap_count *)counts + site;
}

uint32_t insert(struct bench *b, uint32_t parent, uint64_t key)
{
    void *tree = b->process->shm->tree;
    return wndl_stacktree_insert(tree, parent, key);
}

uint32_t add_pair(
    struct bench *b, uint32_t node, uint64_t requested, uint64_t usable)
{
    uint32_t site = atomic_fetch_add(&b->head->site_count, 1);
    *pair_at(b, site) = (struct wndl_heap_site){
        .requested = requested, .usable = usable + 1, .node = node};
    return site;
}

void allocate(struct bench *b, uint32_t stripe, uint32_t site, uint64_t blocks)
{
    const struct wndl_heap_site *p = pair_at(b, site);
    struct wndl_heap_stripe *l = &b->head->stripe[stripe];
    int64_t bytes = (int64_t)(blocks * (p->usable - 1));
    count_at(b, stripe, site)->allocs += blocks;
    atomic_store(&l->owner, 100 + stripe);
    l->allocs += blocks;
    l->requested += blocks * p->requested;
    l->usable += (uint64_t)bytes;
}

void release(struct bench *b, uint32_t stripe, uint32_t site, uint64_t blocks)
{
    const struct wndl_heap_site *p = pair_at(b, site);
    struct wndl_heap_stripe *l = &b->head->stripe[stripe];
    int64_t bytes = (int64_t)(blocks * (p->usable - 1));
    count_at(b, stripe, site)->frees += blocks;
    l->frees += blocks;
    l->usable_freed += (uint64_t)bytes;
}

/* ---- what comes of it */

struct reader {
    struct wndl_cursor c;
    char *text;
    size_t used;
};

static void say(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    r->used +=
        (size_t)vsnprintf(r->text + r->used, TEXT - r->used, format, args);
    va_end(args);
    assert_true(r->used < TEXT);
}

/* `fields` ulebs, those that are times said as "t". */
static void say_fields(struct reader *r, size_t fields, const char *times)
{
    for (size_t i = 0; i < fields; i++) {
        uint64_t value = wndl_cursor_uleb(&r->c);
        bool is_time = strlen(times) > i && times[i] == 't';
        if (is_time)
            say(r, " t");
        else
            say(r, " %" PRIu64, value);
    }
}

static void say_list(
    struct reader *r, size_t before, const char *times, size_t fields)
{
    say_fields(r, before, times);
    uint64_t count = wndl_cursor_uleb(&r->c);
    for (uint64_t i = 0; i < count; i++) {
        say(r, " |");
        say_fields(r, fields, times + strlen(times));
    }
}

static void say_snapshot(struct reader *r)
{
    say_fields(r, 4, "  t");
    struct wndl_bytes text = wndl_chunk_read_str(&r->c);
    say(r, " '%.*s' |", (int)text.size, (const char *)text.data);
    assert_int_equal(wndl_cursor_uleb(&r->c), 12);
    say_fields(r, 12, "        t ");
    assert_int_equal(wndl_cursor_uleb(&r->c), WNDL_HEAP_MISSES);
    say(r, " |");
    say_fields(r, WNDL_HEAP_MISSES, "");
}

static void say_chunk(struct reader *r, uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
        size_t before;
        const char *times;
        size_t fields;
    } lists[] = {
        {WNDL_CHUNK_HPAR, "HPAR", 2, "", 4},
        {WNDL_CHUNK_HTAG, "HTAG", 2, "", 3}, /* without names */
        {WNDL_CHUNK_HOWN, "HOWN", 1, "", 2},
        {WNDL_CHUNK_HCNT, "HCNT", 2, "", 6},
        {WNDL_CHUNK_HTIM, "HTIM", 2, " t", 3},
        {WNDL_CHUNK_HLEK, "HLEK", 1, "", 4},
        {WNDL_CHUNK_HGRO, "HGRO", 1, "", 9},
        {WNDL_CHUNK_HWRO, "HWRO", 1, "", 4},
        {WNDL_CHUNK_HMIX, "HMIX", 1, "", 6},
        {WNDL_CHUNK_HTOG, "HTOG", 1, "", 3},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (lists[i].type != type)
            continue;
        say(r, "%s", lists[i].name);
        say_list(r, lists[i].before, lists[i].times, lists[i].fields);
        say(r, "\n");
    }
    if (type == WNDL_CHUNK_HEAP) {
        say(r, "HEAP");
        say_fields(r, 3, "");
        say(r, "\n");
    } else if (type == WNDL_CHUNK_HSNP) {
        say(r, "HSNP");
        say_snapshot(r);
        say(r, "\n");
    }
}

static void read_back(struct bench *b)
{
    struct wndl_file file;
    struct wndl_chunk_reader chunks;
    struct wndl_chunk chunk;
    struct reader r = {.text = b->text};
    assert_int_equal(wndl_file_open(b->path, &file, NULL), WNDL_OK);
    assert_int_equal(
        wndl_chunk_reader_init(&chunks, file.bytes, NULL), WNDL_OK);
    while (wndl_chunk_next(&chunks, &chunk)) {
        r.c = wndl_cursor_at(chunk.payload, 0, false);
        say_chunk(&r, chunk.type);
        assert_false(r.c.failed);
    }
    assert_false(chunks.cut);
    assert_int_equal(chunks.damaged, 0);
    wndl_file_close(&file);
}

void finish(struct bench *b)
{
    const struct wndl_recording_done done = {.processes = 1};
    wndl_collector_process_end(b->process, WNDL_ENDED_EXIT);
    wndl_collector_process_free(b->process);
    assert_int_equal(wndl_recording_close(&b->recording, &done, NULL), WNDL_OK);
    wndl_recording_free(&b->recording);
    close(b->fd);
    read_back(b);
    unlink(b->path);
    munmap(b->memory, b->layout.size);
}

void drain(struct bench *b)
{
    wndl_collector_process_drain(b->process, false);
}
