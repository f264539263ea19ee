/* SPDX-License-Identifier: MIT */
/*
 * exportmake FORMAT OUT RECIPE NAMES [TIME]: the recording of a recipe
 * (recipe.h) in a format of other tools, its frames named as NAMES says
 * (named.h), for a time: 0 cpu, 1 blocked, 2 wall. What is called hostileN
 * gets the N-th name that no compiler would make.
 */
#include "named.h"

#include "analyze/callgraph/callgraph.h"
#include "analyze/heap/blocks.h"
#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "analyze/view/findings.h"
#include "out/callgrind.h"
#include "out/dhat.h"
#include "out/dmd_json.h"
#include "out/firefox/firefox.h"
#include "out/folded.h"
#include "out/pprof.h"
#include "out/report_json/heap.h"
#include "out/report_json/report_json.h"
#include "out/speedscope.h"
#include "out/view/view.h"
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const hostile[] = {
    "<script>alert('x')</script>",
    "quote\" back\\slash 'single' &amp; <!-- ${x} `y`",
    "tab\tnewline\nreturn\r escape\x1b[31m bell\a delete\x7f",
    "semi;colon;(fn) 12",
    "bad \xff\xc3( \xed\xa0\x80 utf\xf8\x88",
    "\xe2\x80\xae backwards \xf0\x9f\xa6\x8a </pre></body>",
    "__proto__",
};

enum { HOSTILE = sizeof hostile / sizeof hostile[0], LONG = 100 * 1000 };

/* The one after those is a very long one. */
static uint32_t hostile_name(struct wndl_symbolized *s, unsigned number)
{
    uint32_t id;
    if (number < HOSTILE) {
        assert_true(wndl_symbolized_text(s, hostile[number], &id));
        return id;
    }
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    memset(text, 'x', LONG);
    memcpy(text, "long<", 5);
    text[LONG] = '\0';
    assert_true(wndl_symbolized_text(s, text, &id));
    free(text);
    return id;
}

static void rename_hostile(struct wndl_symbolized *s)
{
    static const char prefix[] = "hostile";
    for (size_t i = 0; i < s->functions.len; i++) {
        struct wndl_function *f = wndl_vec_at(&s->functions, i);
        const char *name = wndl_intern_text(&s->strings, f->name);
        if (strncmp(name, prefix, sizeof prefix - 1) == 0)
            f->name = hostile_name(s, (unsigned)atoi(name + sizeof prefix - 1));
    }
}

static const char *const no_filters[] = {NULL};
static const struct wndl_heap_choice all = {
    .set = WNDL_HEAP_SET_ALL,
    .grouping = {.max_frames = UINT32_MAX, .filters = no_filters},
};

static bool write_callgrind(FILE *out, struct named *n, enum wndl_time time)
{
    static const char command[] = "app --fast\n<b>";
    struct wndl_symbolized *s = &n->symbolized;
    struct wndl_callgraph g;
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    enum wndl_status status = n->profile.samples.len == 0
                                  ? wndl_callgraph_add_heap(&g, s, &all, true)
                                  : wndl_callgraph_add_time(&g, s, time);
    bool whole =
        status == WNDL_OK && wndl_callgraph_finish(&g, true) &&
        wndl_callgrind_write(out, &g,
            (struct wndl_bytes){(const uint8_t *)command, sizeof command - 1},
            wndl_mem_libc());
    wndl_callgraph_free(&g);
    return whole;
}

static bool write_dmd(FILE *out, struct named *n)
{
    struct wndl_heap_list list;
    assert_true(wndl_heap_list_init(&list, wndl_mem_libc()));
    bool whole = wndl_heap_list_fill(&list, &n->symbolized, &all) &&
                 wndl_dmd_json_write(out, &list, false, wndl_mem_libc());
    wndl_heap_list_free(&list);
    return whole;
}

static bool fill_json(
    struct wndl_buf *text, struct wndl_symbolized *s, enum wndl_time time)
{
    const struct wndl_json_layout layout = {
        .max_rows = SIZE_MAX, .marks = true};
    struct wndl_report report;
    bool whole =
        wndl_report_fill(&report, s, WNDL_BY_FUNCTION, time, wndl_mem_libc()) &&
        wndl_calltree_build(&report.tree, s, WNDL_TREE_FOR_READING, time);
    if (whole)
        wndl_report_json(&report, &layout, text);
    wndl_report_free(&report);
    return whole;
}

static bool fill_json_heap(struct wndl_buf *text, struct wndl_symbolized *s)
{
    struct wndl_heap_report report;
    bool whole = wndl_heap_report_fill(&report, s, &all, wndl_mem_libc());
    if (whole)
        wndl_report_json_heap(&report, SIZE_MAX, text);
    wndl_heap_report_free(&report);
    return whole;
}

static bool write_json(FILE *out, struct named *n, enum wndl_time time)
{
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    bool whole = n->profile.samples.len == 0
                     ? fill_json_heap(&text, &n->symbolized)
                     : fill_json(&text, &n->symbolized, time);
    whole = whole && !text.failed &&
            fwrite(text.data, 1, text.size, out) == text.size;
    wndl_buf_free(&text);
    return whole;
}

static bool write_folded(FILE *out, struct named *n, enum wndl_time time)
{
    struct wndl_arena arena;
    struct wndl_calltree tree;
    struct wndl_symbolized *s = &n->symbolized;
    bool heap = n->profile.samples.len == 0;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    bool whole =
        (heap ? wndl_calltree_build_heap(&tree, s, &all, true)
              : wndl_calltree_build(&tree, s, WNDL_TREE_FOR_FOLDING, time)) &&
        wndl_folded_write(out, &tree, &s->strings,
            heap ? 1 : n->profile.interval, wndl_mem_libc());
    wndl_arena_free(&arena);
    return whole;
}

static bool write_view(FILE *out, struct named *n)
{
    static const char page[] = "<p>" WNDL_VIEW_MARKER "</p>\n";
    struct wndl_arena arena;
    struct wndl_vec findings;
    wndl_arena_init(&arena, wndl_mem_libc());
    bool whole = wndl_view_findings(&findings, &n->symbolized, &arena);
    const struct wndl_viewed view = {
        .recordings = {{.file = "made/app.wndl",
            .symbolized = &n->symbolized,
            .findings = &findings}},
        .count = 1,
        .page = {(const uint8_t *)page, sizeof page - 1},
    };
    whole = whole && wndl_view_write(out, &view, wndl_mem_libc());
    wndl_arena_free(&arena);
    return whole;
}

static bool write_format(
    FILE *out, const char *format, struct named *n, enum wndl_time time)
{
    const struct wndl_exported e = {
        .symbolized = &n->symbolized,
        .of_heap = n->profile.samples.len == 0,
        .tells_gone = true,
        .time = time,
        .set = WNDL_HEAP_SET_ALL,
    };
    if (strcmp(format, "folded") == 0)
        return write_folded(out, n, time);
    if (strcmp(format, "callgrind") == 0)
        return write_callgrind(out, n, time);
    if (strcmp(format, "json") == 0)
        return write_json(out, n, time);
    if (strcmp(format, "dmd") == 0)
        return write_dmd(out, n);
    if (strcmp(format, "pprof") == 0)
        return wndl_pprof_write(out, &e, wndl_mem_libc());
    if (strcmp(format, "speedscope") == 0)
        return wndl_speedscope_write(out, &e, wndl_mem_libc());
    if (strcmp(format, "firefox") == 0)
        return wndl_firefox_write(out, &e, wndl_mem_libc());
    if (strcmp(format, "dhat") == 0)
        return wndl_dhat_write(out, &e, wndl_mem_libc());
    if (strcmp(format, "view") == 0)
        return write_view(out, n);
    return false;
}

static char *read_text(const char *path)
{
    struct wndl_bytes file = read_whole_file(path);
    char *text = malloc(file.size + 1);
    assert_non_null(text);
    memcpy(text, file.data, file.size);
    text[file.size] = '\0';
    free((void *)file.data);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    struct named n;
    char *recipe = read_text(argv[3]), *names = read_text(argv[4]);
    named_cook(&n, recipe, names);
    rename_hostile(&n.symbolized);
    FILE *out = fopen(argv[2], "wb");
    assert_non_null(out);
    bool whole = write_format(
        out, argv[1], &n, argc > 5 ? (enum wndl_time)atoi(argv[5]) : 0);
    whole = fclose(out) == 0 && whole;
    named_free(&n);
    free(recipe);
    free(names);
    return whole ? 0 : 1;
}
