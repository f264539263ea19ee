/* SPDX-License-Identifier: MIT */
/* Names in string tables: one that does not end is none, one of 64 KiB or more
 * is empty. */
#include "testlib.h"

#include "obj/core/object_impl.h"

enum { LONGEST = 64 * 1024, SIZE = LONGEST + 10 };

static uint8_t table[SIZE];

/* A table of `size` bytes with NULs at its start and at `end`. */
static struct wndl_bytes table_of(size_t size, size_t end)
{
    memset(table, 'x', sizeof table);
    table[0] = table[end] = '\0';
    return (struct wndl_bytes){table, size};
}

static void names_end_with_a_nul(void **state)
{
    (void)state;
    struct wndl_bytes name = wndl_object_name_at(table_of(20, 9), 1);
    assert_ptr_equal(name.data, table + 1);
    assert_int_equal(name.size, 8);
    name = wndl_object_name_at(table_of(20, 9), 0);
    assert_non_null(name.data);
    assert_int_equal(name.size, 0);
}

static void names_that_do_not_end_are_none(void **state)
{
    (void)state;
    assert_null(wndl_object_name_at(table_of(20, 25), 1).data);
    assert_null(wndl_object_name_at(table_of(20, 9), 20).data);
    assert_null(wndl_object_name_at(table_of(20, 9), UINT64_MAX).data);
    assert_null(wndl_object_name_at(table_of(LONGEST, LONGEST), 1).data);
}

static void long_names_are_empty(void **state)
{
    (void)state;
    const struct wndl_bytes longest = table_of(SIZE, LONGEST);
    assert_int_equal(wndl_object_name_at(longest, 1).size, LONGEST - 1);
    assert_int_equal(wndl_object_ended_name(table + 1).size, LONGEST - 1);
    const struct wndl_bytes longer = table_of(SIZE, LONGEST + 1);
    const struct wndl_bytes name = wndl_object_name_at(longer, 1);
    assert_non_null(name.data);
    assert_int_equal(name.size, 0);
    assert_int_equal(wndl_object_ended_name(table + 1).size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_end_with_a_nul),
        cmocka_unit_test(names_that_do_not_end_are_none),
        cmocka_unit_test(long_names_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
