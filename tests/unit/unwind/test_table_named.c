/* SPDX-License-Identifier: MIT */
/* unwind/table/named.h: the list is read to its end and not beyond; a name
 * means a file's whole path or its last part. */
#include "testlib.h"

#include "unwind/table/named.h"

#include <stdlib.h>

static void list_is_read_in_order(void **state)
{
    static const char list[] = "libx.so\0/t/x.cuw2\0/usr/bin/app\0app.wut\0";
    struct wndl_table_named named;
    const char *at = list;
    (void)state;
    assert_true(wndl_table_named_next(&at, &named));
    assert_string_equal(named.module, "libx.so");
    assert_string_equal(named.file, "/t/x.cuw2");
    assert_true(wndl_table_named_next(&at, &named));
    assert_string_equal(named.module, "/usr/bin/app");
    assert_string_equal(named.file, "app.wut");
    assert_false(wndl_table_named_next(&at, &named));
    assert_ptr_equal(at, list + sizeof list - 1);
}

/* Whatever is before the three NULs; in memory of its own for sanitizers. */
static void list_ends_at_three_nuls(void **state)
{
    enum { SIZE = 9 };
    (void)state;
    for (unsigned pattern = 0; pattern < 1u << (SIZE - 3); pattern++) {
        char *list = calloc(1, SIZE);
        assert_non_null(list);
        for (unsigned i = 0; i < SIZE - 3; i++)
            list[i] = pattern >> i & 1 ? 'x' : '\0';
        struct wndl_table_named named;
        const char *at = list;
        while (wndl_table_named_next(&at, &named))
            assert_true(at < list + SIZE);
        free(list);
    }
}

static void name_means_path_or_its_last_part(void **state)
{
    (void)state;
    assert_true(wndl_table_names("libx.so", "/usr/lib/libx.so"));
    assert_true(wndl_table_names("/usr/lib/libx.so", "/usr/lib/libx.so"));
    assert_true(wndl_table_names("app", "app"));
    assert_false(wndl_table_names("libx.so", "/usr/lib/libx.so.1"));
    assert_false(wndl_table_names("x.so", "/usr/lib/libx.so"));
    assert_false(wndl_table_names("lib/libx.so", "/usr/lib/libx.so"));
    assert_false(wndl_table_names("/opt/libx.so", "/usr/lib/libx.so"));
    assert_false(wndl_table_names("lib", "/usr/lib/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_is_read_in_order),
        cmocka_unit_test(list_ends_at_three_nuls),
        cmocka_unit_test(name_means_path_or_its_last_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
