/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "wndl/tail_buffer.h"

#include <stdlib.h>

enum { HEAD = 8 };

static void add(struct wndl_tail_buffer *keep, uint8_t letter, size_t size)
{
    uint8_t chunk[256];
    memset(chunk, letter, sizeof chunk);
    wndl_tail_buffer_add(
        keep, (struct wndl_bytes){chunk, size}, (uint32_t)size);
}

/* All that is kept, the oldest first. */
static struct wndl_buf copy(const struct wndl_tail_buffer *keep)
{
    struct wndl_buf out;
    uint64_t samples = 0;
    wndl_buf_init(&out, wndl_mem_libc());
    for (size_t at = 0; at < keep->used;)
        at = wndl_tail_buffer_copy(keep, at, &out, &samples);
    assert_int_equal(samples, keep->samples);
    return out;
}

static void assert_kept(const struct wndl_tail_buffer *keep, const char *text)
{
    struct wndl_buf out = copy(keep);
    assert_int_equal(out.size, strlen(text));
    if (out.size != 0)
        assert_memory_equal(out.data, text, out.size);
    wndl_buf_free(&out);
}

static void chunks_come_back_in_their_order(void **state)
{
    (void)state;
    struct wndl_tail_buffer keep;
    assert_true(wndl_tail_buffer_init(&keep, 100));
    assert_kept(&keep, "");
    add(&keep, 'a', 3);
    add(&keep, 'b', 2);
    assert_kept(&keep, "aaabb");
    assert_int_equal(keep.samples, 5);
    assert_int_equal(keep.discarded, 0);
    wndl_tail_buffer_free(&keep);
}

static void the_oldest_make_room(void **state)
{
    (void)state;
    struct wndl_tail_buffer keep;
    assert_true(wndl_tail_buffer_init(&keep, 2 * HEAD + 6));
    add(&keep, 'a', 3);
    add(&keep, 'b', 3);
    assert_kept(&keep, "aaabbb");
    add(&keep, 'c', 1);
    assert_kept(&keep, "bbbc");
    add(&keep, 'd', 14);
    assert_kept(&keep, "dddddddddddddd");
    assert_int_equal(keep.samples, 14);
    assert_int_equal(keep.discarded, 7);
    add(&keep, 'e', 15);
    assert_kept(&keep, "dddddddddddddd");
    assert_int_equal(keep.discarded, 22);
    wndl_tail_buffer_free(&keep);
}

/* Sizes that have nothing to do with that of the room. */
static void what_is_kept_is_whole_wherever_it_wraps(void **state)
{
    (void)state;
    struct wndl_tail_buffer keep;
    uint64_t added = 0;
    assert_true(wndl_tail_buffer_init(&keep, 997));
    srandom(7);
    for (int i = 0; i < 5000; i++) {
        size_t size = 1 + (size_t)random() % 200;
        add(&keep, (uint8_t)('a' + i % 26), size);
        added += size;
        struct wndl_buf out = copy(&keep);
        assert_int_equal(out.size, keep.samples);
        assert_int_equal(keep.samples + keep.discarded, added);
        assert_int_equal(out.data[out.size - 1], 'a' + i % 26);
        wndl_buf_free(&out);
    }
    wndl_tail_buffer_free(&keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_come_back_in_their_order),
        cmocka_unit_test(the_oldest_make_room),
        cmocka_unit_test(what_is_kept_is_whole_wherever_it_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
