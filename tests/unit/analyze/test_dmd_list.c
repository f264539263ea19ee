/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/heap/dmd_list.h"
#include "analyze/heap/records.h"
#include "out/dmd_json.h"
#include "out/dmd_text.h"

#include <stdio.h>
#include <stdlib.h>

static const char golden[] =
    "{\"version\": 5,"
    "\"invocation\": {\"dmdEnvVar\": null, \"mode\": \"cumulative\"},"
    "\"blockList\": ["
    "{\"req\": 24, \"slop\": 8, \"alloc\": \"A\", \"num\": 3},"
    "{\"req\": 100, \"alloc\": \"B\"}, {\"req\": 7}],"
    "\"traceTable\": {\"A\": [\"F\", \"G\"], \"B\": [\"G\"]},"
    "\"frameTable\": {\"F\": \"#00: f \\\"q\\\" (a.c:1)\", \"G\": \"#00: "
    "\\u00fc\"}}";

static void fill(struct wndl_heap_list *list, struct wndl_bytes file)
{
    struct wndl_dmd_file dmd;
    struct wndl_error err = {0};
    assert_true(wndl_heap_list_init(list, wndl_mem_libc()));
    assert_int_equal(
        wndl_dmd_json_read(file, wndl_mem_libc(), &dmd, &err), WNDL_OK);
    assert_true(wndl_dmd_list_add(list, &dmd, false));
    wndl_dmd_json_free(&dmd);
}

static void write_text(const struct wndl_heap_list *list, struct wndl_buf *text)
{
    static const char *const none[] = {NULL};
    const struct wndl_heap_grouping how = {8, WNDL_HEAP_BY_USABLE, false, none};
    struct wndl_heap_records records;
    assert_true(wndl_heap_records_fill(&records, list, &how, wndl_mem_libc()));
    wndl_buf_init(text, wndl_mem_libc());
    wndl_dmd_text_records(text, &records, 1000);
    assert_false(text->failed);
    wndl_heap_records_free(&records);
}

/* In memory of malloc. */
static struct wndl_bytes written(const struct wndl_heap_list *list, bool zipped)
{
    char *data;
    size_t size;
    FILE *out = open_memstream(&data, &size);
    assert_non_null(out);
    assert_true(wndl_dmd_json_write(out, list, zipped, wndl_mem_libc()));
    assert_int_equal(fclose(out), 0);
    return (struct wndl_bytes){(const uint8_t *)data, size};
}

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    struct wndl_heap_list first;
    struct wndl_buf want;
    fill(&first, bytes_of(golden));
    write_text(&first, &want);
    for (int zipped = 0; zipped < 2; zipped++) {
        struct wndl_heap_list again;
        struct wndl_buf got;
        struct wndl_bytes file = written(&first, zipped);
        assert_int_equal(file.data[0] == 0x1f, zipped);
        fill(&again, file);
        assert_int_equal(again.mode, WNDL_HEAP_MODE_CUMULATIVE);
        write_text(&again, &got);
        assert_int_equal(got.size, want.size);
        assert_memory_equal(got.data, want.data, want.size);
        wndl_buf_free(&got);
        wndl_heap_list_free(&again);
        free((void *)file.data);
    }
    wndl_buf_free(&want);
    wndl_heap_list_free(&first);
}

static void the_json_is_as_dmd_lays_it_out(void **state)
{
    (void)state;
    static const char want[] =
        "{\n \"version\": 5,\n"
        " \"invocation\": {\"dmdEnvVar\": null, \"mode\": \"cumulative\"},\n"
        " \"blockList\": [\n"
        "  {\"req\": 24, \"slop\": 8, \"alloc\": \"C\", \"num\": 3},\n"
        "  {\"req\": 100, \"alloc\": \"B\"},\n"
        "  {\"req\": 7, \"alloc\": \"D\"}\n"
        " ],\n"
        " \"traceTable\": {\n"
        "  \"B\": [\"B\"],\n"
        "  \"C\": [\"C\", \"B\"],\n"
        "  \"D\": [\"D\"]\n"
        " },\n"
        " \"frameTable\": {\n"
        "  \"A\": \"#00: \",\n"
        "  \"B\": \"#00: \xc3\xbc\",\n"
        "  \"C\": \"#00: f \\\"q\\\" (a.c:1)\",\n"
        "  \"D\": \"#00: (no stack trace recorded due to "
        "--stacks=partial)\"\n"
        " }\n}\n";
    struct wndl_heap_list list;
    fill(&list, bytes_of(golden));
    struct wndl_bytes file = written(&list, false);
    assert_int_equal(file.size, sizeof want - 1);
    assert_memory_equal(file.data, want, file.size);
    free((void *)file.data);
    wndl_heap_list_free(&list);
}

static void a_sample_is_written_as_its_estimate(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    struct wndl_heap_blocks blocks = {.requested = 3000, .count = 3};
    assert_true(wndl_heap_list_init(&list, wndl_mem_libc()));
    blocks.weight = 4096.0 / 3000;
    assert_true(wndl_heap_list_add(&list, &blocks));
    blocks.count = -1; /* none were left */
    assert_true(wndl_heap_list_add(&list, &blocks));
    struct wndl_bytes file = written(&list, false);
    const char *row = strstr((const char *)file.data, "{\"req\"");
    assert_non_null(row);
    static const char want[] = "{\"req\": 3000, \"num\": 4}\n ]";
    assert_memory_equal(row, want, sizeof want - 1);
    free((void *)file.data);
    wndl_heap_list_free(&list);
}

static void much_is_written_in_pieces(void **state)
{
    (void)state;
    struct wndl_heap_list list, again;
    assert_true(wndl_heap_list_init(&list, wndl_mem_libc()));
    uint32_t leaf = 0;
    for (int i = 0; i < 20000; i++) {
        char text[32];
        snprintf(text, sizeof text, "f%d", i % 1000);
        assert_true(wndl_heap_list_frame(
            &list, i % 20 == 0 ? 0 : leaf, bytes_of(text), &leaf));
        struct wndl_heap_blocks blocks = {.stacks = {leaf},
            .requested = (uint64_t)i,
            .count = 1,
            .weight = 1};
        assert_true(wndl_heap_list_add(&list, &blocks));
    }
    struct wndl_bytes file = written(&list, true);
    struct wndl_buf want, got;
    fill(&again, file);
    write_text(&list, &want);
    write_text(&again, &got);
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    wndl_buf_free(&want);
    wndl_buf_free(&got);
    free((void *)file.data);
    wndl_heap_list_free(&list);
    wndl_heap_list_free(&again);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct wndl_heap_list list;
    fill(&list, bytes_of(golden));
    for (int zipped = 0; zipped < 2; zipped++) {
        bool whole = false;
        for (long budget = 0; !whole; budget++) {
            struct failing_mem heap;
            FILE *out = fopen("/dev/null", "wb");
            assert_non_null(out);
            failing_mem_init(&heap, budget);
            whole = wndl_dmd_json_write(out, &list, zipped, &heap.mem);
            fclose(out);
            assert_int_equal(heap.live, 0);
            assert_true(budget != 0 || !whole);
        }
    }
    wndl_heap_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(the_json_is_as_dmd_lays_it_out),
        cmocka_unit_test(a_sample_is_written_as_its_estimate),
        cmocka_unit_test(much_is_written_in_pieces),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests_name("dmd_list", tests, NULL, NULL);
}
