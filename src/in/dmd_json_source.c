/* SPDX-License-Identifier: MIT */
#include "in/dmd_json_source.h"

/* zlib takes at most this much at once. */
enum { STEP = 1 << 30 };

bool wndl_dmd_source_is_gzip(struct wndl_bytes file)
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

enum wndl_status wndl_dmd_source_open(struct wndl_dmd_source *source,
    struct wndl_bytes file, struct wndl_mem *mem)
{
    enum { GZIP_ALONE = 16 }; /* in zlib's windowBits */
    *source = (struct wndl_dmd_source){.file = file, .mem = mem};
    if (!wndl_dmd_source_is_gzip(file))
        return WNDL_OK;
    source->between = true;
    source->stream.zalloc = zlib_alloc;
    source->stream.zfree = zlib_free;
    source->stream.opaque = mem;
    if (inflateInit2(&source->stream, MAX_WBITS + GZIP_ALONE) != Z_OK)
        return WNDL_NOMEM;
    source->window = mem->resize(mem, NULL, WNDL_DMD_SOURCE_WINDOW);
    return source->window == NULL ? WNDL_NOMEM : WNDL_OK;
}

void wndl_dmd_source_close(struct wndl_dmd_source *source)
{
    if (source->stream.zalloc != NULL)
        (void)inflateEnd(&source->stream);
    wndl_mem_free(source->mem, source->window);
    source->window = NULL;
}

/* A file is one member or several; what fills up a tape behind it is 0. */
static bool is_behind_last(const struct wndl_dmd_source *s)
{
    size_t at = s->taken;
    while (at < s->file.size && s->file.data[at] == 0)
        at++;
    return s->between && at == s->file.size;
}

static enum wndl_status damaged(const struct wndl_dmd_source *s,
    enum wndl_status status, struct wndl_error *err)
{
    return wndl_fail_at(err, status, "gzip", s->taken,
        status == WNDL_TRUNCATED ? "the file ends within its compressed data"
                                 : "damaged compressed data");
}

/* One call of zlib. Adds to *got what came of it. */
static enum wndl_status inflate_some(
    struct wndl_dmd_source *s, size_t *got, struct wndl_error *err)
{
    size_t left = s->file.size - s->taken;
    if (left == 0)
        return damaged(s, WNDL_TRUNCATED, err);
    uInt step = left < STEP ? (uInt)left : STEP;
    s->stream.next_in = (z_const Bytef *)(s->file.data + s->taken);
    s->stream.avail_in = step;
    s->stream.next_out = s->window + *got;
    s->stream.avail_out = (uInt)(WNDL_DMD_SOURCE_WINDOW - *got);
    int result = inflate(&s->stream, Z_NO_FLUSH);
    *got = WNDL_DMD_SOURCE_WINDOW - s->stream.avail_out;
    s->taken += step - s->stream.avail_in;
    s->between = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR)
        return wndl_fail(err, WNDL_NOMEM, "no memory to decompress it");
    if (result == Z_STREAM_END)
        result = inflateReset(&s->stream);
    return result == Z_OK ? WNDL_OK : damaged(s, WNDL_MALFORMED, err);
}

/* What was read of a member before damage is not given. */
static enum wndl_status inflate_piece(
    struct wndl_dmd_source *s, struct wndl_bytes *piece, struct wndl_error *err)
{
    size_t got = 0;
    while (got == 0 && !is_behind_last(s)) {
        enum wndl_status status = inflate_some(s, &got, err);
        if (status != WNDL_OK)
            return status;
    }
    *piece = (struct wndl_bytes){s->window, got};
    return WNDL_OK;
}

enum wndl_status wndl_dmd_source_more(
    void *context, struct wndl_bytes *piece, struct wndl_error *err)
{
    struct wndl_dmd_source *s = context;
    if (s->window != NULL)
        return inflate_piece(s, piece, err);
    *piece = wndl_bytes_slice(s->file, s->taken, s->file.size - s->taken);
    s->taken = s->file.size;
    return WNDL_OK;
}
