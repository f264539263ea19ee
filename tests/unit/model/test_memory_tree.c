/* SPDX-License-Identifier: MIT */
/* model/memory_tree.h and model/memory_reports.h. */
#include "model/memory_tree.h"

#include "testlib.h"

#include <string.h>

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void begin(struct wndl_memory_reports *reports)
{
    assert_true(wndl_memory_reports_init(reports, wndl_mem_libc()));
}

/* Adds a report of bytes of a process. */
static void add(struct wndl_memory_reports *reports, const char *process,
    const char *path, enum wndl_reported_kind kind, int64_t amount)
{
    struct wndl_reported row = {.kind = kind,
        .amount = amount,
        .path = bytes_of(path),
        .description = bytes_of("")};
    assert_true(
        wndl_intern_add(&reports->processes, bytes_of(process), &row.process));
    assert_true(wndl_memory_reports_add(reports, &row));
}

static struct wndl_reported *last_of(struct wndl_memory_reports *reports)
{
    return wndl_vec_at(&reports->rows, reports->rows.len - 1);
}

/* A process's tree, which ends with its arena. */
struct built {
    struct wndl_arena arena;
    struct wndl_memory_tree tree;
};

static void build(struct built *built,
    const struct wndl_memory_reports *reports, const char *process)
{
    uint32_t number = WNDL_MEMORY_ALL;
    for (uint32_t i = 0; i < wndl_intern_count(&reports->processes); i++)
        if (process != NULL &&
            wndl_bytes_is(wndl_intern_get(&reports->processes, i), process))
            number = i;
    wndl_arena_init(&built->arena, wndl_mem_libc());
    assert_true(
        wndl_memory_tree_build(&built->tree, reports, number, &built->arena));
}

static const struct wndl_memory_node *find(
    const struct built *built, const char *path)
{
    for (size_t i = 0; i < built->tree.nodes.len; i++) {
        const struct wndl_memory_node *node =
            wndl_vec_at(&built->tree.nodes, i);
        if (wndl_bytes_is(node->path, path))
            return node;
    }
    return NULL;
}

static int64_t amount_of(const struct built *built, const char *path)
{
    const struct wndl_memory_node *node = find(built, path);
    assert_non_null(node);
    return node->amount;
}

static void sums_parts_and_finds_what_is_missing(void **state)
{
    (void)state;
    struct wndl_memory_reports reports;
    struct built built;
    begin(&reports);
    add(&reports, "a", "explicit/x/one", WNDL_REPORTED_HEAP, 30);
    add(&reports, "a", "explicit/x/two", WNDL_REPORTED_HEAP, 20);
    add(&reports, "a", "explicit/x/two", WNDL_REPORTED_HEAP, 5);
    add(&reports, "a", "explicit/stacks", WNDL_REPORTED_NONHEAP, 7);
    add(&reports, "a", "elsewhere/y", WNDL_REPORTED_HEAP, 1000);
    add(&reports, "a", "heap-allocated", WNDL_REPORTED_OTHER, 100);
    add(&reports, "b", "explicit/x/two", WNDL_REPORTED_HEAP, 3);
    build(&built, &reports, "a");
    assert_int_equal(amount_of(&built, "explicit/heap-unclassified"), 45);
    assert_int_equal(amount_of(&built, "explicit/x/two"), 25);
    assert_int_equal(find(&built, "explicit/x/two")->reports, 2);
    assert_int_equal(amount_of(&built, "explicit/x"), 55);
    assert_int_equal(amount_of(&built, "explicit"), 107);
    const struct wndl_memory_node *root =
        wndl_memory_node_at(&built.tree, built.tree.first);
    assert_ptr_equal(root, find(&built, "explicit"));
    assert_ptr_equal(wndl_memory_node_at(&built.tree, root->first),
        find(&built, "explicit/x")); /* the largest part is the first */
    wndl_arena_free(&built.arena);
    build(&built, &reports, "b"); /* whose heap is not known */
    assert_null(find(&built, "explicit/heap-unclassified"));
    wndl_arena_free(&built.arena);
    build(&built, &reports, NULL);
    assert_int_equal(amount_of(&built, "explicit/x/two"), 28);
    assert_int_equal(amount_of(&built, "explicit/heap-unclassified"), 45);
    wndl_arena_free(&built.arena);
    wndl_memory_reports_free(&reports);
}

static void keeps_units_apart_and_what_is_estimated(void **state)
{
    (void)state;
    struct wndl_memory_reports reports;
    struct built built;
    begin(&reports);
    add(&reports, "a", "explicit/x", WNDL_REPORTED_HEAP, 4);
    add(&reports, "a", "explicit/x", WNDL_REPORTED_OTHER, 9);
    last_of(&reports)->unit = WNDL_REPORTED_COUNT;
    add(&reports, "a", "heap-allocated", WNDL_REPORTED_OTHER, 3);
    last_of(&reports)->is_estimated = true;
    build(&built, &reports, "a");
    assert_int_equal(amount_of(&built, "explicit/heap-unclassified"), -1);
    assert_true(find(&built, "explicit/heap-unclassified")->is_estimated);
    assert_true(find(&built, "explicit")->is_estimated);
    assert_false(find(&built, "explicit/x")->is_estimated);
    assert_int_equal(amount_of(&built, "explicit"), 3);
    wndl_arena_free(&built.arena);
    wndl_memory_reports_free(&reports);
}

static void survives_odd_paths_and_amounts(void **state)
{
    (void)state;
    char deep[4001];
    struct wndl_memory_reports reports;
    struct built built;
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(deep + i, "p/", 2);
    deep[4000] = '\0';
    begin(&reports);
    add(&reports, "a", deep, WNDL_REPORTED_HEAP, 1);
    add(&reports, "a", "", WNDL_REPORTED_HEAP, 2);
    add(&reports, "a", "/", WNDL_REPORTED_HEAP, 3);
    add(&reports, "a", "explicit/most", WNDL_REPORTED_HEAP, INT64_MAX);
    add(&reports, "a", "explicit/more", WNDL_REPORTED_HEAP, INT64_MAX);
    add(&reports, "a", "heap-allocated", WNDL_REPORTED_OTHER, INT64_MIN);
    build(&built, &reports, "a");
    assert_int_equal(
        built.tree.nodes.len, WNDL_MEMORY_DEPTH_MAX + 1 + 1 + 3 + 1 + 1);
    assert_true(amount_of(&built, "explicit/heap-unclassified") == INT64_MIN);
    wndl_arena_free(&built.arena);
    wndl_memory_reports_free(&reports);
}

static void replaces_what_is_private(void **state)
{
    (void)state;
    struct wndl_memory_reports reports;
    begin(&reports);
    add(&reports, "a", "x/bob/mail", WNDL_REPORTED_OTHER, 1);
    last_of(&reports)->private_parts = 2;
    add(&reports, "a", "x/public", WNDL_REPORTED_OTHER, 1);
    add(&reports, "a", "bob/alice", WNDL_REPORTED_OTHER, 1);
    last_of(&reports)->private_parts = 3;
    last_of(&reports)->description = bytes_of("of bob");
    assert_true(wndl_memory_reports_anonymize(&reports));
    const struct wndl_reported *rows = reports.rows.data;
    assert_true(wndl_bytes_is(rows[0].path, "x/<private 1>/mail"));
    assert_true(wndl_bytes_is(rows[1].path, "x/public"));
    assert_true(wndl_bytes_is(rows[2].path, "<private 1>/<private 2>"));
    assert_int_equal(rows[2].description.size, 0);
    wndl_memory_reports_free(&reports);
}

static void subtracts_by_process_and_path(void **state)
{
    (void)state;
    struct wndl_memory_reports earlier, later, difference;
    struct built built;
    begin(&earlier);
    begin(&later);
    begin(&difference);
    add(&earlier, "a (pid 1)", "explicit/x", WNDL_REPORTED_HEAP, 10);
    add(&earlier, "a (pid 1)", "explicit/gone", WNDL_REPORTED_HEAP, 4);
    add(&earlier, "a (pid 1)", "same", WNDL_REPORTED_OTHER, 4);
    add(&earlier, "a (pid 1)", "heap-allocated", WNDL_REPORTED_OTHER, 100);
    add(&later, "a (pid 23)", "explicit/x", WNDL_REPORTED_HEAP, 25);
    add(&later, "a (pid 23)", "explicit/new", WNDL_REPORTED_HEAP, 6);
    add(&later, "a (pid 23)", "same", WNDL_REPORTED_OTHER, 4);
    add(&later, "a (pid 23)", "heap-allocated", WNDL_REPORTED_OTHER, 100);
    assert_true(wndl_memory_reports_subtract(&difference, &later, &earlier));
    assert_int_equal(difference.rows.len, 4);
    build(&built, &difference, "a");
    assert_int_equal(amount_of(&built, "explicit/x"), 15);
    assert_int_equal(amount_of(&built, "explicit/gone"), -4);
    assert_int_equal(
        find(&built, "explicit/x")->presence, WNDL_REPORTED_IN_BOTH);
    assert_int_equal(
        find(&built, "explicit/gone")->presence, WNDL_REPORTED_EARLIER_ONLY);
    assert_int_equal(
        find(&built, "explicit/new")->presence, WNDL_REPORTED_LATER_ONLY);
    assert_null(find(&built, "same"));
    /* The same heap, and 17 bytes more of it are reported. */
    assert_int_equal(amount_of(&built, "explicit/heap-unclassified"), -17);
    assert_int_equal(amount_of(&built, "explicit"), 0);
    wndl_arena_free(&built.arena);
    wndl_memory_reports_free(&difference);
    wndl_memory_reports_free(&later);
    wndl_memory_reports_free(&earlier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_parts_and_finds_what_is_missing),
        cmocka_unit_test(keeps_units_apart_and_what_is_estimated),
        cmocka_unit_test(survives_odd_paths_and_amounts),
        cmocka_unit_test(replaces_what_is_private),
        cmocka_unit_test(subtracts_by_process_and_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
