/* SPDX-License-Identifier: MIT */
#include "in/jitdump.h"

/* "JiTD" as a number of the runtime's byte order. */
#define MAGIC UINT32_C(0x4a695444)

enum {
    VERSION = 1,
    HEADER_SIZE = 40,
    RECORD_HEADER_SIZE = 16,
    LINE_SIZE_MIN = 17, /* address, line, column, an empty name's NUL */
};

enum wndl_status wndl_jitdump_open(
    struct wndl_jitdump *dump, struct wndl_bytes file, struct wndl_error *err)
{
    *dump = (struct wndl_jitdump){.cursor = wndl_cursor_at(file, 0, false)};
    struct wndl_cursor *c = &dump->cursor;
    if (file.size < HEADER_SIZE)
        return wndl_fail(err, WNDL_TRUNCATED, "shorter than a header");
    uint32_t magic = wndl_cursor_u32(c);
    if (magic != MAGIC && __builtin_bswap32(magic) != MAGIC)
        return wndl_fail(err, WNDL_MALFORMED, "not a jitdump");
    c->big_endian = magic != MAGIC;
    uint32_t version = wndl_cursor_u32(c);
    uint32_t size = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 2 * 4); /* machine, padding */
    dump->pid = wndl_cursor_u32(c);
    if (version != VERSION)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "unsupported jitdump version %u (expected 1)", version);
    if (size < HEADER_SIZE || size > file.size)
        return wndl_fail(err, WNDL_MALFORMED, "impossible header size");
    *c = wndl_cursor_at(file, size, c->big_endian);
    return WNDL_OK;
}

static bool is_range(const struct wndl_jitdump_record *r)
{
    uint64_t end;
    return !__builtin_add_overflow(r->start, r->size, &end);
}

static bool read_load(struct wndl_cursor *c, struct wndl_jitdump_record *r)
{
    wndl_cursor_skip(c, 2 * 4 + 8); /* pid, tid, vma */
    r->start = wndl_cursor_u64(c);
    r->size = wndl_cursor_u64(c);
    r->index = wndl_cursor_u64(c);
    r->name = wndl_cursor_cstr(c);
    return !c->failed && is_range(r);
}

static bool read_move(struct wndl_cursor *c, struct wndl_jitdump_record *r)
{
    wndl_cursor_skip(c, 2 * 4 + 8 + 8); /* pid, tid, vma, old address */
    r->start = wndl_cursor_u64(c);
    r->size = wndl_cursor_u64(c);
    r->index = wndl_cursor_u64(c);
    return !c->failed && is_range(r);
}

static bool read_lines(struct wndl_cursor *c, struct wndl_jitdump_record *r)
{
    r->start = wndl_cursor_u64(c);
    r->line_count = wndl_cursor_u64(c);
    r->lines = *c;
    return !c->failed && r->line_count <= wndl_cursor_left(c) / LINE_SIZE_MIN;
}

static bool read_body(
    struct wndl_cursor *c, uint32_t kind, struct wndl_jitdump_record *r)
{
    *r = (struct wndl_jitdump_record){.kind = (enum wndl_jitdump_kind)kind};
    switch (r->kind) {
    case WNDL_JITDUMP_LOAD:
        return read_load(c, r);
    case WNDL_JITDUMP_MOVE:
        return read_move(c, r);
    case WNDL_JITDUMP_LINES:
        return read_lines(c, r);
    case WNDL_JITDUMP_CLOSE:
        break;
    }
    return true;
}

/* Takes a record. False at the end; the rest may be less than a record. */
static bool take_record(
    struct wndl_jitdump *dump, uint32_t *kind, struct wndl_cursor *body)
{
    struct wndl_cursor *c = &dump->cursor;
    size_t left = wndl_cursor_left(c);
    if (left == 0)
        return false;
    *kind = wndl_cursor_u32(c);
    uint32_t size = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 8); /* timestamp */
    if (c->failed || size < RECORD_HEADER_SIZE || size > left) {
        dump->cut = true;
        wndl_cursor_fail(c);
        return false;
    }
    *body = wndl_cursor_sub(c, size - RECORD_HEADER_SIZE);
    return true;
}

bool wndl_jitdump_next(
    struct wndl_jitdump *dump, struct wndl_jitdump_record *record)
{
    uint32_t kind;
    struct wndl_cursor body;
    while (take_record(dump, &kind, &body)) {
        if (kind > WNDL_JITDUMP_CLOSE)
            continue;
        if (read_body(&body, kind, record))
            return true;
        dump->damaged++;
    }
    return false;
}

bool wndl_jitdump_line(
    struct wndl_cursor *lines, struct wndl_jitdump_line *line)
{
    line->address = wndl_cursor_u64(lines);
    line->line = wndl_cursor_u32(lines);
    line->column = wndl_cursor_u32(lines);
    struct wndl_bytes file = wndl_cursor_cstr(lines);
    /* A single byte 0xff: the same as before. */
    if (!lines->failed && (file.size != 1 || file.data[0] != 0xff))
        line->file = file;
    return !lines->failed;
}
