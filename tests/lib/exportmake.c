/* SPDX-License-Identifier: MIT */
/*
 * exportmake FORMAT OUT RECIPE NAMES [TIME]: the recording of a recipe
 * (recipe.h) in a format of other tools, its frames named as NAMES says
 * (named.h), for a time: 0 cpu, 1 blocked, 2 wall. What is called hostileN
 * gets the N-th name that no compiler would make.
 */
#include "named.h"

#include "analyze/view/findings.h"
#include "cli/report/export_formats.h"
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

/* With a line break, which would end callgrind's line. */
static void rename_command(struct wndl_profile *p)
{
    static const uint8_t option[] = "--fast\n<b>";
    static struct wndl_bytes words[] = {
        {(const uint8_t *)"app", 3}, {option, sizeof option - 1}};
    p->arguments.data = words;
    p->arguments.len = sizeof words / sizeof words[0];
}

static bool write_exported(
    FILE *out, const char *name, struct named *n, enum wndl_time time)
{
    static const char *const no_filters[] = {NULL};
    const struct wndl_export_format *format = wndl_export_find(name);
    struct wndl_export_job job = {
        .symbolized = &n->symbolized,
        .exported = {.symbolized = &n->symbolized,
            .of_heap = n->profile.samples.len == 0,
            .has_freed = true,
            .time = time,
            .set = WNDL_HEAP_SET_ALL},
        .heaps = {.set = WNDL_HEAP_SET_ALL,
            .grouping = {.max_frames = UINT32_MAX, .filters = no_filters}},
        .collapses_cycles = true,
    };
    if (strcmp(name, "callgrind") == 0)
        rename_command(&n->profile);
    return format != NULL && wndl_export_write(out, format, &job);
}

static bool write_format(
    FILE *out, const char *format, struct named *n, enum wndl_time time)
{
    return strcmp(format, "view") == 0 ? write_view(out, n)
                                       : write_exported(out, format, n, time);
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
