/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "snapshot/call.h"

#include <elf.h>

static void calls_are_named_by_machine(void **state)
{
    (void)state;
    assert_string_equal(wndl_call_name(EM_X86_64, 0), "read");
    assert_string_equal(wndl_call_name(EM_X86_64, 232), "epoll_wait");
    assert_string_equal(wndl_call_name(EM_386, 3), "read");
    assert_string_equal(wndl_call_name(EM_386, 168), "poll");
}

static void other_numbers_have_no_name(void **state)
{
    (void)state;
    assert_null(wndl_call_name(EM_X86_64, 400));
    assert_null(wndl_call_name(EM_X86_64, UINT64_MAX));
    assert_null(wndl_call_name(EM_386, 1u << 20));
    assert_null(wndl_call_name(EM_AARCH64, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_named_by_machine),
        cmocka_unit_test(other_numbers_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
