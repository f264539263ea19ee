/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rec/chunk.h"
#include "rec/crc32c.h"

#include <stdlib.h>

static struct wndl_bytes text(const char *s)
{
    return (struct wndl_bytes){(const uint8_t *)s, strlen(s)};
}

static struct wndl_bytes content(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

static void add_thread(struct wndl_buf *out, const char *name)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, out, WNDL_CHUNK_THRD);
    wndl_chunk_str(out, text(name));
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
}

/* A header and three chunks, "one", "two", "three". */
static void make_file(struct wndl_buf *out)
{
    wndl_buf_init(out, wndl_mem_libc());
    wndl_chunk_file_header(out);
    add_thread(out, "one");
    add_thread(out, "two");
    add_thread(out, "three");
}

static void check_value_of_rfc_3720(void **state)
{
    (void)state;
    uint8_t bytes[32];
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(wndl_crc32c(0, bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(wndl_crc32c(0, bytes, sizeof bytes), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(wndl_crc32c(0, bytes, sizeof bytes), 0x46dd794e);
    assert_int_equal(wndl_crc32c(0, "123456789", 9), 0xe3069283);
}

static void crc_goes_on_where_it_stopped(void **state)
{
    (void)state;
    const char *s = "the quick brown fox jumps over the lazy dog";
    uint32_t whole = wndl_crc32c(0, s, strlen(s));
    for (size_t cut = 0; cut <= strlen(s); cut++) {
        uint32_t crc = wndl_crc32c(0, s, cut);
        assert_int_equal(wndl_crc32c(crc, s + cut, strlen(s) - cut), whole);
    }
}

static void every_byte_value_has_the_same_crc_in_both_ways(void **state)
{
    (void)state;
    uint8_t bytes[256 + 7];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167);
    for (size_t size = 0; size <= sizeof bytes; size++)
        assert_int_equal(
            wndl_crc32c_portable(1, bytes, size), wndl_crc32c(1, bytes, size));
}

static void chunks_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct wndl_buf file;
    make_file(&file);
    struct wndl_chunk_reader r;
    assert_int_equal(wndl_chunk_reader_init(&r, content(&file), NULL), WNDL_OK);
    const char *const names[] = {"one", "two", "three"};
    struct wndl_chunk chunk;
    for (int i = 0; i < 3; i++) {
        assert_true(wndl_chunk_next(&r, &chunk));
        assert_int_equal(chunk.type, WNDL_CHUNK_THRD);
        struct wndl_cursor c = wndl_cursor_at(chunk.payload, 0, false);
        assert_true(wndl_bytes_is(wndl_chunk_read_str(&c), names[i]));
        assert_int_equal(wndl_cursor_left(&c), 0);
    }
    assert_false(wndl_chunk_next(&r, &chunk));
    assert_false(r.cut);
    assert_int_equal(r.damaged, 0);
    wndl_buf_free(&file);
}

static void header_has_the_documented_layout(void **state)
{
    (void)state;
    static const uint8_t expected[20] = {
        0x89, 'W', 'N', 'D', 'L', '\r', '\n', 0x1a, 1, 0, 2};
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    wndl_chunk_file_header(&file);
    assert_int_equal(file.size, WNDL_FILE_HEADER_SIZE);
    assert_memory_equal(file.data, expected, sizeof expected);
    wndl_buf_free(&file);
}

struct truncation {
    int whole_chunks; /* most seen so far */
    int cuts;
};

static void read_prefix(struct wndl_bytes prefix, void *context)
{
    struct truncation *t = context;
    struct wndl_chunk_reader r;
    struct wndl_error err = {0};
    if (wndl_chunk_reader_init(&r, prefix, &err) != WNDL_OK) {
        assert_true(prefix.size < WNDL_FILE_HEADER_SIZE);
        assert_string_not_equal(err.what, "");
        return;
    }
    int chunks = 0;
    struct wndl_chunk chunk;
    while (wndl_chunk_next(&r, &chunk))
        chunks++;
    assert_true(chunks >= t->whole_chunks);
    assert_int_equal(r.damaged, 0);
    t->whole_chunks = chunks;
    t->cuts += r.cut;
}

static void cut_file_is_read_to_its_last_whole_chunk(void **state)
{
    (void)state;
    struct wndl_buf file;
    make_file(&file);
    struct truncation t = {0};
    for_each_truncation(content(&file), read_prefix, &t);
    assert_int_equal(t.whole_chunks, 2);
    /* Every prefix beyond the header, but those that end with a chunk. */
    assert_int_equal(t.cuts, file.size - WNDL_FILE_HEADER_SIZE - 3);
    wndl_buf_free(&file);
}

static void damaged_chunk_is_skipped_and_counted(void **state)
{
    (void)state;
    struct wndl_buf file;
    make_file(&file);
    /* The second chunk's payload. */
    size_t second = WNDL_FILE_HEADER_SIZE + WNDL_CHUNK_OVERHEAD + 4 + 8;
    for (size_t i = 0; i < 4; i++) {
        file.data[second + i] ^= 0x10;
        struct wndl_chunk_reader r;
        assert_int_equal(
            wndl_chunk_reader_init(&r, content(&file), NULL), WNDL_OK);
        struct wndl_chunk chunk;
        assert_true(wndl_chunk_next(&r, &chunk));
        assert_true(wndl_chunk_next(&r, &chunk));
        assert_memory_equal(chunk.payload.data, "\5three", 6);
        assert_false(wndl_chunk_next(&r, &chunk));
        assert_int_equal(r.damaged, 1);
        assert_false(r.cut);
        file.data[second + i] ^= 0x10;
    }
    wndl_buf_free(&file);
}

static void size_over_the_limit_ends_the_file(void **state)
{
    (void)state;
    struct wndl_buf file;
    make_file(&file);
    file.data[WNDL_FILE_HEADER_SIZE + 7] = 2; /* 32 MiB and more */
    struct wndl_chunk_reader r;
    assert_int_equal(wndl_chunk_reader_init(&r, content(&file), NULL), WNDL_OK);
    struct wndl_chunk chunk;
    assert_false(wndl_chunk_next(&r, &chunk));
    assert_true(r.cut);
    wndl_buf_free(&file);
}

/* The status after `value` is put at `offset` of a header, CRC made right. */
static enum wndl_status status_with(size_t offset, uint8_t value, bool fix_crc)
{
    struct wndl_buf file;
    make_file(&file);
    file.data[offset] = value;
    uint32_t crc = wndl_crc32c(0, file.data, 20);
    for (int i = 0; fix_crc && i < 4; i++)
        file.data[20 + i] = (uint8_t)(crc >> 8 * i);
    struct wndl_chunk_reader r;
    enum wndl_status status = wndl_chunk_reader_init(&r, content(&file), NULL);
    wndl_buf_free(&file);
    return status;
}

static void header_refuses_what_it_cannot_promise(void **state)
{
    (void)state;
    assert_int_equal(status_with(1, 'X', true), WNDL_MALFORMED);
    assert_int_equal(status_with(8, 2, true), WNDL_UNSUPPORTED);
    assert_int_equal(status_with(10, 7, true), WNDL_OK); /* a later minor */
    assert_int_equal(status_with(12, 1, true), WNDL_UNSUPPORTED);
    assert_int_equal(status_with(19, 0x80, true), WNDL_UNSUPPORTED);
    assert_int_equal(status_with(10, 7, false), WNDL_MALFORMED);
}

static void payload_over_the_limit_is_taken_back(void **state)
{
    (void)state;
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    wndl_chunk_file_header(&file);
    struct wndl_chunk_writer w;
    uint8_t *zeros = calloc(1, WNDL_CHUNK_MAX);
    assert_non_null(zeros);
    wndl_chunk_begin(&w, &file, WNDL_CHUNK_STAK);
    wndl_buf_add(&file, zeros, WNDL_CHUNK_MAX);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    size_t size = file.size;
    wndl_chunk_begin(&w, &file, WNDL_CHUNK_STAK);
    wndl_buf_add(&file, zeros, WNDL_CHUNK_MAX);
    wndl_buf_byte(&file, 0);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_LIMIT);
    assert_int_equal(file.size, size);
    free(zeros);
    wndl_buf_free(&file);
}

static void failed_buffer_says_nomem(void **state)
{
    (void)state;
    struct failing_mem heap;
    failing_mem_init(&heap, 0);
    struct wndl_buf file;
    wndl_buf_init(&file, &heap.mem);
    wndl_chunk_file_header(&file);
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, &file, WNDL_CHUNK_DONE);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_NOMEM);
    wndl_buf_free(&file);
    assert_int_equal(heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_value_of_rfc_3720),
        cmocka_unit_test(crc_goes_on_where_it_stopped),
        cmocka_unit_test(every_byte_value_has_the_same_crc_in_both_ways),
        cmocka_unit_test(header_has_the_documented_layout),
        cmocka_unit_test(chunks_are_read_as_they_were_written),
        cmocka_unit_test(cut_file_is_read_to_its_last_whole_chunk),
        cmocka_unit_test(damaged_chunk_is_skipped_and_counted),
        cmocka_unit_test(size_over_the_limit_ends_the_file),
        cmocka_unit_test(header_refuses_what_it_cannot_promise),
        cmocka_unit_test(payload_over_the_limit_is_taken_back),
        cmocka_unit_test(failed_buffer_says_nomem),
    };
    return cmocka_run_group_tests_name("chunk", tests, NULL, NULL);
}
