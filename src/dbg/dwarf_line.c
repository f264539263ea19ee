/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf_internal.h"

static const char *const SECTION = ".debug_line";

/* DWARF 5, 6.2.4, without the tables. */
struct header {
    struct wndl_dw_encoding encoding;
    uint8_t min_inst_length;
    uint8_t max_ops;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    struct wndl_bytes opcode_lengths; /* of opcodes 1 to opcode_base - 1 */
};

/* The state machine of DWARF 5, 6.2.2, and the sequence being collected. */
struct program {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *unit;
    struct wndl_dw_lines *lines;
    struct header header;
    struct wndl_cursor c;
    uint64_t at; /* of the program in .debug_line, for messages */
    uint64_t address;
    uint32_t op_index;
    uint32_t file;
    uint32_t line;
    uint32_t column;
    /* What each special opcode does, so that none needs a division. */
    struct {
        uint8_t operations;
        int16_t lines;
    } special[256];
    bool is_open; /* a row of the sequence was seen */
    uint64_t start;
    uint64_t last;
    size_t first_row;
};

static enum wndl_status damaged(
    struct wndl_dwarf *d, uint64_t at, const char *what)
{
    return wndl_dw_damage(d, SECTION, at, what);
}

static uint64_t read_length(struct wndl_cursor *c, uint8_t *offset_size)
{
    uint32_t length = wndl_cursor_u32(c);
    *offset_size = length == UINT32_MAX ? 8 : 4;
    return length == UINT32_MAX ? wndl_cursor_u64(c) : length;
}

static void read_fields(struct wndl_cursor *c, struct header *h)
{
    h->min_inst_length = wndl_cursor_u8(c);
    h->max_ops = h->encoding.version >= 4 ? wndl_cursor_u8(c) : 1;
    (void)wndl_cursor_u8(c); /* default_is_stmt */
    h->line_base = (int8_t)wndl_cursor_u8(c);
    h->line_range = wndl_cursor_u8(c);
    h->opcode_base = wndl_cursor_u8(c);
    size_t size = h->opcode_base == 0 ? 0 : h->opcode_base - 1u;
    h->opcode_lengths = (struct wndl_bytes){wndl_cursor_take(c, size), size};
}

/* Version to tables. Leaves p->c at the program. */
static enum wndl_status read_header(struct program *p)
{
    struct header *h = &p->header;
    struct wndl_cursor *c = &p->c;
    if (h->encoding.version >= 5) {
        h->encoding.address_size = wndl_cursor_u8(c);
        (void)wndl_cursor_u8(c); /* segment_selector_size */
    }
    uint64_t size =
        h->encoding.offset_size == 8 ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
    struct wndl_cursor tables = wndl_cursor_sub(c, size);
    read_fields(&tables, h);
    if (tables.failed)
        return damaged(p->d, p->at, "header runs past the line table");
    if (h->line_range == 0 || h->opcode_base == 0)
        return damaged(p->d, p->at, "line_range or opcode_base is 0");
    return wndl_dw_read_files(p->d, &tables, h->encoding, p->lines);
}

/* Finds the line table and reads its header. */
static enum wndl_status start(struct program *p)
{
    struct wndl_dwarf *d = p->d;
    struct header *h = &p->header;
    struct wndl_cursor all =
        wndl_cursor_at(d->in.line, p->at, d->in.big_endian);
    uint64_t length = read_length(&all, &h->encoding.offset_size);
    p->c = wndl_cursor_sub(&all, length);
    uint16_t version = wndl_cursor_u16(&p->c);
    if (p->c.failed)
        return damaged(d, p->at, "line table outside the section");
    if (length > d->budget.line_bytes)
        return damaged(d, p->at, "line tables overlap");
    d->budget.line_bytes -= length;
    if (version < 2 || version > 5)
        return damaged(d, p->at, "unknown version of line table");
    h->encoding.version = (uint8_t)version;
    h->encoding.address_size = p->unit->encoding.address_size;
    p->lines->version = (uint8_t)version;
    return read_header(p);
}

static void reset(struct program *p)
{
    p->address = 0;
    p->op_index = 0;
    p->file = 1;
    p->line = 1;
    p->column = 0;
    p->is_open = false;
    p->first_row = p->d->new_rows.len;
}

/* Ends the rows so far at `end`, if they are about code that is there. */
static enum wndl_status close_sequence(struct program *p, uint64_t end)
{
    struct wndl_vec *rows = &p->d->new_rows;
    size_t count = rows->len - p->first_row;
    bool empty = !p->is_open || end <= p->start;
    p->is_open = false;
    if (empty || wndl_dw_is_tombstone(p->unit, p->start)) {
        rows->len = p->first_row;
        return WNDL_OK;
    }
    struct wndl_vec *sequences = &p->d->new_sequences;
    struct wndl_dw_range *range = wndl_vec_push(&p->d->ranges);
    struct wndl_dw_sequence *sequence = wndl_vec_push(sequences);
    if (range == NULL || sequence == NULL)
        return WNDL_NOMEM;
    *sequence = (struct wndl_dw_sequence){
        p->start, (uint32_t)p->first_row, (uint32_t)count};
    *range =
        (struct wndl_dw_range){p->start, end, (uint32_t)(sequences->len - 1)};
    p->first_row = rows->len;
    return WNDL_OK;
}

static bool same_place(const struct wndl_dw_row *a, const struct wndl_dw_row *b)
{
    return a->line == b->line && a->file == b->file && a->column == b->column;
}

/*
 * Adds the current row. Of several at one address the last one counts, and
 * one that says the same as the row before it is not needed.
 */
static enum wndl_status add_row(struct program *p)
{
    struct wndl_vec *rows = &p->d->new_rows;
    struct wndl_dw_row row = {
        (uint32_t)(p->address - p->start), p->line, p->file, p->column};
    p->last = p->address;
    if (rows->len > p->first_row) {
        struct wndl_dw_row *last = wndl_vec_at(rows, rows->len - 1);
        if (same_place(last, &row))
            return WNDL_OK;
        if (last->offset == row.offset) {
            *last = row;
            return WNDL_OK;
        }
    }
    if (rows->len == UINT32_MAX)
        return damaged(p->d, p->at, "too many rows");
    if (rows->len == rows->cap && !wndl_vec_reserve(rows, 1))
        return WNDL_NOMEM;
    *(struct wndl_dw_row *)wndl_vec_at(rows, rows->len++) = row;
    return WNDL_OK;
}

/*
 * Addresses of a sequence do not fall. Where a producer lets them, what
 * follows counts as a sequence of its own; so does what is 4 GiB away.
 */
static enum wndl_status append(struct program *p)
{
    enum wndl_status status = WNDL_OK;
    if (p->is_open && p->address < p->last)
        status = close_sequence(p, p->last);
    else if (p->is_open && p->address - p->start > UINT32_MAX)
        status = close_sequence(p, p->address);
    if (status != WNDL_OK)
        return status;
    if (!p->is_open)
        p->start = p->address;
    p->is_open = true;
    return add_row(p);
}

/* DWARF 5, 6.2.5.1: an advance in operations, not bytes. */
static void advance(struct program *p, uint64_t operations)
{
    const struct header *h = &p->header;
    if (h->max_ops <= 1) {
        p->address += h->min_inst_length * operations;
        return;
    }
    uint64_t sum = p->op_index + operations;
    p->address += h->min_inst_length * (sum / h->max_ops);
    p->op_index = (uint32_t)(sum % h->max_ops);
}

/* DWARF 5, 6.2.5.1. */
static void prepare_special(struct program *p)
{
    const struct header *h = &p->header;
    for (unsigned opcode = h->opcode_base; opcode < 256; opcode++) {
        unsigned adjusted = opcode - h->opcode_base;
        p->special[opcode].operations = (uint8_t)(adjusted / h->line_range);
        p->special[opcode].lines =
            (int16_t)(h->line_base + (int)(adjusted % h->line_range));
    }
}

static enum wndl_status special(struct program *p, unsigned opcode)
{
    advance(p, p->special[opcode].operations);
    p->line += (uint32_t)p->special[opcode].lines;
    return append(p);
}

static void set_address(struct program *p, uint64_t size)
{
    if (size == 0 || size > 8)
        return wndl_cursor_fail(&p->c);
    p->address = wndl_cursor_uint(&p->c, (unsigned)size);
    p->op_index = 0;
}

/* DWARF 5, 6.2.5.3. */
static enum wndl_status extended(struct program *p)
{
    struct wndl_cursor rest = p->c;
    uint64_t length = wndl_cursor_uleb(&rest);
    struct wndl_cursor body = wndl_cursor_sub(&rest, length);
    unsigned opcode = wndl_cursor_u8(&body);
    enum wndl_status status = WNDL_OK;
    p->c = body;
    if (opcode == 0x01) { /* DW_LNE_end_sequence */
        status = close_sequence(p, p->address);
        reset(p);
    } else if (opcode == 0x02) {
        set_address(p, length - 1);
    } else if (opcode == 0x03) { /* DW_LNE_define_file */
        status = wndl_dw_read_file_entry(&p->c, &p->lines->files);
        p->c.failed |= status == WNDL_NOT_FOUND;
    }
    rest.failed |= p->c.failed;
    p->c = rest;
    return status;
}

static uint32_t read_u32(struct wndl_cursor *c)
{
    uint64_t v = wndl_cursor_uleb(c);
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static void skip_unknown(struct program *p, unsigned opcode)
{
    struct wndl_cursor lengths =
        wndl_cursor_at(p->header.opcode_lengths, opcode - 1, false);
    for (unsigned n = wndl_cursor_u8(&lengths); n > 0; n--)
        (void)wndl_cursor_uleb(&p->c);
}

/* DWARF 5, 6.2.5.2. */
static enum wndl_status standard(struct program *p, unsigned opcode)
{
    const struct header *h = &p->header;
    switch (opcode) {
    case 0x01: /* DW_LNS_copy */
        return append(p);
    case 0x02:
        advance(p, wndl_cursor_uleb(&p->c));
        return WNDL_OK;
    case 0x03:
        p->line += (uint32_t)wndl_cursor_sleb(&p->c);
        return WNDL_OK;
    case 0x04:
        p->file = read_u32(&p->c);
        return WNDL_OK;
    case 0x05:
        p->column = read_u32(&p->c);
        return WNDL_OK;
    case 0x08: /* DW_LNS_const_add_pc */
        advance(p, (255u - h->opcode_base) / h->line_range);
        return WNDL_OK;
    case 0x09: /* DW_LNS_fixed_advance_pc: bytes */
        p->address += wndl_cursor_u16(&p->c);
        p->op_index = 0;
        return WNDL_OK;
    case 0x06: /* is_stmt, basic blocks, prologue and epilogue */
    case 0x07:
    case 0x0a:
    case 0x0b:
        return WNDL_OK;
    default: /* DW_LNS_set_isa, and what we do not know */
        skip_unknown(p, opcode);
        return WNDL_OK;
    }
}

static enum wndl_status step(struct program *p)
{
    uint64_t at = wndl_cursor_offset(&p->c);
    unsigned opcode = wndl_cursor_u8(&p->c);
    if (opcode >= p->header.opcode_base)
        return special(p, opcode);
    enum wndl_status status = opcode == 0 ? extended(p) : standard(p, opcode);
    if (p->c.failed && status != WNDL_NOMEM)
        return damaged(p->d, at, "damaged line program");
    return status;
}

static enum wndl_status run(struct program *p)
{
    struct wndl_dwarf *d = p->d;
    enum wndl_status status = WNDL_OK;
    d->ranges.len = d->new_rows.len = d->new_sequences.len = 0;
    prepare_special(p);
    reset(p);
    while (status == WNDL_OK && wndl_cursor_left(&p->c) > 0)
        status = step(p);
    if (status == WNDL_OK && p->is_open)
        status = damaged(d, p->at, "line program without an end");
    if (status != WNDL_OK)
        return status;
    if (!wndl_dw_keep(&d->new_rows, &p->lines->rows) ||
        !wndl_dw_keep(&d->new_sequences, &p->lines->sequences))
        return WNDL_NOMEM;
    return wndl_dw_make_cover(d, &d->ranges, true, &p->lines->cover);
}

static struct wndl_dw_lines *new_lines(struct wndl_dwarf *d)
{
    struct wndl_dw_lines *lines = wndl_arena_alloc(&d->arena, sizeof *lines);
    if (lines == NULL)
        return NULL;
    wndl_vec_init(&lines->dirs, &d->arena, sizeof(struct wndl_dw_file));
    wndl_vec_init(&lines->files, &d->arena, sizeof(struct wndl_dw_file));
    return lines;
}

/* OK also for a damaged table, of which what is sound is kept. */
static enum wndl_status decode(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_lines *lines)
{
    struct program p = {
        .d = d, .unit = unit, .lines = lines, .at = unit->stmt_list};
    enum wndl_status status = start(&p);
    if (status != WNDL_OK && status != WNDL_NOMEM) {
        lines->files.len = 0;
        lines->dirs.len = 0;
    }
    if (status == WNDL_OK)
        status = run(&p);
    if (status == WNDL_OK || status == WNDL_NOMEM)
        return status;
    lines->is_damaged = true;
    return WNDL_OK;
}

static enum wndl_status lines_at(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_lines **lines)
{
    uint64_t *known = wndl_map_put(&d->lines, unit->stmt_list);
    if (known == NULL)
        return WNDL_NOMEM;
    *lines = (struct wndl_dw_lines *)(uintptr_t)*known;
    if (*lines != NULL)
        return WNDL_OK;
    *lines = new_lines(d);
    if (*lines == NULL)
        return WNDL_NOMEM;
    enum wndl_status status = decode(d, unit, *lines);
    if (status == WNDL_OK)
        *known = (uintptr_t)*lines;
    return status;
}

enum wndl_status wndl_dw_load_lines(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->lines != NULL)
        return WNDL_OK;
    enum wndl_status status = wndl_dw_load_root(d, unit, NULL);
    if (status != WNDL_OK || !unit->has_lines)
        return status;
    status = lines_at(d, unit, &unit->lines);
    if (status != WNDL_OK) {
        unit->lines = NULL;
        return status;
    }
    if (unit->lines->is_damaged)
        wndl_dw_count_damage(d, unit);
    return WNDL_OK;
}

/* The last of `count` > 0 rows whose offset is not above `offset`. */
static const struct wndl_dw_row *row_at(
    const struct wndl_dw_row *rows, uint32_t count, uint64_t offset)
{
    uint32_t low = 0;
    while (count - low > 1) {
        uint32_t mid = low + (count - low) / 2;
        if (rows[mid].offset <= offset)
            low = mid;
        else
            count = mid;
    }
    return &rows[low];
}

enum wndl_status wndl_dw_find_row(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_row *row)
{
    enum wndl_status status = wndl_dw_load_lines(d, unit);
    if (status != WNDL_OK)
        return status;
    const struct wndl_dw_lines *lines = unit->lines;
    const struct wndl_dw_range *segment =
        lines == NULL ? NULL : wndl_dw_cover_find(&lines->cover, address);
    if (segment == NULL)
        return WNDL_NOT_FOUND;
    const struct wndl_dw_sequence *s =
        wndl_vec_at(&lines->sequences, segment->id);
    *row = *row_at(
        wndl_vec_at(&lines->rows, s->first), s->count, address - s->start);
    return WNDL_OK;
}
