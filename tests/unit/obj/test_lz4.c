/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "obj/packed/lz4.h"

#include <stdlib.h>

/* By lz4 1.9.4: --content-size, and -BX. */
static const uint8_t with_size[] = {0x04, 0x22, 0x4d, 0x18, 0x6c, 0x40, 0x4a,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5d, 0x39, 0x00, 0x00, 0x00,
    0x6f, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x06, 0x00, 0x04, 0xf0, 0x1e,
    0x2c, 0x20, 0x61, 0x6e, 0x64, 0x20, 0x74, 0x68, 0x65, 0x6e, 0x20, 0x61,
    0x20, 0x6c, 0x6f, 0x6e, 0x67, 0x65, 0x72, 0x20, 0x6c, 0x69, 0x6e, 0x65,
    0x20, 0x74, 0x68, 0x61, 0x74, 0x20, 0x69, 0x73, 0x20, 0x6e, 0x6f, 0x74,
    0x20, 0x72, 0x65, 0x70, 0x65, 0x61, 0x74, 0x65, 0x64, 0x00, 0x00, 0x00,
    0x00, 0x70, 0xc8, 0xf5, 0x9f};
static const uint8_t with_checksums[] = {0x04, 0x22, 0x4d, 0x18, 0x74, 0x40,
    0xbd, 0x39, 0x00, 0x00, 0x00, 0x6f, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20,
    0x06, 0x00, 0x04, 0xf0, 0x1e, 0x2c, 0x20, 0x61, 0x6e, 0x64, 0x20, 0x74,
    0x68, 0x65, 0x6e, 0x20, 0x61, 0x20, 0x6c, 0x6f, 0x6e, 0x67, 0x65, 0x72,
    0x20, 0x6c, 0x69, 0x6e, 0x65, 0x20, 0x74, 0x68, 0x61, 0x74, 0x20, 0x69,
    0x73, 0x20, 0x6e, 0x6f, 0x74, 0x20, 0x72, 0x65, 0x70, 0x65, 0x61, 0x74,
    0x65, 0x64, 0xd0, 0x6f, 0xec, 0x9f, 0x00, 0x00, 0x00, 0x00, 0x70, 0xc8,
    0xf5, 0x9f};
static const char contents[] =
    "hello hello hello hello hello, and then a longer line that is not "
    "repeated";

#define BYTES(array) ((struct wndl_bytes){array, sizeof array})

static bool add(void *context, struct wndl_bytes bytes)
{
    struct wndl_buf *buf = context;
    wndl_buf_add(buf, bytes.data, bytes.size);
    return true;
}

static enum wndl_status unpack(
    struct wndl_bytes packed, struct wndl_buf *buf, struct wndl_error *err)
{
    wndl_buf_init(buf, wndl_mem_libc());
    return wndl_unpack_lz4(packed, add, buf, err);
}

static void gives(struct wndl_bytes packed, const char *text)
{
    struct wndl_buf buf;
    struct wndl_error err = {0};
    assert_int_equal(unpack(packed, &buf, &err), WNDL_OK);
    assert_int_equal(buf.size, strlen(text));
    assert_memory_equal(buf.data, text, strlen(text));
    wndl_buf_free(&buf);
}

static void frames_are_unpacked(void **state)
{
    (void)state;
    gives(BYTES(with_size), contents);
    gives(BYTES(with_checksums), contents);
}

static void frames_follow_each_other(void **state)
{
    (void)state;
    static const uint8_t skipped[] = {
        0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3};
    uint8_t two[sizeof with_size + sizeof skipped + sizeof with_checksums];
    char twice[2 * sizeof contents];
    memcpy(two, with_size, sizeof with_size);
    memcpy(two + sizeof with_size, skipped, sizeof skipped);
    memcpy(two + sizeof with_size + sizeof skipped, with_checksums,
        sizeof with_checksums);
    memcpy(twice, contents, sizeof contents);
    memcpy(twice + sizeof contents - 1, contents, sizeof contents);
    gives(BYTES(two), twice);
}

static bool add_once(void *context, struct wndl_bytes bytes)
{
    (void)add(context, bytes);
    return false;
}

static void the_receiver_may_stop(void **state)
{
    (void)state;
    struct wndl_buf buf;
    wndl_buf_init(&buf, wndl_mem_libc());
    assert_int_equal(
        wndl_unpack_lz4(BYTES(with_size), add_once, &buf, NULL), WNDL_OK);
    assert_int_equal(buf.size, sizeof contents - 1);
    wndl_buf_free(&buf);
}

static void cut(struct wndl_bytes prefix, void *context)
{
    struct wndl_buf buf;
    struct wndl_error err = {0};
    (void)context;
    assert_int_equal(unpack(prefix, &buf, &err),
        prefix.size == 0 ? WNDL_OK : WNDL_TRUNCATED);
    assert_true(buf.size == 0 || buf.size == sizeof contents - 1);
    wndl_buf_free(&buf);
}

static void frames_that_end_early_say_so(void **state)
{
    (void)state;
    for_each_truncation(BYTES(with_size), cut, NULL);
    for_each_truncation(BYTES(with_checksums), cut, NULL);
}

/* All bytes are covered by a checksum, or by the format. */
static void each_changed_bit_is_noticed(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(sizeof with_checksums);
    for (size_t i = 0; i < 8 * sizeof with_checksums; i++) {
        struct wndl_buf buf;
        struct wndl_error err = {0};
        memcpy(bytes, with_checksums, sizeof with_checksums);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        const struct wndl_bytes changed = {bytes, sizeof with_checksums};
        if (unpack(changed, &buf, &err) == WNDL_OK)
            fail_msg("bit %zu of byte %zu", i % 8, i / 8);
        assert_true(err.what[0] != '\0');
        wndl_buf_free(&buf);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_unpacked),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(the_receiver_may_stop),
        cmocka_unit_test(frames_that_end_early_say_so),
        cmocka_unit_test(each_changed_bit_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
