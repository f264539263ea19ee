/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/line.h"
#include "os/own_memory.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void memory_is_read_as_far_as_it_is_there(void **state)
{
    (void)state;
    struct wndl_own_memory memory = {0};
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t got[16] = {0};
    memset(pages, 7, 3 * PAGE);
    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
    uint64_t at = (uintptr_t)pages;
    assert_true(wndl_own_memory_read(&memory, at + PAGE - 8, got, 16));
    assert_int_equal(got[0] + got[15], 14);
    assert_true(wndl_own_memory_read(&memory, at + 2 * PAGE - 16, got, 16));
    assert_false(wndl_own_memory_read(&memory, at + 2 * PAGE - 15, got, 16));
    assert_false(wndl_own_memory_read(&memory, at + 2 * PAGE, got, 1));
    munmap(pages, 3 * PAGE);
}

static void addresses_that_are_none_are_not_read(void **state)
{
    (void)state;
    uint8_t got[8];
    const uint64_t none[] = {0, 8, UINT64_MAX, UINT64_MAX - 7, UINTPTR_MAX - 3,
        UINT64_C(0x8000000000000000), UINT64_C(0xffffffffff600000)};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct wndl_own_memory memory = {0};
        assert_false(wndl_own_memory_read(&memory, none[i], got, sizeof got));
    }
}

static void a_line_is_written_whole(void **state)
{
    (void)state;
    int ends[2];
    char got[4096];
    struct wndl_line line;
    assert_int_equal(pipe(ends), 0);
    wndl_line_init(&line, ends[1]);
    wndl_line_char(&line, '#');
    wndl_line_decimal(&line, 7, 2);
    wndl_line_foreign(&line, " a\nb\x7f");
    wndl_line_hex(&line, UINT64_MAX);
    wndl_line_hex(&line, 0);
    wndl_line_decimal(&line, UINT64_MAX, 1);
    wndl_line_end(&line);
    const char expected[] = "#07 a?b?0xffffffffffffffff0x018446744073709551615"
                            "\n";
    assert_int_equal(read(ends[0], got, sizeof got), sizeof expected - 1);
    assert_memory_equal(got, expected, sizeof expected - 1);
    for (int i = 0; i < 2000; i++)
        wndl_line_char(&line, 'x');
    wndl_line_end(&line);
    assert_int_equal(read(ends[0], got, sizeof got), 2001);
    assert_int_equal(got[2000], '\n');
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_read_as_far_as_it_is_there),
        cmocka_unit_test(addresses_that_are_none_are_not_read),
        cmocka_unit_test(a_line_is_written_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
