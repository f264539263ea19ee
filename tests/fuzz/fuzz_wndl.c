/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording. Its CRCs are made right first, or every change
 * would be stopped at them; what is read is then summed as a report does.
 */
#include "analyze/callgraph/callgraph.h"
#include "analyze/heap/report.h"
#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "out/callgrind.h"
#include "out/dhat.h"
#include "out/dmd_text.h"
#include "out/firefox/firefox.h"
#include "out/folded.h"
#include "out/pprof.h"
#include "out/report_json/heap.h"
#include "out/report_json/report_json.h"
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"
#include "out/speedscope.h"
#include "out/view/view.h"
#include "rec/chunk.h"
#include "rec/crc32c.h"
#include "wndl/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_crc(uint8_t *to, const uint8_t *from, size_t size)
{
    uint32_t crc = wndl_crc32c(0, from, size);
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(crc >> 8 * i);
}

static void mend(uint8_t *file, size_t size)
{
    enum { CRC_SIZE = 4 };
    size_t at = WNDL_FILE_HEADER_SIZE;
    if (size < at)
        return;
    put_crc(file + at - CRC_SIZE, file, at - CRC_SIZE);
    while (size - at >= WNDL_CHUNK_OVERHEAD) {
        uint32_t payload = 0;
        for (int i = 3; i >= 0; i--)
            payload = payload << 8 | file[at + 4 + (size_t)i];
        if (payload > size - at - WNDL_CHUNK_OVERHEAD)
            return;
        put_crc(file + at + 8 + payload, file + at, 8 + payload);
        at += payload + WNDL_CHUNK_OVERHEAD;
    }
}

/* Names enough to sum by: each frame is a function by its address. */
static bool name_frames(struct wndl_symbolized *s)
{
    for (uint32_t i = 0; i < s->profile->frames.len; i++) {
        const struct wndl_frame_key *key = wndl_vec_at(&s->profile->frames, i);
        struct wndl_function function = {
            .module = key->image == WNDL_NO_INDEX
                          ? (uint32_t)s->profile->images.len
                          : key->image};
        struct wndl_location location = {.line = 1, .inlined = key->how == 1};
        char name[2] = {(char)(key->address | 1), '\0'};
        bool fresh;
        if (!wndl_symbolized_text(s, name, &function.name) ||
            !wndl_symbolized_function(
                s, function, &location.function, &fresh) ||
            !wndl_symbolized_append(s, i, &location))
            return false;
    }
    return true;
}

static void write_all(const struct wndl_report *r)
{
    static const struct wndl_text_layout layout = {
        .width = 60, .max_rows = 9, .min_percent = 0.1};
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    static const struct wndl_text_layout marks = {.max_rows = 9, .marks = true};
    static const struct wndl_json_layout json = {.max_rows = 9, .marks = true};
    wndl_report_text(r, &layout, &out);
    wndl_report_text(r, &marks, &out);
    wndl_report_json(r, &json, &out);
    wndl_buf_free(&out);
}

static void report(
    struct wndl_symbolized *s, enum wndl_view view, enum wndl_time time)
{
    struct wndl_report r;
    if (wndl_report_fill(&r, s, view, time, wndl_mem_libc())) {
        write_all(&r);
        if (wndl_calltree_build(&r.tree, s, WNDL_TREE_FOR_READING, time))
            write_all(&r);
        if (r.tree.nodes.len != 0 &&
            wndl_calltree_at(&r.tree, 0)->total.samples != r.all.samples)
            abort();
    }
    wndl_report_free(&r);
}

static FILE *null_file(void)
{
    static FILE *null;
    if (null == NULL)
        null = fopen("/dev/null", "w");
    return null;
}

/* By heap if there is a choice of its blocks, else by time. */
static void graph(struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice, enum wndl_time time)
{
    struct wndl_callgraph g;
    static const struct wndl_bytes command = {0};
    if (!wndl_callgraph_init(&g, wndl_mem_libc()))
        return;
    enum wndl_status status = choice != NULL
                                  ? wndl_callgraph_add_heap(&g, s, choice, true)
                                  : wndl_callgraph_add_time(&g, s, time);
    if (status == WNDL_OK && wndl_callgraph_finish(&g, true) &&
        null_file() != NULL)
        (void)wndl_callgrind_write(null_file(), &g, command, wndl_mem_libc());
    wndl_callgraph_free(&g);
}

static void fold(struct wndl_symbolized *s, enum wndl_time time)
{
    FILE *null = null_file();
    struct wndl_arena arena;
    struct wndl_calltree tree;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    if (null != NULL &&
        wndl_calltree_build(&tree, s, WNDL_TREE_FOR_FOLDING, time))
        (void)wndl_folded_write(
            null, &tree, &s->strings, 1000, wndl_mem_libc());
    wndl_arena_free(&arena);
}

static void fold_heap(
    struct wndl_symbolized *s, const struct wndl_heap_choice *choice)
{
    struct wndl_arena arena;
    struct wndl_calltree tree;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    (void)wndl_calltree_build_heap(&tree, s, choice, true);
    wndl_arena_free(&arena);
}

static void report_heap(struct wndl_symbolized *s, size_t variant)
{
    static const char *const filters[] = {"!c", NULL};
    struct wndl_heap_choice choice = {
        .set = variant % 4,
        .grouping = {.max_frames = 1 + variant % 3,
            .sort = variant / 4 % 4,
            .ignore_alloc_fns = variant % 2,
            .filters = filters + variant / 16 % 2},
    };
    struct wndl_heap_report r;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    if (wndl_heap_report_fill(&r, s, &choice, wndl_mem_libc())) {
        wndl_report_text_heap(&r, 60, NULL, &out);
        wndl_dmd_text_records(&out, &r.records, 9);
        wndl_report_json_heap(&r, 9, &out);
    }
    wndl_heap_report_free(&r);
    wndl_buf_free(&out);
    fold_heap(s, &choice);
    graph(s, &choice, WNDL_TIME_CPU);
}

static void export_all(struct wndl_symbolized *s, size_t variant)
{
    FILE *null = null_file();
    const struct wndl_exported e = {
        .symbolized = s,
        .of_heap = variant % 2 != 0,
        .has_freed = variant / 2 % 2 != 0,
        .time = variant / 4 % 3,
        .set = variant / 12 % WNDL_HEAP_SETS,
    };
    if (null == NULL)
        return;
    (void)wndl_pprof_write(null, &e, wndl_mem_libc());
    (void)wndl_speedscope_write(null, &e, wndl_mem_libc());
    (void)wndl_dhat_write(null, &e, wndl_mem_libc());
    (void)wndl_firefox_write(null, &e, wndl_mem_libc());
}

/* The page of one recording, or of one that is compared with itself. */
static void view(const struct wndl_symbolized *s, size_t variant)
{
    static const char page[] = "<p>" WNDL_VIEW_MARKER "</p>";
    const struct wndl_view_recording one = {.file = "f", .symbolized = s};
    const struct wndl_viewed viewed = {
        .recordings = {one, one},
        .count = 1 + variant % 2,
        .page = {(const uint8_t *)page, sizeof page - 1},
    };
    if (null_file() != NULL)
        (void)wndl_view_write(null_file(), &viewed, wndl_mem_libc());
}

static void read_mended(struct wndl_bytes file)
{
    struct wndl_profile p;
    struct wndl_symbolized s;
    if (!wndl_profile_init(&p, wndl_mem_libc()))
        return;
    if (file.size % 5 == 0)
        p.wanted_snapshot = 0;
    p.wants_lived = file.size % 3 == 0;
    if (wndl_reader_read(&p, file, NULL) == WNDL_OK &&
        wndl_symbolized_init(&s, &p, wndl_mem_libc())) {
        if (name_frames(&s)) {
            report(&s, file.size % 4, file.size / 4 % 3);
            fold(&s, file.size / 4 % 3);
            graph(&s, NULL, file.size / 4 % 3);
            report_heap(&s, file.size);
            export_all(&s, file.size);
            view(&s, file.size);
        }
        wndl_symbolized_free(&s);
    }
    wndl_profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size == 0 ? 1 : size);
    if (file == NULL)
        return 0;
    if (size != 0)
        memcpy(file, data, size);
    mend(file, size);
    read_mended((struct wndl_bytes){file, size});
    free(file);
    return 0;
}
