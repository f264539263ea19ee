/* SPDX-License-Identifier: MIT */
/* Where functions of this very program begin and end, by its CFI. */
#include "testlib.h"

#include "analyze/names/extents.h"

#include <dlfcn.h>

static struct wndl_extents extents;

static int set_up(void **state)
{
    (void)state;
    return wndl_extents_try(
               &extents, "/proc/self/exe", wndl_mem_libc(), NULL) == WNDL_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    wndl_extents_close(&extents);
    return 0;
}

/* `code` is in this program. */
static wndl_rva rva_of(const void *code)
{
    Dl_info about;
    assert_int_not_equal(dladdr(code, &about), 0);
    return (wndl_rva){(uintptr_t)code - (uintptr_t)about.dli_fbase};
}

static void functions_are_found_by_any_of_their_code(void **state)
{
    (void)state;
    const wndl_rva function = rva_of((const void *)&set_up);
    wndl_rva start, end;
    for (uint64_t i = 0; i < 8; i++) {
        const wndl_rva at = {function.v + i};
        assert_true(wndl_extents_find(&extents, at, &start));
        assert_true(start.v == function.v);
        assert_true(wndl_extents_range(&extents, at, &start, &end));
        assert_true(start.v == function.v && end.v > at.v);
        assert_false(wndl_extents_is_outermost(&extents, at));
    }
    /* The end is the next function's, or padding's. */
    assert_true(!wndl_extents_find(&extents, end, &start) || start.v == end.v);
}

static void range_needs_no_search_table(void **state)
{
    (void)state;
    const wndl_rva function = rva_of((const void *)&set_up);
    struct wndl_extents without = extents;
    wndl_rva start, end;
    without.header.bytes = (struct wndl_bytes){0};
    assert_false(wndl_extents_find(&without, function, &start));
    assert_true(wndl_extents_range(&without, function, &start, &end));
    assert_true(start.v == function.v && end.v > start.v);
}

static void nothing_is_found_elsewhere(void **state)
{
    (void)state;
    wndl_rva start;
    assert_false(wndl_extents_find(&extents, (wndl_rva){0}, &start));
    assert_false(
        wndl_extents_find(&extents, (wndl_rva){UINT64_C(1) << 40}, &start));
    struct wndl_extents none;
    wndl_extents_open(&none, "/nowhere", wndl_mem_libc());
    assert_false(wndl_extents_find(&none, (wndl_rva){0x1000}, &start));
    wndl_extents_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_by_any_of_their_code),
        cmocka_unit_test(range_needs_no_search_table),
        cmocka_unit_test(nothing_is_found_elsewhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
