/* SPDX-License-Identifier: MIT */
#include "out/core/sink.h"

enum { PIECE = 64 << 10 };

static void *zlib_alloc(void *opaque, uInt count, uInt size)
{
    struct wndl_mem *mem = opaque;
    return mem->resize(mem, NULL, (size_t)count * size);
}

static void zlib_free(void *opaque, void *old)
{
    wndl_mem_free(opaque, old);
}

/* The fastest level: most of the text repeats itself closely. */
static bool start_packing(struct wndl_sink *sink, struct wndl_mem *mem)
{
    enum { GZIP = 16, MEMORY_LEVEL = 8 }; /* zlib's windowBits, its default */
    if (wndl_buf_reserve(&sink->packed, PIECE) == NULL)
        return false;
    sink->stream.zalloc = zlib_alloc;
    sink->stream.zfree = zlib_free;
    sink->stream.opaque = mem;
    return deflateInit2(&sink->stream, Z_BEST_SPEED, Z_DEFLATED,
               MAX_WBITS + GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

void wndl_sink_open(
    struct wndl_sink *sink, FILE *out, bool zipped, struct wndl_mem *mem)
{
    *sink = (struct wndl_sink){.out = out, .zipped = zipped};
    wndl_buf_init(&sink->text, mem);
    wndl_buf_init(&sink->packed, mem);
    sink->failed = zipped && !start_packing(sink, mem);
}

static void pack_part(
    struct wndl_sink *sink, uint8_t *data, uInt size, int flush)
{
    int result = Z_OK;
    sink->stream.next_in = data;
    sink->stream.avail_in = size;
    do {
        sink->stream.next_out = sink->packed.data;
        sink->stream.avail_out = PIECE;
        result = deflate(&sink->stream, flush);
        fwrite(sink->packed.data, 1, PIECE - sink->stream.avail_out, sink->out);
    } while (sink->stream.avail_out == 0 && result != Z_STREAM_END);
}

/* Compresses the text in parts whose size zlib can count. */
static void pack_text(struct wndl_sink *sink, int flush)
{
    const size_t most = 1 << 30;
    uint8_t *data = sink->text.data;
    size_t left = sink->text.size;
    for (; left > most; left -= most, data += most)
        pack_part(sink, data, (uInt)most, Z_NO_FLUSH);
    pack_part(sink, data, (uInt)left, flush);
}

static void hand_on(struct wndl_sink *sink, int flush)
{
    sink->failed = sink->failed || sink->text.failed;
    if (sink->failed)
        return;
    if (sink->zipped)
        pack_text(sink, flush);
    else if (sink->text.size != 0)
        fwrite(sink->text.data, 1, sink->text.size, sink->out);
    wndl_buf_clear(&sink->text);
}

void wndl_sink_flush(struct wndl_sink *sink)
{
    if (sink->text.size >= PIECE || sink->text.failed)
        hand_on(sink, Z_NO_FLUSH);
}

bool wndl_sink_close(struct wndl_sink *sink)
{
    hand_on(sink, Z_FINISH);
    if (sink->stream.zalloc != NULL)
        (void)deflateEnd(&sink->stream);
    wndl_buf_free(&sink->text);
    wndl_buf_free(&sink->packed);
    return !sink->failed;
}
