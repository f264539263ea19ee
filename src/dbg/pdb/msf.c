/* SPDX-License-Identifier: MIT */
#include "dbg/pdb/msf.h"

#include <string.h>

static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\x1a"
                            "DS\0\0";

enum {
    MAGIC_SIZE = 32,
    SMALLEST_BLOCK = 512,
    LARGEST_BLOCK = 64 << 10,
    NIL_SIZE = -1, /* of a stream that was deleted */
};

bool wndl_msf_is(struct wndl_bytes file)
{
    return file.size >= MAGIC_SIZE && memcmp(file.data, magic, MAGIC_SIZE) == 0;
}

static uint32_t number_at(const uint8_t *bytes, size_t index)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){bytes, 4 * index + 4}, 4 * index, false);
    return wndl_cursor_u32(&c);
}

/* The part of `range` whose blocks are contiguous in the file. */
static struct wndl_bytes in_a_row(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range)
{
    uint64_t at = range.offset / msf->block_size;
    uint64_t inside = range.offset % msf->block_size;
    uint64_t first = number_at(stream->blocks, at);
    uint64_t blocks = 1;
    while (blocks * msf->block_size - inside < range.size &&
           number_at(stream->blocks, at + blocks) == first + blocks)
        blocks++;
    uint64_t size = blocks * msf->block_size - inside;
    return wndl_bytes_slice(msf->file, first * msf->block_size + inside,
        size < range.size ? size : range.size);
}

/* Fills `to`, whose first `done` bytes of `range` exist. */
static bool copy_rest(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range,
    uint8_t *to)
{
    while (range.size != 0) {
        struct wndl_bytes part = in_a_row(msf, stream, range);
        if (part.size == 0)
            return false;
        memcpy(to, part.data, part.size);
        to += part.size;
        range.offset += part.size;
        range.size -= part.size;
    }
    return true;
}

struct wndl_bytes wndl_msf_read(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range,
    struct wndl_buf *scratch)
{
    if (range.offset >= stream->size)
        return (struct wndl_bytes){0};
    if (range.size > stream->size - range.offset)
        range.size = stream->size - range.offset;
    struct wndl_bytes part = in_a_row(msf, stream, range);
    if (part.size == range.size || part.size == 0)
        return part;
    wndl_buf_clear(scratch);
    uint8_t *to = wndl_buf_reserve(scratch, range.size);
    if (to == NULL || !copy_rest(msf, stream, range, to))
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){to, (size_t)range.size};
}

enum wndl_status wndl_msf_load(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range,
    struct wndl_mem *mem, struct wndl_msf_piece *piece)
{
    *piece = (struct wndl_msf_piece){0};
    if (range.offset > stream->size || range.size > stream->size - range.offset)
        return WNDL_TRUNCATED;
    if (range.size == 0)
        return WNDL_OK;
    struct wndl_bytes part = in_a_row(msf, stream, range);
    if (part.size == range.size) {
        piece->bytes = part;
        return WNDL_OK;
    }
    if (part.size == 0)
        return WNDL_TRUNCATED;
    piece->own = mem->resize(mem, NULL, (size_t)range.size);
    if (piece->own == NULL)
        return WNDL_NOMEM;
    if (!copy_rest(msf, stream, range, piece->own)) {
        wndl_msf_free(piece, mem);
        return WNDL_TRUNCATED;
    }
    piece->bytes = (struct wndl_bytes){piece->own, (size_t)range.size};
    return WNDL_OK;
}

void wndl_msf_free(struct wndl_msf_piece *piece, struct wndl_mem *mem)
{
    wndl_mem_free(mem, piece->own);
    *piece = (struct wndl_msf_piece){0};
}

struct wndl_msf_stream wndl_msf_stream(
    const struct wndl_msf *msf, uint32_t number)
{
    return number < msf->stream_count && number != WNDL_MSF_NO_STREAM
               ? msf->streams[number]
               : (struct wndl_msf_stream){0};
}

static uint64_t blocks_of(const struct wndl_msf *msf, uint64_t size)
{
    return (size + msf->block_size - 1) / msf->block_size;
}

/* The number of streams, their sizes, then the numbers of their blocks. */
static enum wndl_status read_directory(struct wndl_msf *msf,
    struct wndl_arena *arena, struct wndl_bytes directory,
    struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(directory, 0, false);
    uint32_t count = wndl_cursor_u32(&c);
    uint64_t blocks = 4 + UINT64_C(4) * count;
    if (c.failed || blocks > directory.size)
        return wndl_fail_at(err, WNDL_MALFORMED, "stream directory", 0,
            "more streams than it has room for");
    msf->streams = wndl_arena_calloc(arena, count, sizeof *msf->streams);
    if (msf->streams == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the streams");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = wndl_cursor_offset(&c);
        uint32_t size = wndl_cursor_u32(&c);
        if (size == (uint32_t)NIL_SIZE)
            size = 0;
        uint64_t needed = 4 * blocks_of(msf, size);
        if (size > msf->file.size || needed > directory.size - blocks)
            return wndl_fail_at(err, WNDL_MALFORMED, "stream directory", at,
                "a stream that is larger than the file");
        msf->streams[i] =
            (struct wndl_msf_stream){size, directory.data + blocks};
        blocks += needed;
    }
    msf->stream_count = count;
    return WNDL_OK;
}

/*
 * The directory is a stream too; the numbers of its blocks are in contiguous
 * blocks.
 */
static enum wndl_status open_directory(
    struct wndl_msf *msf, struct wndl_arena *arena, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(msf->file, MAGIC_SIZE + 12, false);
    uint64_t size = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4);
    uint64_t map = (uint64_t)wndl_cursor_u32(&c) * msf->block_size;
    if (size > msf->file.size)
        return wndl_fail_at(err, WNDL_MALFORMED, "file", MAGIC_SIZE + 12,
            "a directory that is larger than the file");
    struct wndl_bytes numbers =
        wndl_bytes_slice(msf->file, map, 4 * blocks_of(msf, size));
    if (numbers.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", MAGIC_SIZE + 20,
            "the directory is past the end of the file");
    const struct wndl_msf_stream stream = {(uint32_t)size, numbers.data};
    struct wndl_msf_piece piece;
    enum wndl_status status = wndl_msf_load(
        msf, &stream, (struct wndl_msf_range){0, size}, arena->mem, &piece);
    if (status == WNDL_TRUNCATED)
        return wndl_fail_at(err, status, "file", map,
            "blocks of the directory are past the end of the file");
    struct wndl_bytes directory = piece.bytes;
    if (status == WNDL_OK && piece.own != NULL)
        directory.data = (const uint8_t *)wndl_arena_copy(
            arena, directory.data, directory.size);
    wndl_msf_free(&piece, arena->mem);
    if (status != WNDL_OK || directory.data == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the directory");
    return read_directory(msf, arena, directory, err);
}

enum wndl_status wndl_msf_open(struct wndl_bytes file, struct wndl_arena *arena,
    struct wndl_msf *msf, struct wndl_error *err)
{
    *msf = (struct wndl_msf){.file = file};
    struct wndl_cursor c = wndl_cursor_at(file, MAGIC_SIZE, false);
    msf->block_size = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 20);
    if (!wndl_msf_is(file))
        return wndl_fail_at(
            err, WNDL_UNSUPPORTED, "file", 0, "not a PDB file of version 7");
    if (c.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", file.size,
            "the file ends within its header");
    if (msf->block_size < SMALLEST_BLOCK || msf->block_size > LARGEST_BLOCK ||
        (msf->block_size & (msf->block_size - 1)) != 0)
        return wndl_fail_at(
            err, WNDL_MALFORMED, "file", MAGIC_SIZE, "an invalid block size");
    return open_directory(msf, arena, err);
}
