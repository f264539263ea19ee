/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"

static void leb128_round_trips_at_every_bit(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        struct wndl_buf buf;
        wndl_buf_init(&buf, wndl_mem_libc());
        uint64_t u = UINT64_C(1) << bit;
        wndl_buf_uleb(&buf, u);
        wndl_buf_sleb(&buf, (int64_t)u);
        wndl_buf_sleb(&buf, (int64_t)~u);
        struct wndl_cursor c = wndl_cursor_at(
            (struct wndl_bytes) { buf.data, buf.size }, 0, false);
        assert_int_equal(wndl_cursor_uleb(&c), u);
        assert_int_equal(wndl_cursor_sleb(&c), (int64_t)u);
        assert_int_equal(wndl_cursor_sleb(&c), (int64_t)~u);
        assert_false(c.failed);
        assert_int_equal(wndl_cursor_left(&c), 0);
        wndl_buf_free(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leb128_round_trips_at_every_bit),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
