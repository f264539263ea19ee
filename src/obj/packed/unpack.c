/* SPDX-License-Identifier: MIT */
#include "obj/packed/unpack.h"

#include <libdeflate.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

/* The most bytes that zlib reads or writes at once. */
static const uint64_t MAX_STEP = UINT32_C(1) << 30;

bool wndl_unpack_plausible(uint64_t packed, uint64_t size)
{
    const uint64_t always = UINT64_C(256) << 20;
    enum { RATIO = 100 };
    return size <= always || size / RATIO <= packed;
}

/* ---- zlib */

static void *zlib_alloc(void *context, uInt items, uInt size)
{
    struct wndl_mem *mem = context;
    return mem->resize(mem, NULL, (size_t)items * size);
}

static void zlib_free(void *context, void *old)
{
    wndl_mem_free(context, old);
}

static uInt step(uint64_t left)
{
    return (uInt)(left < MAX_STEP ? left : MAX_STEP);
}

/* Z_STREAM_END when the stream fills `size` bytes exactly. */
static int run_zlib(z_stream *z, struct wndl_bytes body, uint64_t size)
{
    uint64_t in_left = body.size;
    uint64_t out_left = size;
    int rc = Z_OK;
    while (rc == Z_OK) {
        uInt in = step(in_left);
        uInt out = step(out_left);
        z->avail_in = in;
        z->avail_out = out;
        rc = inflate(z, Z_NO_FLUSH);
        in_left -= in - z->avail_in;
        out_left -= out - z->avail_out;
    }
    return rc == Z_STREAM_END && out_left != 0 ? Z_DATA_ERROR : rc;
}

/*
 * libdeflate takes less than half of zlib's time, but works on the whole and
 * does not report the error or its place.
 */
static bool run_libdeflate(struct wndl_unpack *unpack)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL)
        return false;
    enum libdeflate_result result = libdeflate_zlib_decompress_ex(d,
        unpack->packed.data, unpack->packed.size, unpack->out, unpack->size,
        &unpack->taken, NULL);
    libdeflate_free_decompressor(d);
    return result == LIBDEFLATE_SUCCESS;
}

enum wndl_status wndl_unpack_zlib(struct wndl_unpack *unpack)
{
    if (run_libdeflate(unpack))
        return WNDL_OK;
    z_stream z = {
        .zalloc = zlib_alloc,
        .zfree = zlib_free,
        .opaque = unpack->mem,
        .next_in = (Bytef *)unpack->packed.data,
        .next_out = unpack->out,
    };
    unpack->taken = 0;
    if (inflateInit(&z) != Z_OK)
        return WNDL_NOMEM;
    int rc = run_zlib(&z, unpack->packed, unpack->size);
    unpack->taken = z.total_in;
    inflateEnd(&z);
    if (rc == Z_MEM_ERROR)
        return WNDL_NOMEM;
    return rc == Z_STREAM_END ? WNDL_OK : WNDL_MALFORMED;
}

/* ---- zstd */

bool wndl_zstd_may_give(struct wndl_bytes packed, uint64_t size)
{
    unsigned long long claim =
        ZSTD_getFrameContentSize(packed.data, packed.size);
    return claim == ZSTD_CONTENTSIZE_UNKNOWN ||
           claim == ZSTD_CONTENTSIZE_ERROR || claim <= size;
}

enum wndl_status wndl_unpack_zstd(struct wndl_unpack *unpack)
{
    unpack->taken = 0;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return WNDL_NOMEM;
    size_t size = ZSTD_decompressDCtx(context, unpack->out, unpack->size,
        unpack->packed.data, unpack->packed.size);
    ZSTD_freeDCtx(context);
    return size == unpack->size ? WNDL_OK : WNDL_MALFORMED;
}

/* ---- xz */

static void *xz_alloc(void *context, size_t items, size_t size)
{
    struct wndl_mem *mem = context;
    return mem->resize(mem, NULL, items * size);
}

static void xz_free(void *context, void *old)
{
    wndl_mem_free(context, old);
}

static enum wndl_status xz_status(lzma_ret rc)
{
    switch (rc) {
    case LZMA_STREAM_END:
        return WNDL_OK;
    case LZMA_MEM_ERROR:
        return WNDL_NOMEM;
    case LZMA_MEMLIMIT_ERROR:
        return WNDL_LIMIT;
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
        return WNDL_UNSUPPORTED;
    default:
        return WNDL_MALFORMED;
    }
}

/* Until the data end; `out` doubles. */
static enum wndl_status run_xz(
    lzma_stream *xz, size_t packed, struct wndl_buf *out)
{
    enum { FIRST = 64 * 1024 };
    lzma_ret rc = LZMA_OK;
    while (rc == LZMA_OK) {
        size_t more = out->size < FIRST ? FIRST : out->size;
        if (!wndl_unpack_plausible(packed, out->size + more))
            return WNDL_LIMIT;
        xz->next_out = wndl_buf_reserve(out, more);
        if (xz->next_out == NULL)
            return WNDL_NOMEM;
        xz->avail_out = more;
        rc = lzma_code(xz, LZMA_FINISH);
        out->size += more - xz->avail_out;
    }
    return xz_status(rc);
}

enum wndl_status wndl_unpack_xz(
    struct wndl_bytes packed, struct wndl_buf *out, uint64_t *taken)
{
    /* The largest dictionary: `xz -9` uses 64 MiB. */
    const uint64_t most_memory = UINT64_C(256) << 20;
    const lzma_allocator allocator = {xz_alloc, xz_free, out->mem};
    lzma_stream xz = LZMA_STREAM_INIT;
    *taken = 0;
    xz.allocator = &allocator;
    lzma_ret rc = lzma_stream_decoder(&xz, most_memory, LZMA_CONCATENATED);
    if (rc != LZMA_OK)
        return WNDL_NOMEM;
    xz.next_in = packed.data;
    xz.avail_in = packed.size;
    enum wndl_status status = run_xz(&xz, packed.size, out);
    *taken = packed.size - xz.avail_in;
    lzma_end(&xz);
    return status;
}
