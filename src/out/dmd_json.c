/* SPDX-License-Identifier: MIT */
#include "out/dmd_json.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <zlib.h>

enum { PIECE = 64 << 10 };

/* Text is collected in `text` and handed on in pieces. */
struct writer {
    FILE *out;
    const struct wndl_heap_list *list;
    struct wndl_buf text;
    struct wndl_buf packed; /* PIECE bytes, if it is compressed */
    z_stream stream;
    bool zipped, failed;
};

/* ---- compression */

static void *zlib_alloc(void *opaque, uInt count, uInt size)
{
    struct wndl_mem *mem = opaque;
    return mem->resize(mem, NULL, (size_t)count * size);
}

static void zlib_free(void *opaque, void *old)
{
    wndl_mem_free(opaque, old);
}

static bool start(struct writer *w, struct wndl_mem *mem)
{
    enum { GZIP = 16, MEMORY_LEVEL = 8 }; /* zlib's windowBits, its default */
    wndl_buf_init(&w->text, mem);
    wndl_buf_init(&w->packed, mem);
    if (!w->zipped)
        return true;
    w->stream.zalloc = zlib_alloc;
    w->stream.zfree = zlib_free;
    w->stream.opaque = mem;
    if (wndl_buf_reserve(&w->packed, PIECE) == NULL)
        return false;
    return deflateInit2(&w->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
               MAX_WBITS + GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void compress_text(struct writer *w, int flush)
{
    int result = Z_OK;
    w->stream.next_in = w->text.data;
    w->stream.avail_in = (uInt)w->text.size;
    do {
        w->stream.next_out = w->packed.data;
        w->stream.avail_out = PIECE;
        result = deflate(&w->stream, flush);
        fwrite(w->packed.data, 1, PIECE - w->stream.avail_out, w->out);
    } while (w->stream.avail_out == 0 && result != Z_STREAM_END);
}

/* A piece is at most as long as its longest row and PIECE. */
static void hand_on(struct writer *w, bool last)
{
    w->failed = w->failed || w->text.failed;
    if (w->failed || (!last && w->text.size < PIECE))
        return;
    if (w->zipped)
        compress_text(w, last ? Z_FINISH : Z_NO_FLUSH);
    else
        fwrite(w->text.data, 1, w->text.size, w->out);
    wndl_buf_clear(&w->text);
}

/* ---- rows */

static void write_id(struct writer *w, uint32_t number)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
    int shift = 30;
    while (shift > 0 && number >> shift == 0)
        shift -= 5;
    wndl_buf_byte(&w->text, '"');
    for (; shift >= 0; shift -= 5)
        wndl_buf_byte(&w->text, (uint8_t)digits[number >> shift & 31]);
    wndl_buf_byte(&w->text, '"');
}

static void start_row(struct writer *w, bool *first)
{
    hand_on(w, false);
    wndl_buf_text(&w->text, *first ? "\n  " : ",\n  ");
    *first = false;
}

/* Blocks that there are, of which some were taken. */
static int64_t number_of(const struct wndl_heap_blocks *blocks)
{
    return llround((double)blocks->count * blocks->weight);
}

static void write_blocks(struct writer *w)
{
    bool first = true;
    for (size_t i = 0; i < w->list->blocks.len && !w->failed; i++) {
        const struct wndl_heap_blocks *b = wndl_vec_at(&w->list->blocks, i);
        int64_t number = number_of(b);
        if (number <= 0)
            continue;
        start_row(w, &first);
        wndl_buf_printf(&w->text, "{\"req\": %" PRIu64, b->requested);
        if (b->slop != 0)
            wndl_buf_printf(&w->text, ", \"slop\": %" PRIu64, b->slop);
        if (b->stacks[WNDL_HEAP_ALLOCATED] != 0) {
            wndl_buf_text(&w->text, ", \"alloc\": ");
            write_id(w, b->stacks[WNDL_HEAP_ALLOCATED]);
        }
        if (number != 1)
            wndl_buf_printf(&w->text, ", \"num\": %" PRId64, number);
        wndl_buf_byte(&w->text, '}');
    }
}

static void write_trace(struct writer *w, uint32_t leaf)
{
    write_id(w, leaf);
    wndl_buf_text(&w->text, ": [");
    for (uint32_t at = leaf; at != 0;) {
        const struct wndl_heap_frame *frame = wndl_heap_frame_at(w->list, at);
        wndl_buf_text(&w->text, at == leaf ? "" : ", ");
        write_id(w, frame->text);
        at = frame->caller;
    }
    wndl_buf_byte(&w->text, ']');
}

/* Of all frames those that a block was allocated by. */
static void write_traces(struct writer *w, const bool *is_leaf)
{
    bool first = true;
    for (uint32_t i = 1; i < w->list->frames.len && !w->failed; i++) {
        if (!is_leaf[i])
            continue;
        start_row(w, &first);
        write_trace(w, i);
    }
}

static void write_frames(struct writer *w)
{
    bool first = true;
    for (uint32_t i = 0; i < wndl_intern_count(&w->list->strings) && !w->failed;
         i++) {
        start_row(w, &first);
        write_id(w, i);
        wndl_buf_text(&w->text, ": \"#00: ");
        wndl_json_escaped(&w->text, wndl_intern_get(&w->list->strings, i));
        wndl_buf_byte(&w->text, '"');
    }
}

static void write_file(struct writer *w, bool *is_leaf)
{
    for (size_t i = 0; i < w->list->blocks.len; i++) {
        const struct wndl_heap_blocks *b = wndl_vec_at(&w->list->blocks, i);
        is_leaf[b->stacks[WNDL_HEAP_ALLOCATED]] = true;
    }
    wndl_buf_printf(&w->text,
        "{\n \"version\": 5,\n"
        " \"invocation\": {\"dmdEnvVar\": null, \"mode\": \"%s\"},\n"
        " \"blockList\": [",
        w->list->mode == WNDL_HEAP_MODE_CUMULATIVE ? "cumulative" : "live");
    write_blocks(w);
    wndl_buf_text(&w->text, "\n ],\n \"traceTable\": {");
    write_traces(w, is_leaf);
    wndl_buf_text(&w->text, "\n },\n \"frameTable\": {");
    write_frames(w);
    wndl_buf_text(&w->text, "\n }\n}\n");
    hand_on(w, true);
}

bool wndl_dmd_json_write(FILE *out, const struct wndl_heap_list *list,
    bool zipped, struct wndl_mem *mem)
{
    struct writer w = {.out = out, .list = list, .zipped = zipped};
    struct wndl_arena arena;
    wndl_arena_init(&arena, mem);
    bool started = start(&w, mem);
    bool *is_leaf =
        wndl_arena_calloc(&arena, list->frames.len, sizeof *is_leaf);
    bool whole = started && is_leaf != NULL;
    if (whole)
        write_file(&w, is_leaf);
    if (w.stream.zalloc != NULL)
        (void)deflateEnd(&w.stream);
    wndl_buf_free(&w.text);
    wndl_buf_free(&w.packed);
    wndl_arena_free(&arena);
    return whole && !w.failed;
}
