/* SPDX-License-Identifier: MIT */
#include "in/core/gunzip.h"

/* The most bytes that zlib reads at once. */
enum { INPUT_STEP = 1 << 30 };

bool wndl_gunzip_is_gzip(struct wndl_bytes file)
{
    return file.size >= 2 && file.data[0] == 0x1f && file.data[1] == 0x8b;
}

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

enum wndl_status wndl_gunzip_begin(z_stream *stream, struct wndl_mem *mem)
{
    enum { GZIP_ALONE = 16 }; /* in zlib's windowBits */
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    stream->opaque = mem;
    return inflateInit2(stream, MAX_WBITS + GZIP_ALONE) == Z_OK ? WNDL_OK
                                                                : WNDL_NOMEM;
}

enum wndl_status wndl_gunzip_open(
    struct wndl_gunzip *g, struct wndl_bytes file, struct wndl_mem *mem)
{
    *g = (struct wndl_gunzip){.file = file, .between = true};
    return wndl_gunzip_begin(&g->stream, mem);
}

void wndl_gunzip_close(struct wndl_gunzip *g)
{
    if (g->stream.zalloc != NULL)
        (void)inflateEnd(&g->stream);
}

static enum wndl_status status_of(int result)
{
    switch (result) {
    case Z_OK:
        return WNDL_OK;
    case Z_STREAM_END:
        return WNDL_NOT_FOUND;
    case Z_MEM_ERROR:
        return WNDL_NOMEM;
    default:
        return WNDL_MALFORMED;
    }
}

enum wndl_status wndl_gunzip_some(
    struct wndl_gunzip *g, uint8_t *to, size_t room, size_t *got)
{
    size_t left = g->file.size - g->taken;
    uInt step = left < INPUT_STEP ? (uInt)left : INPUT_STEP;
    g->stream.next_in = (z_const Bytef *)(g->file.data + g->taken);
    g->stream.avail_in = step;
    g->stream.next_out = to;
    g->stream.avail_out = (uInt)room;
    int result = inflate(&g->stream, Z_NO_FLUSH);
    *got = room - g->stream.avail_out;
    g->taken += step - g->stream.avail_in;
    g->between = result == Z_STREAM_END;
    if (result == Z_STREAM_END && inflateReset(&g->stream) != Z_OK)
        return WNDL_MALFORMED;
    return status_of(result);
}

enum wndl_status wndl_gunzip_fail(const struct wndl_gunzip *g,
    enum wndl_status status, struct wndl_error *err)
{
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "no memory to decompress it");
    return wndl_fail_at(err, status, "gzip", g->taken,
        status == WNDL_TRUNCATED ? "the file ends within its compressed data"
                                 : "damaged compressed data");
}
