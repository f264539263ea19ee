/* SPDX-License-Identifier: MIT */
#include "rec/chunk.h"

#include "rec/crc32c.h"

#include <string.h>

enum { MAGIC_SIZE = 8, HEADER_CRC_AT = 20, CHUNK_HEADER_SIZE = 8 };

/* Not a text file, and damaged by any transfer as text. */
static const uint8_t magic[MAGIC_SIZE] = {
    0x89, 'W', 'N', 'D', 'L', '\r', '\n', 0x1a};

void wndl_chunk_file_header(struct wndl_buf *out)
{
    size_t start = out->size;
    wndl_buf_add(out, magic, sizeof magic);
    wndl_buf_u32le(out, WNDL_FILE_MAJOR | WNDL_FILE_MINOR << 16);
    wndl_buf_u64le(out, 0);
    if (!out->failed)
        wndl_buf_u32le(out, wndl_crc32c(0, out->data + start, HEADER_CRC_AT));
}

void wndl_chunk_begin(
    struct wndl_chunk_writer *w, struct wndl_buf *out, uint32_t type)
{
    *w = (struct wndl_chunk_writer){out, out->size};
    wndl_buf_u32le(out, type);
    wndl_buf_u32le(out, 0);
}

enum wndl_status wndl_chunk_finish(struct wndl_chunk_writer *w)
{
    struct wndl_buf *out = w->out;
    if (out->failed)
        return WNDL_NOMEM;
    size_t payload = out->size - w->start - CHUNK_HEADER_SIZE;
    if (payload > WNDL_CHUNK_MAX) {
        out->size = w->start;
        return WNDL_LIMIT;
    }
    uint8_t *header = out->data + w->start;
    for (int i = 0; i < 4; i++)
        header[4 + i] = (uint8_t)(payload >> 8 * i);
    wndl_buf_u32le(out, wndl_crc32c(0, header, CHUNK_HEADER_SIZE + payload));
    return out->failed ? WNDL_NOMEM : WNDL_OK;
}

void wndl_chunk_str(struct wndl_buf *out, struct wndl_bytes s)
{
    wndl_buf_uleb(out, s.size);
    wndl_buf_add(out, s.data, s.size);
}

enum wndl_status wndl_chunk_reader_init(
    struct wndl_chunk_reader *r, struct wndl_bytes file, struct wndl_error *err)
{
    *r = (struct wndl_chunk_reader){.cursor = wndl_cursor_at(file, 0, false)};
    size_t known = file.size < MAGIC_SIZE ? file.size : MAGIC_SIZE;
    if (known == 0 || memcmp(file.data, magic, known) != 0)
        return wndl_fail(
            err, WNDL_MALFORMED, "not a windlass recording (wrong magic)");
    wndl_cursor_skip(&r->cursor, MAGIC_SIZE);
    unsigned major = wndl_cursor_u16(&r->cursor);
    wndl_cursor_skip(&r->cursor, 2); /* every minor is read */
    uint64_t features = wndl_cursor_u64(&r->cursor);
    uint32_t crc = wndl_cursor_u32(&r->cursor);
    if (r->cursor.failed)
        return wndl_fail_at(
            err, WNDL_TRUNCATED, "header", file.size, "the file ends here");
    if (crc != wndl_crc32c(0, file.data, HEADER_CRC_AT))
        return wndl_fail_at(err, WNDL_MALFORMED, "header", HEADER_CRC_AT,
            "the file header is damaged (wrong CRC)");
    if (major != WNDL_FILE_MAJOR)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "recording format version %u, this windlass reads version %d",
            major, WNDL_FILE_MAJOR);
    if (features != 0)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "needs features 0x%llx that this windlass does not have; use the "
            "one that recorded it",
            (unsigned long long)features);
    return WNDL_OK;
}

bool wndl_chunk_next(struct wndl_chunk_reader *r, struct wndl_chunk *chunk)
{
    struct wndl_cursor *c = &r->cursor;
    while (wndl_cursor_left(c) != 0) {
        const uint8_t *header = c->next;
        chunk->type = wndl_cursor_u32(c);
        uint32_t size = wndl_cursor_u32(c);
        chunk->offset = wndl_cursor_offset(c);
        const uint8_t *payload =
            size > WNDL_CHUNK_MAX ? NULL : wndl_cursor_take(c, size);
        uint32_t crc = wndl_cursor_u32(c);
        if (payload == NULL || c->failed) {
            r->cut = true;
            wndl_cursor_fail(c);
            return false;
        }
        chunk->payload = (struct wndl_bytes){payload, size};
        if (crc == wndl_crc32c(0, header, CHUNK_HEADER_SIZE + (size_t)size))
            return true;
        if (r->damaged++ == 0)
            r->damaged_at = chunk->offset;
    }
    return false;
}

struct wndl_bytes wndl_chunk_read_str(struct wndl_cursor *c)
{
    uint64_t size = wndl_cursor_uleb(c);
    const uint8_t *data = wndl_cursor_take(c, size);
    return (struct wndl_bytes){data, data == NULL ? 0 : (size_t)size};
}
