/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "graphtext.h"

#include "analyze/callgraph/callgraph.h"
#include "out/callgrind.h"

#include <stdio.h>
#include <stdlib.h>

char *graph_text(struct wndl_callgraph *g)
{
    char *text = NULL;
    size_t size = 0;
    assert_true(wndl_callgraph_finish(g, false));
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(
        wndl_callgrind_write(out, g, (struct wndl_bytes){0}, wndl_mem_libc()));
    assert_int_equal(fclose(out), 0);
    char *at = strstr(text, "\nevents:");
    assert_non_null(at);
    memmove(text, at + 1, strlen(at));
    return text;
}

void assert_graph_read(graph_reader *read, struct wndl_bytes file,
    const char *expected, const struct wndl_damage *damage)
{
    struct wndl_callgraph g;
    struct wndl_damage found = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    if (read(&g, file, &found, &err) != WNDL_OK)
        fail_msg("%s", err.what);
    char *text = graph_text(&g);
    assert_string_equal(text, expected);
    free(text);
    wndl_callgraph_free(&g);
    assert_true(found.count == damage->count);
    assert_true(found.first == damage->first);
    if (found.count != 0)
        assert_string_equal(found.what, damage->what);
}

struct cutting {
    graph_reader *read;
    uint64_t most;
};

static void read_cut(struct wndl_bytes prefix, void *context)
{
    const struct cutting *c = context;
    struct wndl_callgraph g;
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    assert_true(wndl_callgraph_init(&g, wndl_mem_libc()));
    enum wndl_status status = c->read(&g, prefix, &damage, &err);
    if (status != WNDL_OK)
        assert_true(err.what[0] != '\0');
    assert_true(damage.count <= c->most);
    if (status == WNDL_OK)
        assert_true(wndl_callgraph_finish(&g, true));
    wndl_callgraph_free(&g);
}

static void read_without_memory(graph_reader *read, struct wndl_bytes file)
{
    for (long budget = 0;; budget++) {
        struct failing_mem mem;
        struct wndl_callgraph g;
        struct wndl_damage damage = {0};
        enum wndl_status status = WNDL_NOMEM;
        failing_mem_init(&mem, budget);
        if (wndl_callgraph_init(&g, &mem.mem)) {
            status = read(&g, file, &damage, NULL);
            wndl_callgraph_free(&g);
        }
        assert_int_equal(mem.live, 0);
        if (status == WNDL_OK)
            return;
        assert_int_equal(status, WNDL_NOMEM);
    }
}

void assert_graph_cut(graph_reader *read, struct wndl_bytes file, uint64_t most)
{
    struct cutting cutting = {read, most};
    for_each_truncation(file, read_cut, &cutting);
    read_without_memory(read, file);
}
