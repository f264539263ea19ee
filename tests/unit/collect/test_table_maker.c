/* SPDX-License-Identifier: MIT */
/* collect/code/table_maker.h: each file that is handed over comes back once,
 * whatever is done with the thread meanwhile. */
#include "collect/code/table_maker.h"

#include "testlib.h"
#include "unwind/table/table.h"

#include <unistd.h>

#define LONGEST UINT64_C(60000000000) /* ns */

enum { FILES = 3 };

static const char self[] = "/proc/self/exe";

static void add_files(struct wndl_table_maker *maker, int owners[FILES])
{
    for (int i = 0; i < FILES; i++) {
        struct wndl_file file;
        assert_int_equal(wndl_file_open(self, &file, NULL), WNDL_OK);
        const struct wndl_table_order order = {&file, self, &owners[i], NULL};
        wndl_table_maker_add(maker, &order);
        assert_int_equal(file.bytes.size, 0);
    }
}

static int take_all(struct wndl_table_maker *maker)
{
    struct wndl_table_made made;
    int taken = 0;
    while (wndl_table_maker_next(maker, &made)) {
        const struct wndl_buf bytes = made.table;
        struct wndl_table table;
        if (bytes.size != 0)
            assert_int_equal(
                wndl_table_open(
                    (struct wndl_bytes){bytes.data, bytes.size}, &table, NULL),
                WNDL_OK);
        assert_int_equal(made.status, WNDL_OK);
        ++*(int *)made.owner;
        wndl_buf_free(&made.table);
        taken++;
    }
    return taken;
}

static void files_come_back_in_time(void **state)
{
    (void)state;
    int owners[FILES] = {0};
    struct wndl_table_maker *maker = wndl_table_maker_new(NULL);
    assert_non_null(maker);
    (void)wndl_table_maker_wait(maker, LONGEST); /* for nothing */
    assert_int_equal(take_all(maker), 0);
    add_files(maker, owners);
    int taken = 0;
    while (taken < FILES) {
        assert_false(wndl_table_maker_is_idle(maker));
        (void)wndl_table_maker_wait(maker, LONGEST);
        taken += take_all(maker);
    }
    assert_true(wndl_table_maker_is_idle(maker));
    for (int i = 0; i < FILES; i++)
        assert_int_equal(owners[i], 1);
    wndl_table_maker_free(maker);
}

static void work_goes_on_after_a_rest(void **state)
{
    (void)state;
    int owners[FILES] = {0}, taken = 0;
    struct wndl_table_maker *maker = wndl_table_maker_new(NULL);
    assert_non_null(maker);
    add_files(maker, owners);
    wndl_table_maker_rest(maker);
    wndl_table_maker_rest(maker);
    for (int i = 0; i < 6000 && taken < FILES; i++) {
        taken += take_all(maker);
        usleep(10000);
    }
    for (int i = 0; i < FILES; i++)
        assert_int_equal(owners[i], 1);
    wndl_table_maker_free(maker);
}

static void work_may_be_left(void **state)
{
    (void)state;
    int owners[FILES] = {0};
    struct wndl_table_maker *maker = wndl_table_maker_new(NULL);
    assert_non_null(maker);
    add_files(maker, owners);
    wndl_table_maker_free(maker);
    wndl_table_maker_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back_in_time),
        cmocka_unit_test(work_goes_on_after_a_rest),
        cmocka_unit_test(work_may_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
