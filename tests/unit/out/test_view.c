/* SPDX-License-Identifier: MIT */
/* What is merged for a page, and what its writer must do. */
#include "testlib.h"

#include "analyze/view/findings.h"
#include "analyze/view/sources.h"
#include "base/json_read.h"
#include "named.h"
#include "out/view/view.h"

#include <stdio.h>
#include <stdlib.h>

static const char earlier[] =
    "meta 1000000 1 0 h / app\n"
    "process 0 1 /usr/bin/app app\n"
    "image /usr/bin/app a1b2\nimage /old/lib.so c3\nimage /a/x.so -\n"
    "image /b/x.so -\n"
    "thread 0 1 app\n"
    "sample 0 1 0 1:40!\n"
    "sample 0 2 0 0:10 0:20 1:40!\nsample 0 1 0 0:10 0:30! 2:50 3:50\n"
    "mark 0 0 0 began\n"
    "heap 0 1 0\n"
    "site 0 0 100 12 0:10 0:20\nsite 0 2 10 6 0:30\n"
    "live 0 0 0 0 500 112 1\n"
    "snapshot 0 0 - 4 2 230 256 128 0 1 300 100\n"
    "counts 0 0 2 1 2 0 900 1 2 1 1 1 50\n"
    "leaks 0 0 1 0 0\n"
    "done 0 0\n";

/* The same code elsewhere in the same modules, in another order. */
static const char later[] =
    "meta 1000000 1 0 h / app\n"
    "process 0 1 /usr/bin/app app\n"
    "image /new/lib.so d4\nimage /usr/bin/app e5\n"
    "image /c/x.so -\n"
    "thread 0 1 app\nthread 0 2 worker\n"
    "sample 1 1 0 1:110 1:120 0:140!\nsample 0 1 0 1:110\n"
    "done 0 0\n";

static const char names[] = "10 main m.c 1\n110 main m.c 1\n"
                            "20 f m.h 2 g m.c 3\n120 f m.h 2 g m.c 3\n"
                            "30 h m.c 4\n"
                            "40 l l.c 5\n140 l l.c 5\n"
                            "50 same x.c 6\n";

static const char page[] = "<p>" WNDL_VIEW_MARKER "</p>";

static void assert_same_place(const struct wndl_symbolized *a,
    const struct wndl_location *x, const struct wndl_symbolized *b,
    const struct wndl_location *y)
{
    const struct wndl_function *f = wndl_vec_at(&a->functions, x->function);
    const struct wndl_function *g = wndl_vec_at(&b->functions, y->function);
    assert_string_equal(wndl_intern_text(&a->strings, f->name),
        wndl_intern_text(&b->strings, g->name));
    assert_string_equal(wndl_intern_text(&a->strings, f->file),
        wndl_intern_text(&b->strings, g->file));
    assert_string_equal(wndl_intern_text(&a->strings, x->file),
        wndl_intern_text(&b->strings, y->file));
    assert_int_equal(x->line, y->line);
}

/* Each leaf of a recording has its innermost function there, too. */
static void assert_places_kept(
    const struct wndl_merged *m, size_t part, const struct named *n)
{
    const struct wndl_symbolized *s = &n->symbolized;
    for (size_t i = 0; i < n->profile.samples.len; i++) {
        const struct wndl_sample *sample = wndl_vec_at(&n->profile.samples, i);
        const struct wndl_node *from =
            wndl_vec_at(&n->profile.nodes, sample->node);
        const struct wndl_node *to =
            wndl_vec_at(&m->profile.nodes, m->parts[part].nodes[sample->node]);
        assert_same_place(s,
            wndl_symbolized_location(s, wndl_vec_at(&s->spans, from->frame), 0),
            &m->symbolized, wndl_vec_at(&m->symbolized.locations, to->frame));
    }
}

static void what_is_called_the_same_is_one(void **state)
{
    (void)state;
    struct named a, b;
    struct wndl_merged m;
    named_cook(&a, earlier, names);
    named_cook(&b, later, names);
    assert_true(wndl_merged_init(&m, wndl_mem_libc()));
    assert_true(wndl_merged_add(&m, &a.symbolized));
    const size_t modules = m.symbolized.modules.len;
    const size_t nodes = m.profile.nodes.len;
    const size_t functions = m.symbolized.functions.len;
    /* Modules of one recording are all its own, though called the same. */
    assert_int_equal(modules, a.symbolized.modules.len);
    assert_int_equal(functions, 7);
    assert_int_equal(nodes, 1 + 1 + 4 + 3 + 1);
    assert_true(wndl_merged_add(&m, &b.symbolized));
    assert_int_equal(m.symbolized.modules.len, modules);
    assert_int_equal(m.symbolized.functions.len, functions);
    assert_int_equal(m.profile.nodes.len, nodes);
    const struct wndl_sample *old = a.profile.samples.data;
    const struct wndl_sample *new = b.profile.samples.data;
    assert_int_equal(
        m.parts[0].nodes[old[1].node], m.parts[1].nodes[new[0].node]);
    assert_int_equal(m.parts[0].modules[1], m.parts[1].modules[0]);
    assert_int_equal(m.parts[0].modules[2], m.parts[1].modules[2]);
    assert_places_kept(&m, 0, &a);
    assert_places_kept(&m, 1, &b);
    wndl_merged_free(&m);
    named_free(&b);
    named_free(&a);
}

static bool is_written(const struct named n[2], struct wndl_mem *mem, FILE *out)
{
    struct wndl_arena arena;
    struct wndl_vec findings[2], sources[2];
    struct wndl_viewed view = {
        .count = 2, .page = {(const uint8_t *)page, sizeof page - 1}};
    static const char *const no_maps[] = {NULL};
    bool whole = true;
    wndl_arena_init(&arena, mem);
    for (size_t i = 0; i < 2 && whole; i++) {
        whole =
            wndl_view_findings(&findings[i], &n[i].symbolized, &arena) &&
            wndl_view_sources(&sources[i], &n[i].symbolized, no_maps, &arena);
        view.recordings[i] = (struct wndl_view_recording){
            .file = "a.wndl",
            .symbolized = &n[i].symbolized,
            .findings = &findings[i],
            .sources = &sources[i],
        };
    }
    whole = whole && wndl_view_write(out, &view, mem);
    wndl_arena_free(&arena);
    return whole;
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    struct named n[2];
    bool whole = false;
    named_cook(&n[0], earlier, names);
    named_cook(&n[1], later, names);
    for (long budget = 0; !whole; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        FILE *out = tmpfile();
        assert_non_null(out);
        whole = is_written(n, &mem.mem, out);
        assert_int_equal(mem.live, 0);
        assert_int_equal(fclose(out), 0);
        assert_true(budget > 0 || !whole);
    }
    named_free(&n[1]);
    named_free(&n[0]);
}

/* What a page of one recording holds, as a string that the caller frees. */
static char *written(const char *recipe)
{
    struct named n;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    named_cook(&n, recipe, names);
    const struct wndl_viewed view = {
        .recordings = {{.file = "<\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa>.wndl",
            .symbolized = &n.symbolized}},
        .count = 1,
        .page = {(const uint8_t *)page, sizeof page - 1},
    };
    assert_true(wndl_view_write(out, &view, wndl_mem_libc()));
    assert_int_equal(fclose(out), 0);
    named_free(&n);
    return text;
}

static enum wndl_status no_more(
    void *context, struct wndl_bytes *piece, struct wndl_error *err)
{
    struct wndl_bytes *left = context;
    (void)err;
    *piece = *left;
    *left = (struct wndl_bytes){0};
    return WNDL_OK;
}

static void assert_object(const char *text, size_t size)
{
    struct wndl_bytes left = {(const uint8_t *)text, size};
    struct wndl_json_reader r;
    wndl_json_begin(&r, no_more, &left, wndl_mem_libc(), NULL);
    assert_true(wndl_json_enter(&r, '{', "an object"));
    do {
        (void)wndl_json_read_key(&r);
        wndl_json_skip(&r);
    } while (wndl_json_another(&r, '}'));
    wndl_json_expect_end(&r);
    assert_int_equal(r.status, WNDL_OK);
    wndl_json_end(&r);
}

static void head_is_one_value_with_all_of_a_recording(void **state)
{
    (void)state;
    static const char start[] = "id=\"windlass-head\">";
    static const char *const parts[] = {
        "\"tid\":1,", "\"name\":\"app\"", "\"sampled\":false", "\"heaps\":["};
    char *text = written(earlier);
    char *head = strstr(text, start);
    assert_non_null(head);
    head += sizeof start - 1;
    char *end = strstr(head, "</script>");
    assert_non_null(end);
    assert_object(head, (size_t)(end - head));
    *end = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(head, parts[i]));
    free(text);
}

static void nothing_in_the_head_is_of_the_page(void **state)
{
    (void)state;
    char *text = written("meta 0 0 0 h / app\ndone 0 0\n");
    static const char start[] =
        "<p><script type=\"application/json\" id=\"windlass-head\">{";
    assert_memory_equal(text, start, sizeof start - 1);
    assert_non_null(
        strstr(text, "\"file\":\"\\u003c\\u2028\\u2029\xe2\x80\xaa>.wndl\""));
    assert_non_null(strstr(text, "</script></p>"));
    free(text);
}

static void long_times_are_still_exact(void **state)
{
    (void)state;
    char *text = written("meta 1000000 1 0 h / app\nprocess 0 1 /app app\n"
                         "image /app -\nthread 0 1 app\nsample 0 1 0 0:10\n"
                         "wait 4294967000000\nsample 0 1 0 0:10\ndone 0 0\n");
    assert_non_null(
        strstr(text, "\"samples.time\",\"type\":\"f64\",\"delta\":true"));
    assert_non_null(strstr(text, "\"samples.cpu\",\"type\":\"u32\""));
    free(text);
}

/* By the processes of the page, and all of them. */
static void sizes_are_in_the_page(void **state)
{
    (void)state;
    struct named n[2];
    named_cook(&n[0], earlier, names);
    named_cook(&n[1], later, names);
    for (uint64_t i = 0; i < 3; i++) {
        struct wndl_size *size = wndl_vec_push(&n[1].profile.sizes);
        assert_non_null(size);
        *size = (struct wndl_size){.time = i, .resident = i << 32};
    }
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(is_written(n, wndl_mem_libc(), out));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"sizes.process\",\"type\":\"u32\""));
    assert_non_null(strstr(text, "\"sizes.resident\",\"type\":\"f64\""));
    free(text);
    named_free(&n[1]);
    named_free(&n[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_called_the_same_is_one),
        cmocka_unit_test(every_failed_allocation_is_told),
        cmocka_unit_test(head_is_one_value_with_all_of_a_recording),
        cmocka_unit_test(nothing_in_the_head_is_of_the_page),
        cmocka_unit_test(long_times_are_still_exact),
        cmocka_unit_test(sizes_are_in_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
