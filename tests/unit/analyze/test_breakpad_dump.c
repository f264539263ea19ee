/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/binary/breakpad_dump.h"
#include "analyze/binary/breakpad_text.h"

#include <stdio.h>

#define FIXTURE(name) WNDL_BUILT_FIXTURES "/symbolize/" name

struct piece {
    uint64_t start, end;
    struct wndl_symbols answer;
};

static const struct wndl_symbol_frame plain[] = {
    {"f", "f", "a.c", 3, 1, false, 0x10, 0}};
static const struct wndl_symbol_frame other_column[] = {
    {"f", "f", "a.c", 3, 9, false, 0x10, 0}};
static const struct wndl_symbol_frame inlined[] = {
    {"in", "in", "b.c", 7, 0, true, 0x18, 0},
    {"mid", "mid", "b.c", 8, 0, true, 0x18, 0},
    {"f", "f", "a.c", 4, 0, false, 0x10, 0}};
static const struct wndl_symbol_frame mid[] = {
    {"mid", "mid", "b.c", 9, 0, true, 0x18, 0},
    {"f", "f", "a.c", 4, 0, false, 0x10, 0}};
/* The same call, elsewhere: another one by its start. */
static const struct wndl_symbol_frame again[] = {
    {"mid", "mid", "", 0, 0, true, 0x30, 0},
    {"f", "f", "a.c", 4, 0, false, 0x10, 0}};
static const struct wndl_symbol_frame twin[] = {
    {"f", "f", "", 0, 0, false, 0x40, 0}};
static const struct wndl_symbol_frame nameless[] = {
    {"", "", "a.c", 3, 0, false, 0x50, 0}};
static const struct wndl_symbol_frame split[] = {
    {"two\nlines", "", "", 0, 0, false, 0x60, 0}};

static const struct piece pieces[] = {
    {0x10, 0x14, {plain, 1}},
    {0x14, 0x18, {other_column, 1}},
    {0x18, 0x1c, {inlined, 3}},
    {0x1c, 0x20, {mid, 2}},
    {0x20, 0x24, {plain, 1}},
    {0x24, 0x28, {inlined, 3}},
    {0x30, 0x34, {again, 2}},
    {0x34, 0x38, {NULL, 0}},
    {0x40, 0x48, {twin, 1}},
    {0x50, 0x58, {nameless, 1}},
    {0x60, 0x68, {split, 1}},
};

static void pieces_become_records(void **state)
{
    (void)state;
    /* What is at 0x28 is nowhere: a function of several pieces. */
    static const char expected[] = "FUNC 10 18 0 f\n"
                                   "INLINE 0 4 1 1 18 8 24 4\n"
                                   "INLINE 1 8 2 2 18 4 24 4\n"
                                   "10 8 3 1\n"
                                   "18 4 7 2\n"
                                   "1c 4 9 2\n"
                                   "20 4 3 1\n"
                                   "24 4 7 2\n"
                                   "FUNC 30 4 0 f\n"
                                   "INLINE 0 4 1 1 30 4\n"
                                   "FUNC 40 8 0 f\n"
                                   "FUNC 60 8 0 two lines\n";
    struct wndl_arena arena;
    struct wndl_breakpad_text text;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_true(wndl_breakpad_text_init(&text, &arena, wndl_mem_libc()));
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        assert_true(wndl_breakpad_text_add(
            &text, pieces[i].start, pieces[i].end, &pieces[i].answer));
    wndl_breakpad_text_end(&text);
    wndl_buf_byte(&text.out, 0);
    assert_string_equal((const char *)text.out.data, expected);
    wndl_breakpad_text_free(&text);
    wndl_arena_free(&arena);
}

static bool count(void *context, struct wndl_bytes piece)
{
    *(size_t *)context += piece.size;
    return true;
}

/* Takes as many pieces as it is told. */
static bool refuse(void *context, struct wndl_bytes piece)
{
    int *left = context;
    return piece.size == 0 || (*left)-- > 0;
}

static void memory_that_is_out_is_told(void **state)
{
    (void)state;
    enum wndl_status status = WNDL_NOMEM;
    size_t written = 0;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem mem;
        struct wndl_breakpad_report report;
        struct wndl_error err = {0};
        failing_mem_init(&mem, budget);
        const struct wndl_breakpad_request request = {
            FIXTURE("linked/fixed"), &mem.mem, NULL, {&written, count}};
        status = wndl_breakpad_dump(&request, &report, &err);
        assert_int_equal(mem.live, 0);
        assert_int_equal(status, err.status);
        assert_true(budget < 2000);
    }
    assert_int_equal(status, WNDL_OK);
    assert_true(written > 100);
}

static void a_sink_that_refuses_ends_it(void **state)
{
    (void)state;
    enum wndl_status status = WNDL_IO;
    for (int taken = 0; status == WNDL_IO; taken++) {
        struct wndl_breakpad_report report;
        int left = taken;
        const struct wndl_breakpad_request request = {
            FIXTURE("pie"), wndl_mem_libc(), NULL, {&left, refuse}};
        status = wndl_breakpad_dump(&request, &report, NULL);
        assert_true(taken < 100);
        assert_true(status == WNDL_OK || left < 0);
    }
    assert_int_equal(status, WNDL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_records),
        cmocka_unit_test(memory_that_is_out_is_told),
        cmocka_unit_test(a_sink_that_refuses_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
