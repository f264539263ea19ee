/* SPDX-License-Identifier: MIT */
#include "in/pprof_inflate.h"

#include <zlib.h>

enum { STEP = 1 << 18, INPUT_STEP = 1 << 30 };

static void *zlib_alloc(void *opaque, uInt count, uInt size)
{
    size_t bytes;
    struct wndl_mem *mem = opaque;
    if (__builtin_mul_overflow((size_t)count, (size_t)size, &bytes))
        return NULL;
    return mem->resize(mem, NULL, bytes);
}

static void zlib_free(void *opaque, void *old)
{
    wndl_mem_free(opaque, old);
}

static enum wndl_status damaged(
    enum wndl_status status, uint64_t offset, struct wndl_error *err)
{
    return wndl_fail_at(err, status, "gzip", offset,
        status == WNDL_TRUNCATED ? "the file ends within its compressed data"
                                 : "damaged compressed data");
}

/* One call of zlib. `*taken` bytes of the file are used up. */
static enum wndl_status inflate_some(z_stream *z, struct wndl_bytes file,
    size_t *taken, struct wndl_buf *out, struct wndl_error *err)
{
    size_t left = file.size - *taken;
    uint8_t *to = wndl_buf_reserve(out, STEP);
    if (to == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory to decompress it");
    uInt step = left < INPUT_STEP ? (uInt)left : INPUT_STEP;
    z->next_in = (z_const Bytef *)(file.data + *taken);
    z->avail_in = step;
    z->next_out = to;
    z->avail_out = STEP;
    int result = inflate(z, Z_NO_FLUSH);
    *taken += step - z->avail_in;
    out->size += STEP - z->avail_out;
    if (result == Z_MEM_ERROR)
        return wndl_fail(err, WNDL_NOMEM, "no memory to decompress it");
    if (out->size > WNDL_PPROF_MOST)
        return wndl_fail(
            err, WNDL_LIMIT, "decompressed it is larger than 512 MiB");
    if (result == Z_STREAM_END)
        result = *taken == file.size ? Z_STREAM_END : inflateReset(z);
    else if (*taken == file.size && z->avail_out != 0)
        return damaged(WNDL_TRUNCATED, *taken, err);
    return result == Z_OK           ? WNDL_OK
           : result == Z_STREAM_END ? WNDL_NOT_FOUND
                                    : damaged(WNDL_MALFORMED, *taken, err);
}

enum wndl_status wndl_pprof_inflate(
    struct wndl_bytes file, struct wndl_buf *out, struct wndl_error *err)
{
    enum { GZIP_ALONE = 16 }; /* in zlib's windowBits */
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = out->mem};
    size_t taken = 0;
    enum wndl_status status = WNDL_OK;
    if (inflateInit2(&z, MAX_WBITS + GZIP_ALONE) != Z_OK)
        return wndl_fail(err, WNDL_NOMEM, "no memory to decompress it");
    while (status == WNDL_OK)
        status = inflate_some(&z, file, &taken, out, err);
    (void)inflateEnd(&z);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status; /* nothing is left */
}
