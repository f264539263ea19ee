/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/signal_names.h"
#include "base/status.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <wchar.h>

#define BYTES(...)                                                             \
    ((struct wndl_bytes){(const uint8_t[]){__VA_ARGS__},                       \
        sizeof((const uint8_t[]){__VA_ARGS__})})

static struct wndl_bytes text(const char *s)
{
    return (struct wndl_bytes){(const uint8_t *)s, strlen(s)};
}

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
        struct wndl_cursor c =
            wndl_cursor_at((struct wndl_bytes){buf.data, buf.size}, 0, false);
        assert_int_equal(wndl_cursor_uleb(&c), u);
        assert_int_equal(wndl_cursor_sleb(&c), (int64_t)u);
        assert_int_equal(wndl_cursor_sleb(&c), (int64_t)~u);
        assert_false(c.failed);
        assert_int_equal(wndl_cursor_left(&c), 0);
        wndl_buf_free(&buf);
    }
}

static void uleb_beyond_64_bits_fails(void **state)
{
    (void)state;
    struct wndl_bytes over =
        BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02);
    struct wndl_cursor c = wndl_cursor_at(over, 0, false);
    assert_int_equal(wndl_cursor_uleb(&c), 0);
    assert_true(c.failed);
}

static void uleb_padded_with_zeros_is_read(void **state)
{
    (void)state;
    struct wndl_bytes padded = BYTES(0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x00);
    struct wndl_cursor c = wndl_cursor_at(padded, 0, false);
    assert_int_equal(wndl_cursor_uleb(&c), 5);
    assert_false(c.failed);
    assert_int_equal(wndl_cursor_left(&c), 0);
}

static void sleb_beyond_64_bits_fails_and_sign_padding_does_not(void **state)
{
    (void)state;
    struct wndl_bytes minus_one = BYTES(
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
    struct wndl_cursor c = wndl_cursor_at(minus_one, 0, false);
    assert_int_equal(wndl_cursor_sleb(&c), -1);
    assert_false(c.failed);
    struct wndl_bytes over =
        BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
    c = wndl_cursor_at(over, 0, false);
    wndl_cursor_sleb(&c);
    assert_true(c.failed);
    struct wndl_bytes flips =
        BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xff, 0x00);
    c = wndl_cursor_at(flips, 0, false);
    wndl_cursor_sleb(&c);
    assert_true(c.failed);
}

static void reads_past_the_end_give_zero_and_stick(void **state)
{
    (void)state;
    struct wndl_cursor c = wndl_cursor_at(BYTES(1, 2, 3), 0, false);
    assert_int_equal(wndl_cursor_u16(&c), 0x0201);
    assert_int_equal(wndl_cursor_u32(&c), 0);
    assert_true(c.failed);
    assert_int_equal(wndl_cursor_u8(&c), 0);
    assert_true(c.failed);
}

static void both_byte_orders_are_read(void **state)
{
    (void)state;
    struct wndl_bytes b = BYTES(1, 2, 3, 4, 5, 6, 7, 8);
    struct wndl_cursor big = wndl_cursor_at(b, 0, true);
    assert_int_equal(wndl_cursor_u64(&big), 0x0102030405060708);
    struct wndl_cursor little = wndl_cursor_at(b, 0, false);
    assert_int_equal(wndl_cursor_u64(&little), 0x0807060504030201);
    big = wndl_cursor_at(b, 0, true);
    assert_int_equal(wndl_cursor_uint(&big, 3), 0x010203);
    assert_int_equal(wndl_cursor_u16(&big), 0x0405);
    little = wndl_cursor_at(b, 0, false);
    assert_int_equal(wndl_cursor_uint(&little, 3), 0x030201);
    assert_int_equal(wndl_cursor_u32(&little), 0x07060504);
}

static void cursor_outside_of_its_bytes_has_failed(void **state)
{
    (void)state;
    struct wndl_cursor c = wndl_cursor_at(BYTES(1), 2, false);
    assert_true(c.failed);
    assert_int_equal(wndl_cursor_left(&c), 0);
    c = wndl_cursor_at((struct wndl_bytes){0}, 0, false);
    assert_false(c.failed);
    assert_int_equal(wndl_cursor_u8(&c), 0);
    assert_true(c.failed);
}

static void a_slice_that_overflows_is_empty(void **state)
{
    (void)state;
    struct wndl_bytes b = BYTES(1, 2, 3);
    assert_int_equal(wndl_bytes_slice(b, 1, 2).size, 2);
    assert_int_equal(wndl_bytes_slice(b, 1, 3).size, 0);
    assert_int_equal(wndl_bytes_slice(b, 2, UINT64_MAX).size, 0);
    assert_int_equal(wndl_bytes_slice(b, UINT64_MAX, 2).size, 0);
}

static void strings_must_end(void **state)
{
    (void)state;
    struct wndl_bytes b = BYTES('a', 'b', 0, 'c');
    assert_true(wndl_bytes_is(wndl_bytes_cstr(b, 1), "b"));
    assert_null(wndl_bytes_cstr(b, 3).data);
    assert_null(wndl_bytes_cstr(b, 9).data);
    assert_false(wndl_bytes_is(wndl_bytes_cstr(b, 0), "a"));
    assert_false(wndl_bytes_is(wndl_bytes_cstr(b, 0), "abc"));
}

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    unsigned char *last = NULL;
    for (size_t size = 1; size < 40000; size = size * 2 + 3) {
        unsigned char *p = wndl_arena_alloc(&arena, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xee, size);
        if (last != NULL)
            assert_int_equal(*last, 0xee);
        last = p;
    }
    wndl_arena_free(&arena);
}

static void arena_takes_lent_room_first(void **state)
{
    (void)state;
    _Alignas(16) unsigned char room[64];
    memset(room, 0xff, sizeof room);
    struct failing_mem heap;
    failing_mem_init(&heap, 1);
    struct wndl_arena arena;
    wndl_arena_init(&arena, &heap.mem);
    wndl_arena_lend(&arena, room, sizeof room);
    unsigned char *first = wndl_arena_alloc(&arena, 20);
    assert_ptr_equal(first, room);
    assert_int_equal(first[19], 0);
    first = wndl_arena_grow(&arena, first, 20, 40);
    assert_ptr_equal(first, room);
    assert_int_equal(first[39], 0);
    assert_int_equal(heap.live, 0);
    memset(first, 7, 40);
    unsigned char *grown = wndl_arena_grow(&arena, first, 40, 80);
    assert_int_equal(heap.live, 1);
    assert_int_equal(grown[39], 7);
    assert_int_equal(grown[79], 0);
    wndl_arena_free(&arena);
    assert_int_equal(heap.live, 0);
}

static void arena_growth_keeps_content_from_small_to_large(void **state)
{
    (void)state;
    struct failing_mem heap;
    failing_mem_init(&heap, -1);
    struct wndl_arena arena;
    wndl_arena_init(&arena, &heap.mem);
    struct wndl_vec a, b;
    wndl_vec_init(&a, &arena, sizeof(uint32_t));
    wndl_vec_init(&b, &arena, sizeof(uint64_t));
    for (uint32_t i = 0; i < 100000; i++) {
        *(uint32_t *)wndl_vec_push(&a) = i;
        *(uint64_t *)wndl_vec_push(&b) = ~(uint64_t)i;
    }
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(*(uint32_t *)wndl_vec_at(&a, i), i);
        assert_int_equal(*(uint64_t *)wndl_vec_at(&b, i), ~(uint64_t)i);
    }
    wndl_arena_free(&arena);
    assert_int_equal(heap.live, 0);
}

static void vec_push_fails_cleanly_when_memory_is_out(void **state)
{
    (void)state;
    for (long budget = 0; budget < 6; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        struct wndl_arena arena;
        wndl_arena_init(&arena, &heap.mem);
        struct wndl_vec v;
        wndl_vec_init(&v, &arena, 4096);
        size_t pushed = 0;
        while (pushed < 5000 && wndl_vec_push(&v) != NULL)
            pushed++;
        assert_in_range(pushed, 0, 4999);
        assert_int_equal(v.len, pushed);
        wndl_arena_free(&arena);
        assert_int_equal(heap.live, 0);
    }
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    assert_null(wndl_arena_calloc(&arena, SIZE_MAX / 2, 3));
    assert_null(wndl_arena_alloc(&arena, SIZE_MAX));
    struct wndl_vec v;
    wndl_vec_init(&v, &arena, 16);
    assert_non_null(wndl_vec_push(&v));
    assert_false(wndl_vec_reserve(&v, SIZE_MAX));
    assert_false(wndl_vec_reserve(&v, SIZE_MAX / 16));
    wndl_arena_free(&arena);
}

static void map_finds_what_was_put_and_nothing_else(void **state)
{
    (void)state;
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    struct wndl_map map;
    wndl_map_init(&map, &arena);
    assert_null(wndl_map_get(&map, 0));
    assert_null(wndl_map_get(&map, 7));
    for (uint64_t k = 0; k < 20000; k++)
        *wndl_map_put(&map, k << 12) = k + 1;
    assert_int_equal(map.count, 20000);
    for (uint64_t k = 0; k < 20000; k++) {
        assert_int_equal(*wndl_map_get(&map, k << 12), k + 1);
        assert_null(wndl_map_get(&map, k << 12 | 1));
    }
    assert_int_equal(*wndl_map_put(&map, 0), 1);
    assert_int_equal(map.count, 20000);
    wndl_arena_free(&arena);
}

static void map_keeps_its_content_when_it_cannot_grow(void **state)
{
    (void)state;
    struct failing_mem heap;
    failing_mem_init(&heap, 2);
    struct wndl_arena arena;
    wndl_arena_init(&arena, &heap.mem);
    struct wndl_map map;
    wndl_map_init(&map, &arena);
    uint64_t k = 1;
    for (uint64_t *v; (v = wndl_map_put(&map, k)) != NULL; k++)
        *v = k;
    assert_true(k > 10);
    for (uint64_t i = 1; i < k; i++)
        assert_int_equal(*wndl_map_get(&map, i), i);
    wndl_arena_free(&arena);
    assert_int_equal(heap.live, 0);
}

static void intern_gives_one_id_to_equal_strings(void **state)
{
    (void)state;
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    struct wndl_intern intern;
    assert_true(wndl_intern_init(&intern, &arena));
    uint32_t ids[1000], id;
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_true(wndl_intern_add(&intern, text(name), &ids[i]));
        assert_int_equal(ids[i], i + 1);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_true(wndl_intern_add(&intern, text(name), &id));
        assert_int_equal(id, ids[i]);
        assert_string_equal(wndl_intern_text(&intern, id), name);
    }
    assert_true(wndl_intern_add(&intern, text(""), &id));
    assert_int_equal(id, 0);
    assert_int_equal(wndl_intern_count(&intern), 1001);
    wndl_arena_free(&arena);
}

static void buf_failure_is_sticky(void **state)
{
    (void)state;
    struct failing_mem heap;
    failing_mem_init(&heap, 1);
    struct wndl_buf buf;
    wndl_buf_init(&buf, &heap.mem);
    for (int i = 0; i < 300; i++)
        wndl_buf_byte(&buf, 'x');
    assert_true(buf.failed);
    size_t size = buf.size;
    wndl_buf_printf(&buf, "%d", 1);
    assert_int_equal(buf.size, size);
    wndl_buf_free(&buf);
    assert_int_equal(heap.live, 0);
}

static void base64_is_that_of_the_rfc(void **state)
{
    static const char *const of[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    (void)state;
    for (size_t size = 0; size < sizeof of / sizeof of[0]; size++) {
        struct wndl_buf buf;
        wndl_buf_init(&buf, wndl_mem_libc());
        wndl_buf_base64(
            &buf, (struct wndl_bytes){(const uint8_t *)"foobar", size});
        wndl_buf_byte(&buf, '\0');
        assert_string_equal((const char *)buf.data, of[size]);
        wndl_buf_free(&buf);
    }
}

static void base64_has_all_digits(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x10, 0x83, 0xfb, 0xff, 0xbf};
    struct wndl_buf buf;
    (void)state;
    wndl_buf_init(&buf, wndl_mem_libc());
    wndl_buf_base64(&buf, (struct wndl_bytes){bytes, sizeof bytes});
    wndl_buf_byte(&buf, '\0');
    assert_string_equal((const char *)buf.data, "ABCD+/+/");
    wndl_buf_free(&buf);
}

static void assert_json(struct wndl_bytes s, const char *expected)
{
    struct wndl_buf buf;
    wndl_buf_init(&buf, wndl_mem_libc());
    wndl_json_string(&buf, s);
    wndl_buf_byte(&buf, 0);
    assert_string_equal((const char *)buf.data, expected);
    wndl_buf_free(&buf);
}

/* A character that there is not fails as more than 2 GiB of text do, and does
 * not take seconds. */
static void text_that_cannot_be_printed_is_a_failure(void **state)
{
    (void)state;
    struct wndl_buf buf;
    static const wchar_t none[] = {0x110000, 0};
    wndl_buf_init(&buf, wndl_mem_libc());
    wndl_buf_printf(&buf, "%d%ls", 1, none);
    assert_true(buf.failed);
    assert_int_equal(buf.size, 0);
    wndl_buf_free(&buf);
}

static void json_strings_are_valid_whatever_the_bytes(void **state)
{
    (void)state;
    assert_json(text("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
    assert_json(text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    assert_json(text("\xc3"), "\"\xef\xbf\xbd\"");
    assert_json(text("\xff"
                     "a"),
        "\"\xef\xbf\xbd"
        "a\"");
    assert_json(
        BYTES(0xed, 0xa0, 0x80), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_json(BYTES(0xc0, 0x80), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void json_escapes_are_undone_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *inside;
        const char *meant; /* NULL: refused */
    } cases[] = {
        {"", ""},
        {"a/b c", "a/b c"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\\", NULL},
        {"\\q", NULL},
        {"\\u", NULL},
        {"\\u12", NULL},
        {"\\u12g4", NULL},
        {"\\ud83d", NULL},
        {"\\ud83dA", NULL},
        {"\\ud83d\\u0041", NULL},
        {"\\ude00", NULL},
        {"\xc3", NULL},
        {"\xff", NULL},
        {"\"", NULL},
        {"\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wndl_buf buf;
        wndl_buf_init(&buf, wndl_mem_libc());
        bool done = wndl_json_unescaped(&buf, text(cases[i].inside));
        assert_int_equal(done, cases[i].meant != NULL);
        wndl_buf_byte(&buf, 0);
        if (done)
            assert_string_equal((const char *)buf.data, cases[i].meant);
        wndl_buf_free(&buf);
    }
}

static void errors_name_file_section_and_offset(void **state)
{
    (void)state;
    struct wndl_error err = {0};
    char line[256];
    wndl_error_set_file(&err, "/a/b.so");
    assert_int_equal(wndl_fail_at(&err, WNDL_MALFORMED, ".debug_info", 0x1f,
                         "unit ends early"),
        WNDL_MALFORMED);
    assert_string_equal(wndl_error_text(&err, line, sizeof line),
        "/a/b.so: .debug_info+0x1f: unit ends early");
    struct wndl_error io = {0};
    assert_int_equal(
        wndl_fail_errno(&io, ENOENT, "cannot open the file; try another"),
        WNDL_IO);
    assert_string_equal(wndl_error_text(&io, line, sizeof line),
        "cannot open the file: No such file or directory; try another");
    wndl_error_set_file(&io, "/a/b;c");
    assert_string_equal(wndl_error_text(&io, line, sizeof line),
        "cannot open /a/b;c: No such file or directory; try another");
    (void)wndl_fail_errno(&io, ENOENT, "cannot wait for events");
    assert_string_equal(wndl_error_text(&io, line, sizeof line),
        "/a/b;c: cannot wait for events: No such file or directory");
    assert_int_equal(wndl_fail(NULL, WNDL_NOMEM, "x"), WNDL_NOMEM);
    assert_string_equal(wndl_status_name(WNDL_DENIED), "permission denied");
}

static void a_later_failure_does_not_keep_an_errno(void **state)
{
    (void)state;
    struct wndl_error err = {0};
    char line[256];
    (void)wndl_fail_errno(&err, ENOENT, "cannot open");
    (void)wndl_fail(&err, WNDL_NOMEM, "no memory");
    assert_int_equal(err.sys_errno, 0);
    assert_string_equal(wndl_error_text(&err, line, sizeof line), "no memory");
}

static void count_line(
    void *context, enum wndl_log_level level, const char *line)
{
    assert_int_equal(level, WNDL_LOG_WARNING);
    assert_string_equal(line, "lost 3");
    ++*(int *)context;
}

static void log_drops_what_is_above_its_level(void **state)
{
    (void)state;
    int lines = 0;
    struct wndl_log log = {count_line, &lines, WNDL_LOG_WARNING};
    wndl_log(&log, WNDL_LOG_WARNING, "lost %d", 3);
    wndl_log(&log, WNDL_LOG_INFO, "lost %d", 4);
    wndl_log(NULL, WNDL_LOG_WARNING, "nobody hears");
    assert_int_equal(lines, 1);
}

/* As glibc, which has real-time signals under no name, too. */
static void signals_have_their_names(void **state)
{
    (void)state;
    for (int i = -1; i <= 65; i++) {
        const char *expected = sigabbrev_np(i);
        const char *name = wndl_signal_abbreviation(i);
        if (expected == NULL)
            assert_null(name);
        else
            assert_string_equal(name, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_have_their_names),
        cmocka_unit_test(leb128_round_trips_at_every_bit),
        cmocka_unit_test(uleb_beyond_64_bits_fails),
        cmocka_unit_test(uleb_padded_with_zeros_is_read),
        cmocka_unit_test(sleb_beyond_64_bits_fails_and_sign_padding_does_not),
        cmocka_unit_test(reads_past_the_end_give_zero_and_stick),
        cmocka_unit_test(both_byte_orders_are_read),
        cmocka_unit_test(cursor_outside_of_its_bytes_has_failed),
        cmocka_unit_test(a_slice_that_overflows_is_empty),
        cmocka_unit_test(strings_must_end),
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(arena_takes_lent_room_first),
        cmocka_unit_test(arena_growth_keeps_content_from_small_to_large),
        cmocka_unit_test(vec_push_fails_cleanly_when_memory_is_out),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(map_finds_what_was_put_and_nothing_else),
        cmocka_unit_test(map_keeps_its_content_when_it_cannot_grow),
        cmocka_unit_test(intern_gives_one_id_to_equal_strings),
        cmocka_unit_test(buf_failure_is_sticky),
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(base64_has_all_digits),
        cmocka_unit_test(text_that_cannot_be_printed_is_a_failure),
        cmocka_unit_test(json_strings_are_valid_whatever_the_bytes),
        cmocka_unit_test(json_escapes_are_undone_or_refused),
        cmocka_unit_test(errors_name_file_section_and_offset),
        cmocka_unit_test(a_later_failure_does_not_keep_an_errno),
        cmocka_unit_test(log_drops_what_is_above_its_level),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
