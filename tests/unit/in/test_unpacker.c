/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "in/core/unpacker.h"

#include <zstd.h>

static const char text[] = "#01: a frame, and text text text text text text\n";

static struct wndl_bytes pack_gzip(uint8_t *to, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
    z.next_in = (z_const Bytef *)text;
    z.avail_in = sizeof text;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return (struct wndl_bytes){to, room - z.avail_out};
}

static struct wndl_bytes pack_zstd(uint8_t *to, size_t room)
{
    size_t size = ZSTD_compress(to, room, text, sizeof text, 3);
    assert_false(ZSTD_isError(size));
    return (struct wndl_bytes){to, size};
}

/* Unpacks it in pieces of `step` bytes into room for 7. */
static enum wndl_status unpack(struct wndl_bytes packed, size_t step,
    struct wndl_buf *out, struct wndl_error *err)
{
    struct wndl_unpacker u;
    bool more;
    uint8_t room[7];
    enum wndl_packing packing = wndl_packing_of(packed, &more);
    wndl_buf_clear(out);
    if (packing == WNDL_PACKED_NOT)
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_unpacker_open(&u, packing, wndl_mem_libc());
    while (status == WNDL_OK && packed.size != 0) {
        size_t size = packed.size < step ? packed.size : step;
        struct wndl_bytes piece = {packed.data, size};
        struct wndl_unpacked to = {room, sizeof room, 1};
        while (status == WNDL_OK && to.size != 0) {
            status = wndl_unpacker_some(&u, &piece, &to, err);
            wndl_buf_add(out, room, to.size);
        }
        packed.data += size;
        packed.size -= size;
    }
    if (status == WNDL_OK)
        status = wndl_unpacker_end(&u, err);
    wndl_unpacker_close(&u);
    return status;
}

static void members_are_unpacked_in_pieces(void **state)
{
    (void)state;
    uint8_t two[512];
    struct wndl_buf out;
    struct wndl_error err = {0};
    wndl_buf_init(&out, wndl_mem_libc());
    for (int zstd = 0; zstd < 2; zstd++) {
        struct wndl_bytes one =
            zstd ? pack_zstd(two, 256) : pack_gzip(two, 256);
        memcpy(two + one.size, two, one.size);
        struct wndl_bytes both = {two, 2 * one.size};
        for (size_t step = 1; step <= both.size; step++) {
            assert_int_equal(unpack(both, step, &out, &err), WNDL_OK);
            assert_int_equal(out.size, 2 * sizeof text);
            assert_memory_equal(out.data, text, sizeof text);
            assert_memory_equal(out.data + sizeof text, text, sizeof text);
        }
    }
    wndl_buf_free(&out);
}

/* What comes before the damage is unpacked. */
static void cut_and_damaged_data_is_an_error_with_its_place(void **state)
{
    (void)state;
    uint8_t packed[256];
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    for (int zstd = 0; zstd < 2; zstd++) {
        struct wndl_bytes one =
            zstd ? pack_zstd(packed, 256) : pack_gzip(packed, 256);
        for (size_t size = 0; size < one.size; size++) {
            struct wndl_error err = {0};
            struct wndl_bytes cut = {packed, size};
            assert_int_equal(unpack(cut, 256, &out, &err),
                size < (zstd ? 4 : 3) ? WNDL_NOT_FOUND : WNDL_TRUNCATED);
            assert_true(size < 4 || err.offset == size);
        }
        for (size_t at = 4; at < one.size; at++) {
            struct wndl_error err = {0};
            packed[at] ^= 0xff;
            (void)unpack(one, 256, &out, &err);
            assert_true(err.status == WNDL_OK || err.what[0] != '\0');
            packed[at] ^= 0xff;
        }
    }
    wndl_buf_free(&out);
}

static void packed_text_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        size_t size;
        enum wndl_packing packing;
        bool more;
    } cases[] = {
        {"", 0, WNDL_PACKED_NOT, false},
        {"\x1f", 1, WNDL_PACKED_NOT, true},
        {"\x1f\x8b", 2, WNDL_PACKED_NOT, true},
        {"\x1f\x8b\x08", 3, WNDL_PACKED_GZIP, false},
        {"\x1f\x8b\x07", 3, WNDL_PACKED_NOT, false},
        {"\x28\xb5\x2f", 3, WNDL_PACKED_NOT, true},
        {"\x28\xb5\x2f\xfd", 4, WNDL_PACKED_ZSTD, false},
        {"(x", 2, WNDL_PACKED_NOT, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool more;
        struct wndl_bytes head = {
            (const uint8_t *)cases[i].head, cases[i].size};
        assert_int_equal(wndl_packing_of(head, &more), cases[i].packing);
        assert_int_equal(more, cases[i].more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_unpacked_in_pieces),
        cmocka_unit_test(cut_and_damaged_data_is_an_error_with_its_place),
        cmocka_unit_test(packed_text_is_known_by_its_first_bytes),
    };
    return cmocka_run_group_tests_name("unpacker", tests, NULL, NULL);
}
