/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/breakpad/breakpad.h"

#include <stdio.h>
#include <stdlib.h>

static const char golden[] =
    "MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 a program\n"
    "INFO CODE_ID D46E09D32181D47FC16B29CD9BC208BA\r\n"
    "FILE 0 /src/a b.c\n"
    "FILE 1 hg:hg.mozilla.org/central:caps/B.cpp:"
    "04c31e994f29e72dd81a7340100d12f67e48a5b4\n"
    "FILE 2 git:github.com/rust-lang/rust:library/std/src/io.rs:"
    "84c898d65adf2f39a5a98507f1fe0ce10a2b8dbc\r\n"
    "FILE 3 hg:not/shortened:x.c:84c898d65adf2f39a5a98507f1fe0ce10a2b8db\n"
    "INLINE_ORIGIN 7 innermost\n"
    "INLINE_ORIGIN 0 middle(int, char)\n"
    "FUNC 1000 20 0 outer(int)\n"
    "INLINE 0 11 0 0 1004 8 1014 4\n"
    "INLINE 1 22 1 7 1008 4\n"
    "1000 4 10 0\n"
    "1004 4 20 1\n"
    "1008 4 30 2\n"
    "100c 8 12 0\n"
    "1014 4 21 3\n"
    "FUNC m 1040 10 4 folded\r\n"
    "1040 8 5 0\r\n"
    "PUBLIC 2000 0 _start\n"
    "PUBLIC m 2010 8 other name\n"
    "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
    "STACK CFI 1001 .cfa: $rsp 16 +\n"
    "STACK WIN 4 2170 14 1 0 0 0 0 0 1 $eip 4 + ^ =\n"
    "FUNC 3000 10 0 last";

static struct wndl_breakpad *open_text(const char *text, size_t size)
{
    struct wndl_breakpad *b;
    struct wndl_error err = {0};
    const struct wndl_breakpad_source source = {
        .text = {(const uint8_t *)text, size}, .path = "a.sym"};
    assert_int_equal(
        wndl_breakpad_open(&source, wndl_mem_libc(), &b, &err), WNDL_OK);
    return b;
}

/* "innermost=FILE:LINE@START,...", "" for nothing. */
static const char *look_up(struct wndl_breakpad *b, uint64_t rva)
{
    static char text[1000];
    struct wndl_breakpad_frames frames;
    size_t size = 0;
    text[0] = '\0';
    if (wndl_breakpad_lookup(b, rva, &frames) != WNDL_OK) {
        assert_int_equal(frames.count, 0);
        return text;
    }
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_breakpad_frame *f = &frames.frames[i];
        assert_int_equal(f->inlined, i + 1 < frames.count);
        assert_int_equal(f->name.data[f->name.size], 0);
        assert_int_equal(f->file.data[f->file.size], 0);
        size += (size_t)snprintf(text + size, sizeof text - size,
            "%s%s=%s:%u@%llx", i == 0 ? "" : ",", f->name.data, f->file.data,
            f->line, (unsigned long long)f->start);
    }
    return text;
}

static void an_address_has_its_function_inlined_calls_and_lines(void **state)
{
    (void)state;
    static const struct {
        uint64_t rva;
        const char *frames;
    } expected[] = {
        {0xfff, ""},
        {0x1000, "outer(int)=/src/a b.c:10@1000"},
        {0x1003, "outer(int)=/src/a b.c:10@1000"},
        {0x1004, "middle(int, char)=caps/B.cpp:20@1004,"
                 "outer(int)=/src/a b.c:11@1000"},
        {0x100b, "innermost=library/std/src/io.rs:30@1008,"
                 "middle(int, char)=caps/B.cpp:22@1004,"
                 "outer(int)=/src/a b.c:11@1000"},
        {0x100c, "outer(int)=/src/a b.c:12@1000"},
        {0x1014, "middle(int, char)=hg:not/shortened:x.c:"
                 "84c898d65adf2f39a5a98507f1fe0ce10a2b8db:21@1004,"
                 "outer(int)=/src/a b.c:11@1000"},
        {0x101f, "outer(int)=:0@1000"},
        {0x1020, ""},
        {0x1047, "folded=/src/a b.c:5@1040"},
        {0x1048, "folded=:0@1040"},
        {0x1050, ""},
        {0x2000, "_start=:0@2000"},
        {0x200f, "_start=:0@2000"},
        {0x2fff, "other name=:0@2010"},
        {0x3000, "last=:0@3000"},
        {0x3010, ""},
        {UINT64_MAX, ""},
    };
    struct wndl_breakpad_stats stats;
    struct wndl_breakpad *b = open_text(golden, sizeof golden - 1);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_string_equal(look_up(b, expected[i].rva), expected[i].frames);
    wndl_breakpad_get_stats(b, &stats);
    assert_int_equal(stats.damaged, 0);
    wndl_breakpad_close(b);
}

static void module_tells_what_the_file_is_of(void **state)
{
    (void)state;
    struct wndl_breakpad_module module;
    struct wndl_error err = {0};
    struct wndl_bytes text = {(const uint8_t *)golden, sizeof golden - 1};
    assert_true(wndl_breakpad_is(text));
    assert_int_equal(wndl_breakpad_read_module(text, &module, &err), WNDL_OK);
    assert_true(wndl_bytes_is(module.os, "Linux"));
    assert_true(wndl_bytes_is(module.machine, "x86_64"));
    assert_true(wndl_bytes_is(module.id, "D3096ED481217FD4C16B29CD9BC208BA0"));
    assert_true(wndl_bytes_is(module.name, "a program"));
    text.size = strlen("MODULE Linux x86_64");
    assert_int_equal(
        wndl_breakpad_read_module(text, &module, &err), WNDL_MALFORMED);
    text = (struct wndl_bytes){(const uint8_t *)"\177ELF", 4};
    assert_false(wndl_breakpad_is(text));
    assert_int_equal(
        wndl_breakpad_read_module(text, &module, &err), WNDL_UNSUPPORTED);
}

static void order_does_not_matter_and_the_last_start_wins(void **state)
{
    (void)state;
    static const char text[] = "MODULE Linux x86 0 a\n"
                               "PUBLIC 90 0 second\n"
                               "PUBLIC 90 0 third\n"
                               "FUNC 50 20 0 inner\n"
                               "58 8 3 9\n"
                               "50 8 2 4\n"
                               "FUNC 40 40 0 outer\n"
                               "FUNC 60 30 0 across\n"
                               "FUNC 60 30 0 across too\n"
                               "FUNC 10 10 0 first\n"
                               "FUNC 20 0 0 without a size\n"
                               "FILE 9 nine\n"
                               "FILE 4 four\n"
                               "FILE 9 nine again\n";
    struct wndl_breakpad *b = open_text(text, sizeof text - 1);
    assert_string_equal(look_up(b, 0x1f), "first=:0@10");
    assert_string_equal(look_up(b, 0x20), "without a size=:0@20");
    assert_string_equal(look_up(b, 0x4f), "outer=:0@40");
    assert_string_equal(look_up(b, 0x50), "inner=four:2@50");
    assert_string_equal(look_up(b, 0x58), "inner=nine:3@50");
    assert_string_equal(look_up(b, 0x60), "across=:0@60");
    assert_string_equal(look_up(b, 0x8f), "across=:0@60");
    assert_string_equal(look_up(b, 0x90), "second=:0@90");
    wndl_breakpad_close(b);
}

static void what_encloses_goes_on_after_what_is_in_it(void **state)
{
    (void)state;
    static const char text[] = "MODULE Linux x86 0 a\n"
                               "FUNC 10 90 0 a\n"
                               "FUNC 20 20 0 b\n"
                               "FUNC 20 10 0 c\n"
                               "FUNC 38 28 0 d\n";
    static const struct {
        uint64_t rva;
        const char *name;
    } expected[] = {{0x10, "a=:0@10"}, {0x20, "c=:0@20"}, {0x30, "b=:0@20"},
        {0x38, "d=:0@38"}, {0x5f, "d=:0@38"}, {0x60, "a=:0@10"},
        {0x9f, "a=:0@10"}, {0xa0, ""}};
    struct wndl_breakpad *b = open_text(text, sizeof text - 1);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_string_equal(look_up(b, expected[i].rva), expected[i].name);
    wndl_breakpad_close(b);
}

static void damage_costs_the_record_and_is_counted(void **state)
{
    (void)state;
    static const char text[] = "MODULE Linux x86 0 a\n"
                               "FUNC x 10 0 no address\n"
                               "FUNC fffffffffffffff0 20 0 too long\n"
                               "FUNC 11112222333344445 20 0 too large\n"
                               "FILE 99999999999 a\n"
                               "PUBLIC\n"
                               "hello\n"
                               "FUNC 10 10 0 f\n"
                               "10 4 1 0\n"
                               "hello\n"
                               "14 4 x 0\n"
                               "INLINE 0 1 0 0 10\n"
                               "INLINE 0 1\n"
                               "18 4 7 0\n"
                               "fffffffffffffff8 10 1 1\n"
                               "FILE 0 a.c\n"
                               "FUNC 30 10\n";
    struct wndl_breakpad_stats stats;
    struct wndl_breakpad *b = open_text(text, sizeof text - 1);
    wndl_breakpad_get_stats(b, &stats);
    assert_int_equal(stats.damaged, 6);
    assert_string_equal(stats.first_damage.file, "a.sym");
    assert_true(stats.first_damage.offset == 21);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(look_up(b, 0x13), "f=a.c:1@10");
        assert_string_equal(look_up(b, 0x14), "f=:0@10");
        assert_string_equal(look_up(b, 0x18), "f=a.c:7@10");
        assert_string_equal(look_up(b, 0x30), "");
    }
    wndl_breakpad_get_stats(b, &stats);
    assert_int_equal(stats.damaged, 7);
    wndl_breakpad_close(b);
}

struct list {
    char text[400];
    size_t count;
};

static enum wndl_status note(
    void *context, const struct wndl_breakpad_function *f)
{
    struct list *list = context;
    size_t size = strlen(list->text);
    snprintf(list->text + size, sizeof list->text - size, "%llx+%llx %s\n",
        (unsigned long long)f->rva, (unsigned long long)f->size, f->name.data);
    return ++list->count == 4 ? WNDL_LIMIT : WNDL_OK;
}

static void all_functions_are_visited_until_it_is_enough(void **state)
{
    (void)state;
    struct list list = {.count = 0};
    struct wndl_breakpad *b = open_text(golden, sizeof golden - 1);
    assert_int_equal(wndl_breakpad_visit_functions(b, note, &list), WNDL_LIMIT);
    assert_string_equal(list.text, "1000+20 outer(int)\n1040+10 folded\n"
                                   "3000+10 last\n2000+0 _start\n");
    wndl_breakpad_close(b);
}

static void look_everywhere(struct wndl_bytes text, void *context)
{
    (void)context;
    struct wndl_breakpad *b;
    struct wndl_error err = {0};
    struct wndl_breakpad_frames frames;
    const struct wndl_breakpad_source source = {.text = text};
    enum wndl_status status =
        wndl_breakpad_open(&source, wndl_mem_libc(), &b, &err);
    if (status != WNDL_OK) {
        assert_true(status == WNDL_UNSUPPORTED || status == WNDL_MALFORMED);
        return;
    }
    for (uint64_t rva = 0xff0; rva < 0x3020; rva += 4)
        (void)!wndl_breakpad_lookup(b, rva, &frames);
    wndl_breakpad_close(b);
}

static void a_file_cut_anywhere_is_read(void **state)
{
    (void)state;
    struct wndl_bytes whole = {(const uint8_t *)golden, sizeof golden - 1};
    for_each_truncation(whole, look_everywhere, NULL);
}

static void memory_that_is_out_is_told(void **state)
{
    (void)state;
    struct wndl_breakpad_frames frames;
    const struct wndl_breakpad_source source = {
        .text = {(const uint8_t *)golden, sizeof golden - 1}};
    for (long budget = 0;; budget++) {
        struct failing_mem mem;
        struct wndl_breakpad *b = NULL;
        failing_mem_init(&mem, budget);
        enum wndl_status status =
            wndl_breakpad_open(&source, &mem.mem, &b, NULL);
        if (status == WNDL_OK)
            status = wndl_breakpad_lookup(b, 0x1008, &frames);
        if (b != NULL)
            wndl_breakpad_close(b);
        assert_int_equal(mem.live, 0);
        if (status == WNDL_OK)
            return;
        assert_int_equal(status, WNDL_NOMEM);
        assert_true(budget < 1000);
    }
}

/* What a hostile file is made of; all of it in time that is felt by nobody. */
static void hostile_files_are_bounded(void **state)
{
    (void)state;
    enum { SIZE = 8 << 20 };
    static const char *const parts[] = {
        "FUNC 10 ffffff 0 same\n",
        "PUBLIC 10 0 same\n",
        "FILE 1 a\n",
        "10 1 1 1\n",
        "INLINE 0 1 1 1 10 10\n",
        "INLINE 4294967295 1 1 1 10 10\n",
        " 10 10",
        "x",
        "\n",
        "INLINE_ORIGIN ",
    };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t size = (size_t)sprintf(text, "MODULE Linux x86 0 a\n"
                                            "FUNC 10 100 0 f\n"
                                            "INLINE 0 1 1 1");
        size_t part = strlen(parts[i]);
        while (size + part <= SIZE) {
            memcpy(text + size, parts[i], part);
            size += part;
        }
        struct wndl_breakpad *b = open_text(text, size);
        for (uint64_t rva = 0; rva < 1000; rva++) {
            struct wndl_breakpad_frames frames;
            (void)!wndl_breakpad_lookup(b, rva, &frames);
        }
        wndl_breakpad_close(b);
    }
    free(text);
}

static void note_give_up(void *context)
{
    ++*(int *)context;
}

static void memory_is_given_up_while_it_is_read(void **state)
{
    (void)state;
    enum { SIZE = 20 << 20 };
    static const char lines[] = "FUNC 10 10 0 f\n10 10 1 0\n";
    int given_up = 0;
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, '\n', SIZE);
    memcpy(text, "MODULE Linux x86 0 a\n", 21);
    memcpy(text + SIZE / 2, lines, sizeof lines - 1);
    struct wndl_breakpad *b;
    struct wndl_breakpad_frames frames;
    const struct wndl_breakpad_source source = {
        .text = {(const uint8_t *)text, SIZE},
        .give_up = note_give_up,
        .context = &given_up,
    };
    memset(text + SIZE / 4, 'x', SIZE / 8);
    assert_int_equal(
        wndl_breakpad_open(&source, wndl_mem_libc(), &b, NULL), WNDL_OK);
    /* Not for every line, and not only at the end. */
    assert_in_range(given_up, 2, 10);
    given_up = 0;
    assert_int_equal(wndl_breakpad_lookup(b, 0x10, &frames), WNDL_OK);
    assert_int_equal(given_up, 1);
    wndl_breakpad_close(b);
    free(text);
}

/* Each function starts in the one before and ends after it. */
static void functions_nested_without_end_are_searched_fast(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    size_t size = 100 + COUNT * 40;
    char *text = malloc(size);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "MODULE Linux x86 0 a\n");
    for (unsigned i = 0; i < COUNT; i++)
        at += (size_t)snprintf(
            text + at, size - at, "FUNC %x %x 0 f\n", i, 2 * (COUNT - i));
    struct wndl_breakpad *b = open_text(text, at);
    for (unsigned i = 0; i < COUNT; i++) {
        char expected[40];
        snprintf(expected, sizeof expected, "f=:0@%x", COUNT - 1 - i);
        assert_string_equal(look_up(b, COUNT + i), expected);
    }
    wndl_breakpad_close(b);
    free(text);
}

/* Nothing says where the image ends. */
static void the_last_public_ends_with_its_page(void **state)
{
    (void)state;
    static const char text[] = "MODULE Linux x86_64 0 a\n"
                               "PUBLIC 1160 0 last\n";
    static const char longer[] = "MODULE Linux x86_64 0 a\n"
                                 "FUNC 1000 3000 0 f\n"
                                 "PUBLIC 4800 0 last\n"
                                 "FUNC 6000 10 0 g\n";
    struct wndl_breakpad *b = open_text(text, sizeof text - 1);
    assert_string_equal(look_up(b, 0x1fff), "last=:0@1160");
    assert_string_equal(look_up(b, 0x2000), "");
    wndl_breakpad_close(b);
    b = open_text(longer, sizeof longer - 1);
    assert_string_equal(look_up(b, 0x5fff), "last=:0@4800");
    assert_string_equal(look_up(b, 0x6010), "");
    wndl_breakpad_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_public_ends_with_its_page),
        cmocka_unit_test(an_address_has_its_function_inlined_calls_and_lines),
        cmocka_unit_test(module_tells_what_the_file_is_of),
        cmocka_unit_test(order_does_not_matter_and_the_last_start_wins),
        cmocka_unit_test(what_encloses_goes_on_after_what_is_in_it),
        cmocka_unit_test(damage_costs_the_record_and_is_counted),
        cmocka_unit_test(all_functions_are_visited_until_it_is_enough),
        cmocka_unit_test(a_file_cut_anywhere_is_read),
        cmocka_unit_test(memory_that_is_out_is_told),
        cmocka_unit_test(hostile_files_are_bounded),
        cmocka_unit_test(memory_is_given_up_while_it_is_read),
        cmocka_unit_test(functions_nested_without_end_are_searched_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
