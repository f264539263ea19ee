/* SPDX-License-Identifier: MIT */
/* Names of the kernel's code, from lines like those of /proc/kallsyms. */
#include "testlib.h"

#include "collect/proc/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char lines[] = "0000000000001000 A fixed_percpu_data\n"
                            "ffffffff81000000 T _text\n"
                            "ffffffff81000000 T _stext\n"
                            "ffffffff81000100 t __early\n"
                            "ffffffff81000100 t early\n"
                            "ffffffff81000100 t ___early\n"
                            "a line of no such form\n"
                            "ffffffff81000180 D data\n"
                            "ffffffff81000200 W weak\n"
                            "ffffffffa0000000 t first\t[mod]\n"
                            "ffffffffa0000040 t second\t[mod]\n"
                            "ffffffff81000300 T late";

static char path[] = "/tmp/wndl-kallsyms-XXXXXX";

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(strrchr(path, '-') + 1, "XXXXXX");
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void places_have_the_function_around_them(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        const char *name;
    } all[] = {
        {0xffffffff80ffffff, NULL},
        {0xffffffff81000000, "_text"},
        {0xffffffff810000ff, "_text"},
        {0xffffffff81000100, "early"},
        {0xffffffff81000190, "early"}, /* no code begins at data */
        {0xffffffff810001ff, "early"},
        {0xffffffff81000200, "weak"},
        {0xffffffff81000300, "late"},
        {0xffffffff81000400, "late"},
        {0xffffffffa0000001, "first [mod]"},
        {0xffffffffa0000040, "second [mod]"},
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    struct wndl_kernel_place places[COUNT] = {0};
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    for (size_t i = 0; i < COUNT; i++)
        places[i].address = all[i].address;
    write_file(lines, sizeof lines - 1);
    assert_true(wndl_kallsyms_name(path, places, COUNT, &arena));
    assert_null(places[0].name);
    for (size_t i = 1; i < COUNT; i++)
        assert_string_equal(places[i].name, all[i].name);
    wndl_arena_free(&arena);
}

static void start_of_the_code_is_that_of_text(void **state)
{
    (void)state;
    uint64_t text;
    write_file(lines, sizeof lines - 1);
    assert_true(wndl_kallsyms_text(path, &text));
    assert_true(text == 0xffffffff81000000);
    static const char hidden[] = "0000000000000000 T _text\n";
    write_file(hidden, sizeof hidden - 1);
    assert_false(wndl_kallsyms_text(path, &text));
    assert_false(wndl_kallsyms_text("/nowhere", &text));
}

static void file_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof lines; size++) {
        struct wndl_kernel_place place = {.address = 0xffffffff81000240};
        struct wndl_arena arena;
        uint64_t text;
        wndl_arena_init(&arena, wndl_mem_libc());
        write_file(lines, size);
        assert_true(wndl_kallsyms_name(path, &place, 1, &arena));
        assert_true(place.name == NULL || place.start <= place.address);
        (void)wndl_kallsyms_text(path, &text);
        wndl_arena_free(&arena);
    }
}

static void lines_of_other_forms_are_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {"", "1", "1 ", "1 T", "1 T ", " T f",
        "x T f", "1 Tf", "1T f", "11111111111111111 T f", "1 T \t[m]"};
    struct wndl_kallsym symbol;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_false(
            wndl_kallsyms_line((struct wndl_bytes){(const uint8_t *)refused[i],
                                   strlen(refused[i])},
                &symbol));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            places_have_the_function_around_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            start_of_the_code_is_that_of_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            file_may_end_anywhere, set_up, tear_down),
        cmocka_unit_test(lines_of_other_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
