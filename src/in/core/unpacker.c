/* SPDX-License-Identifier: MIT */
#include "in/core/unpacker.h"

#include "in/core/gunzip.h"

#include <string.h>
#include <zstd.h>

/* The most bytes that zlib reads at once. */
enum { MOST_AT_ONCE = 1 << 30 };

enum wndl_packing wndl_packing_of(struct wndl_bytes head, bool *more)
{
    static const struct {
        uint8_t bytes[4];
        uint8_t size;
        enum wndl_packing packing;
    } magics[] = {{{0x1f, 0x8b, 0x08}, 3, WNDL_PACKED_GZIP},
        {{0x28, 0xb5, 0x2f, 0xfd}, 4, WNDL_PACKED_ZSTD}};
    *more = false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        size_t size = head.size < magics[i].size ? head.size : magics[i].size;
        if (size == 0 || memcmp(head.data, magics[i].bytes, size) != 0)
            continue;
        if (size == magics[i].size)
            return magics[i].packing;
        *more = true;
    }
    return WNDL_PACKED_NOT;
}

enum wndl_status wndl_unpacker_open(
    struct wndl_unpacker *u, enum wndl_packing packing, struct wndl_mem *mem)
{
    *u = (struct wndl_unpacker){.packing = packing, .between = true};
    if (packing == WNDL_PACKED_ZSTD) {
        u->zstd = ZSTD_createDStream();
        return u->zstd == NULL ? WNDL_NOMEM : WNDL_OK;
    }
    return wndl_gunzip_begin(&u->z, mem);
}

void wndl_unpacker_close(struct wndl_unpacker *u)
{
    if (u->packing == WNDL_PACKED_ZSTD)
        ZSTD_freeDStream(u->zstd);
    else if (u->z.zalloc != NULL)
        (void)inflateEnd(&u->z);
}

static enum wndl_status unzip(struct wndl_unpacker *u,
    struct wndl_bytes *packed, struct wndl_unpacked *to)
{
    uInt size = packed->size < MOST_AT_ONCE ? (uInt)packed->size : MOST_AT_ONCE;
    uInt most = to->room < MOST_AT_ONCE ? (uInt)to->room : MOST_AT_ONCE;
    u->z.next_in = (z_const Bytef *)packed->data;
    u->z.avail_in = size;
    u->z.next_out = to->data;
    u->z.avail_out = most;
    int result = inflate(&u->z, Z_NO_FLUSH);
    to->size = most - u->z.avail_out;
    packed->data += size - u->z.avail_in;
    packed->size -= size - u->z.avail_in;
    u->between = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR)
        return WNDL_NOMEM;
    if (result == Z_STREAM_END && inflateReset(&u->z) != Z_OK)
        return WNDL_MALFORMED;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR
               ? WNDL_OK
               : WNDL_MALFORMED;
}

static enum wndl_status unzstd(struct wndl_unpacker *u,
    struct wndl_bytes *packed, struct wndl_unpacked *to)
{
    ZSTD_inBuffer in = {packed->data, packed->size, 0};
    ZSTD_outBuffer out = {to->data, to->room, 0};
    size_t result = ZSTD_decompressStream(u->zstd, &out, &in);
    to->size = out.pos;
    packed->data += in.pos;
    packed->size -= in.pos;
    u->between = result == 0;
    return ZSTD_isError(result) ? WNDL_MALFORMED : WNDL_OK;
}

static const char *name_of(const struct wndl_unpacker *u)
{
    return u->packing == WNDL_PACKED_ZSTD ? "zstd" : "gzip";
}

enum wndl_status wndl_unpacker_some(struct wndl_unpacker *u,
    struct wndl_bytes *packed, struct wndl_unpacked *to, struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    to->size = 0;
    while (to->size == 0 && packed->size != 0 && status == WNDL_OK) {
        size_t before = packed->size;
        status = u->packing == WNDL_PACKED_ZSTD ? unzstd(u, packed, to)
                                                : unzip(u, packed, to);
        u->taken += before - packed->size;
    }
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "no memory to unpack it");
    return status == WNDL_OK ? status
                             : wndl_fail_at(err, status, name_of(u), u->taken,
                                   "damaged packed data");
}

enum wndl_status wndl_unpacker_end(
    const struct wndl_unpacker *u, struct wndl_error *err)
{
    return u->between ? WNDL_OK
                      : wndl_fail_at(err, WNDL_TRUNCATED, name_of(u), u->taken,
                            "the text ends within its packed data");
}
