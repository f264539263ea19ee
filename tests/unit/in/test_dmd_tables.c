/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/dmd_tables.h"

static const char golden[] =
    "{\"version\": 5,\n"
    "\"invocation\": {\"mode\": \"l]ive\\\"}\", \"x\": [1, {}]},\n"
    "\"blockList\": [{\"req\": 1}],\n"
    "\"traceTable\": {\"A\": [\"B\", \"C\"], \"D\": []},\n"
    "\"frameTable\": {\"B\": \"#00: a\\\"b\",\n \"C\" :\"\"} }\n";

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void both_tables_are_read(void **state)
{
    (void)state;
    struct wndl_arena arena;
    struct wndl_dmd_tables tables;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(
        wndl_dmd_tables_read(bytes_of(golden), &arena, &tables, NULL), WNDL_OK);
    assert_int_equal(tables.frames.len, 2);
    const struct wndl_dmd_frame *frame = tables.frames.data;
    assert_true(wndl_bytes_is(frame[0].id, "B"));
    assert_memory_equal(golden + frame[0].key, "\"B\"", 3);
    assert_int_equal(frame[0].text_end - frame[0].text, 9);
    assert_memory_equal(golden + frame[0].text, "#00: a\\\"b", 9);
    assert_true(wndl_bytes_is(frame[1].id, "C"));
    assert_int_equal(frame[1].text_end, frame[1].text);
    assert_int_equal(tables.uses.len, 2);
    const struct wndl_dmd_use *use = tables.uses.data;
    assert_true(wndl_bytes_is(use[0].id, "B"));
    assert_true(wndl_bytes_is(use[1].id, "C"));
    assert_memory_equal(golden + use[1].at, "\"C\"", 3);
    wndl_arena_free(&arena);
}

static void damage_is_told_with_its_offset(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum wndl_status status;
        uint64_t offset;
    } wrong[] = {
        {"", WNDL_TRUNCATED, 0},
        {"[1]", WNDL_MALFORMED, 0},
        {"{1: 2}", WNDL_MALFORMED, 1},
        {"{\"a\" 2}", WNDL_MALFORMED, 5},
        {"{\"a\": 2]", WNDL_MALFORMED, 7},
        {"{\"frameTable\": []}", WNDL_MALFORMED, 15},
        {"{\"frameTable\": {\"A\": 1}}", WNDL_MALFORMED, 21},
        {"{\"traceTable\": {\"A\": \"B\"}}", WNDL_MALFORMED, 21},
        {"{\"traceTable\": {\"A\": [1]}}", WNDL_MALFORMED, 22},
        {"{\"traceTable\": {\"A\": [\"B\" \"C\"]}}", WNDL_MALFORMED, 26},
        {"{\"a\": \"b\\\"}", WNDL_TRUNCATED, 11},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wndl_arena arena;
        struct wndl_dmd_tables tables;
        struct wndl_error err = {0};
        wndl_arena_init(&arena, wndl_mem_libc());
        assert_int_equal(wndl_dmd_tables_read(
                             bytes_of(wrong[i].text), &arena, &tables, &err),
            wrong[i].status);
        assert_string_equal(err.section, "JSON");
        assert_int_equal(err.offset, wrong[i].offset);
        wndl_arena_free(&arena);
    }
}

static void parse(struct wndl_bytes prefix, void *context)
{
    struct wndl_arena arena;
    struct wndl_dmd_tables tables;
    struct wndl_error err = {0};
    bool whole = prefix.size >= sizeof golden - 2; /* but for a line end */
    (void)context;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_int_equal(wndl_dmd_tables_read(prefix, &arena, &tables, &err),
        whole ? WNDL_OK : WNDL_TRUNCATED);
    wndl_arena_free(&arena);
    size_t header = (size_t)(strstr(golden, "ation") - golden) + 6;
    assert_int_equal(wndl_dmd_guess(prefix),
        prefix.size < header ? WNDL_DMD_TOO_SHORT : WNDL_DMD_YES);
}

static void a_file_cut_anywhere_is_truncated(void **state)
{
    (void)state;
    for_each_truncation(bytes_of(golden), parse, NULL);
}

static void other_json_is_told_at_once(void **state)
{
    (void)state;
    static const char *const others[] = {"[", "#01: x\n", "{}", "{\"a",
        "{\"version\": 5, \"a\"", "{\"a\"", "{\"version\": 5}",
        "{\"invocation\": 5}", "{\"version\" 5", "{\"version\": 5, 7",
        "{\"a\": 1, \"version\": 5, \"invocation\": 1}",
        "{\"version\": 5, \"a\": {\"frameTable\": {}}}",
        "{\"version\": 5, \"version\": \"invocation\"}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(wndl_dmd_guess(bytes_of(others[i])),
            i == 3 || i == 4 ? WNDL_DMD_TOO_SHORT : WNDL_DMD_NO);
    static uint8_t blanks[8192];
    memset(blanks, ' ', sizeof blanks);
    assert_int_equal(wndl_dmd_guess((struct wndl_bytes){blanks, sizeof blanks}),
        WNDL_DMD_NO);
}

static void keys_may_come_in_any_order(void **state)
{
    (void)state;
    static const char *const files[] = {
        "{\"version\": 5, \"a\": [{}, \"}\"], \"invocation\"",
        "{\"invocation\": {\"mode\": \"live\"}, \"version\"",
        "{\"version\": 5, \"frameTable\"", "{\"traceTable\"",
        "{\"blockList\": ["};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_int_equal(wndl_dmd_guess(bytes_of(files[i])), WNDL_DMD_YES);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        struct failing_mem heap;
        struct wndl_arena arena;
        struct wndl_dmd_tables tables;
        failing_mem_init(&heap, budget);
        wndl_arena_init(&arena, &heap.mem);
        status = wndl_dmd_tables_read(bytes_of(golden), &arena, &tables, NULL);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        wndl_arena_free(&arena);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_tables_are_read),
        cmocka_unit_test(damage_is_told_with_its_offset),
        cmocka_unit_test(a_file_cut_anywhere_is_truncated),
        cmocka_unit_test(other_json_is_told_at_once),
        cmocka_unit_test(keys_may_come_in_any_order),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests_name("dmd_tables", tests, NULL, NULL);
}
