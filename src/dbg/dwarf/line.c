/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "dbg/dwarf/internal.h"

static const char *const SECTION = ".debug_line";

/* The most bytes of a program that a lookup runs again to find a row. */
enum { MARK_EVERY = 128 };

/*
 * The state machine of DWARF 5, 6.2.2. The first run covers a whole program, to
 * find its sequences; later runs cover a part of it, to find a row.
 */
struct program {
    struct wndl_dwarf *d;
    struct wndl_dw_lines *lines;
    struct wndl_dw_line_header header;
    struct wndl_cursor c;
    uint64_t at;          /* of the program in .debug_line, for messages */
    uint8_t address_size; /* of the unit */
    uint64_t address;
    uint32_t op_index;
    uint32_t file;
    uint32_t line;
    uint32_t column;
    bool is_open; /* a row of the sequence was seen */
    bool is_seeking;
    bool is_found;   /* when seeking: `row` is the wanted row */
    uint64_t wanted; /* when seeking: address of the wanted row */
    uint64_t start;
    uint64_t last;          /* address of the last row */
    struct wndl_dw_row row; /* the last row */
    uint32_t const_add;     /* bytes of DW_LNS_const_add_pc */
    uint64_t opcodes;       /* where they begin */
    uint64_t next_mark;     /* offset at which it is set */
    size_t first_mark;
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

static void read_fields(struct wndl_cursor *c, struct wndl_dw_line_header *h)
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

/*
 * Reads the header, from the version to the tables. Leaves p->c at the program.
 */
static enum wndl_status read_header(struct program *p)
{
    struct wndl_dw_line_header *h = &p->header;
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
static enum wndl_status start(
    struct program *p, const struct wndl_dw_unit *unit)
{
    struct wndl_dwarf *d = p->d;
    struct wndl_dw_line_header *h = &p->header;
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
    wndl_dw_release_pages_after(d, length);
    if (version < 2 || version > 5)
        return damaged(d, p->at, "unknown version of line table");
    h->encoding.version = (uint8_t)version;
    h->encoding.address_size = unit->encoding.address_size;
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
    p->first_mark = p->d->new_marks.len;
}

/*
 * Ends the rows so far at `end`; they are kept unless their code was dropped.
 */
static enum wndl_status close_sequence(struct program *p, uint64_t end)
{
    struct wndl_vec *marks = &p->d->new_marks;
    size_t count = marks->len - p->first_mark;
    bool empty = !p->is_open || end <= p->start;
    p->is_open = false;
    p->is_found = p->is_seeking;
    if (p->is_seeking)
        return WNDL_OK;
    if (empty || wndl_dw_is_tombstone(p->d, p->address_size, p->start)) {
        marks->len = p->first_mark;
        return WNDL_OK;
    }
    struct wndl_vec *sequences = &p->d->new_sequences;
    struct wndl_dw_range *range = wndl_vec_push(&p->d->ranges);
    struct wndl_dw_sequence *sequence = wndl_vec_push(sequences);
    if (range == NULL || sequence == NULL)
        return WNDL_NOMEM;
    *sequence = (struct wndl_dw_sequence){
        p->start, (uint32_t)p->first_mark, (uint32_t)count};
    *range =
        (struct wndl_dw_range){p->start, end, (uint32_t)(sequences->len - 1)};
    p->first_mark = marks->len;
    return WNDL_OK;
}

/*
 * Adds the current row. Addresses in a sequence do not decrease. Where a
 * producer lets them decrease, or jump by 4 GiB, a new sequence begins.
 */
static enum wndl_status append(struct program *p)
{
    enum wndl_status status = WNDL_OK;
    p->is_found = p->is_seeking && p->address > p->wanted;
    if (p->is_open && p->address < p->last)
        status = close_sequence(p, p->last);
    else if (p->is_open && p->address - p->start > UINT32_MAX)
        status = close_sequence(p, p->address);
    if (status != WNDL_OK || p->is_found)
        return status;
    if (!p->is_open) {
        p->start = p->address;
        p->next_mark = 0;
    }
    p->is_open = true;
    p->last = p->address;
    p->row = (struct wndl_dw_row){
        (uint32_t)(p->address - p->start), p->line, p->file, p->column};
    return WNDL_OK;
}

/*
 * Sets a mark, from which a later run can start. Outside of a sequence none is
 * needed.
 */
static enum wndl_status set_mark(struct program *p)
{
    uint64_t at = wndl_cursor_offset(&p->c) - p->opcodes;
    p->next_mark = p->opcodes + at + MARK_EVERY;
    if (!p->is_open || p->is_seeking)
        return WNDL_OK;
    if (at > UINT32_MAX || p->d->new_marks.len == UINT32_MAX)
        return damaged(p->d, p->at, "too long a line program");
    struct wndl_dw_mark *mark = wndl_vec_push(&p->d->new_marks);
    if (mark == NULL)
        return WNDL_NOMEM;
    *mark = (struct wndl_dw_mark){
        .row = p->row,
        .at = (uint32_t)at,
        .op_index = p->op_index,
        .address = p->address,
        .line = p->line,
        .file = p->file,
        .column = p->column,
    };
    return WNDL_OK;
}

/* DWARF 5, 6.2.5.1: an advance in operations, not bytes. */
static void advance(struct program *p, uint64_t operations)
{
    const struct wndl_dw_line_header *h = &p->header;
    if (h->max_ops <= 1) {
        p->address += h->min_inst_length * operations;
        return;
    }
    uint64_t sum = p->op_index + operations;
    p->address += h->min_inst_length * (sum / h->max_ops);
    p->op_index = (uint32_t)(sum % h->max_ops);
}

/* Most programs have the same. */
static void prepare_specials(struct program *p)
{
    const struct wndl_dw_line_header *h = &p->header;
    struct wndl_dw_specials *s = &p->d->specials;
    if (s->min_inst_length == h->min_inst_length &&
        s->line_range == h->line_range && s->line_base == h->line_base &&
        s->opcode_base == h->opcode_base)
        return;
    s->min_inst_length = h->min_inst_length;
    s->line_range = h->line_range;
    s->line_base = h->line_base;
    s->opcode_base = h->opcode_base;
    for (unsigned opcode = h->opcode_base; opcode < 256; opcode++) {
        unsigned adjusted = opcode - h->opcode_base;
        s->of[opcode].bytes =
            (uint16_t)(h->min_inst_length * (adjusted / h->line_range));
        s->of[opcode].lines =
            (int16_t)(h->line_base + (int)(adjusted % h->line_range));
    }
}

static enum wndl_status special(struct program *p, unsigned opcode)
{
    const struct wndl_dw_line_header *h = &p->header;
    advance(p, (opcode - h->opcode_base) / h->line_range);
    p->line += (uint32_t)p->d->specials.of[opcode].lines;
    return append(p);
}

static void set_address(struct program *p, uint64_t size)
{
    if (size == 0 || size > 8)
        return wndl_cursor_fail(&p->c);
    p->address = wndl_cursor_uint(&p->c, (unsigned)size);
    p->op_index = 0;
}

/* DWARF 5, 6.2.5.3. Files were defined in the first full run. */
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
    } else if (opcode == 0x03 && !p->is_seeking) { /* DW_LNE_define_file */
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

/*
 * The part of the state machine that the plain opcodes change. A row is plain
 * unless it is before `last` or after `most`.
 */
struct quick {
    struct wndl_cursor c;
    uint64_t address;
    uint32_t line;
    uint32_t file;
    uint32_t column;
    struct wndl_dw_row row;
    uint64_t last;
    uint64_t most;
    uint64_t start;
    const struct wndl_dw_specials *specials;
};

/* A LEB128 of at most four bytes: its bits and their number, or 0. */
static inline unsigned short_leb(struct wndl_cursor *c, uint32_t *v)
{
    *v = wndl_cursor_u8(c);
    if (*v < 0x80)
        return c->failed ? 0 : 7;
    *v &= 0x7f;
    for (unsigned bits = 7; bits < 28; bits += 7) {
        uint32_t byte = wndl_cursor_u8(c);
        *v |= (byte & 0x7f) << bits;
        if (byte < 0x80)
            return c->failed ? 0 : bits + 7;
    }
    return 0;
}

/* Adds a row as append() does, in the simple case. */
static inline bool add_quick_row(
    struct quick *q, uint64_t address, uint32_t line)
{
    if (address < q->last || address > q->most)
        return false;
    q->row = (struct wndl_dw_row){
        (uint32_t)(address - q->start), line, q->file, q->column};
    q->last = address;
    return true;
}

/* A special opcode (DWARF 5, 6.2.5.1). */
static inline bool quick_special(struct quick *q, unsigned opcode)
{
    uint64_t address = q->address + q->specials->of[opcode].bytes;
    uint32_t line = q->line + (uint32_t)q->specials->of[opcode].lines;
    if (!add_quick_row(q, address, line))
        return false;
    q->address = address;
    q->line = line;
    return true;
}

/* Only the opcodes that compilers put between most rows (DWARF 5, 6.2.5.3). */
static inline bool quick_extended(struct quick *q)
{
    unsigned length = wndl_cursor_u8(&q->c);
    unsigned opcode = wndl_cursor_u8(&q->c);
    if (length == 0 || length >= 0x80 || opcode != 0x04) /* discriminator */
        return false;
    wndl_cursor_skip(&q->c, length - 1);
    return !q->c.failed;
}

/* An opcode with an operand (DWARF 5, 6.2.5.2). */
static inline bool quick_operand(
    const struct program *p, struct quick *q, unsigned opcode)
{
    uint32_t v;
    unsigned bits = short_leb(&q->c, &v);
    if (bits == 0)
        return false;
    if (opcode == 0x02)
        q->address += (uint64_t)p->header.min_inst_length * v;
    else if (opcode == 0x03)
        q->line += v | (v >> (bits - 1) != 0 ? UINT32_MAX << bits : 0);
    else if (opcode == 0x04)
        q->file = v;
    else
        q->column = v;
    return true;
}

/* False for an opcode that is not plain; only q->c has changed then. */
static inline bool quick_step(const struct program *p, struct quick *q)
{
    unsigned opcode = wndl_cursor_u8(&q->c);
    if (opcode >= p->header.opcode_base)
        return quick_special(q, opcode);
    switch (opcode) {
    case 0x00:
        return quick_extended(q);
    case 0x01: /* DW_LNS_copy */
        return add_quick_row(q, q->address, q->line);
    case 0x02:
    case 0x03:
    case 0x04:
    case 0x05:
        return quick_operand(p, q, opcode);
    case 0x06: /* is_stmt, basic blocks, prologue and epilogue */
    case 0x07:
    case 0x0a:
    case 0x0b:
        return true;
    case 0x08: /* DW_LNS_const_add_pc */
        q->address += p->const_add;
        return true;
    default:
        return false;
    }
}

/*
 * Runs plain opcodes. Stops before the first other opcode, the end, or damage,
 * which the full interpreter then reads.
 */
static void hurry(struct program *p)
{
    uint64_t far =
        p->start > UINT64_MAX - UINT32_MAX ? UINT64_MAX : p->start + UINT32_MAX;
    struct quick q = {p->c, p->address, p->line, p->file, p->column, p->row,
        p->last, far < p->wanted ? far : p->wanted, p->start, &p->d->specials};
    const uint8_t *done;
    if (p->header.max_ops > 1)
        return;
    if (!p->is_open)
        q.last = UINT64_MAX;
    do
        done = q.c.next;
    while (wndl_cursor_offset(&q.c) < p->next_mark && quick_step(p, &q));
    p->c.next = done;
    p->address = q.address;
    p->line = q.line;
    p->file = q.file;
    p->column = q.column;
    if (!p->is_open)
        return;
    p->row = q.row;
    p->last = q.last;
}

/* DWARF 5, 6.2.5.2. */
static enum wndl_status standard(struct program *p, unsigned opcode)
{
    const struct wndl_dw_line_header *h = &p->header;
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
    default: /* DW_LNS_set_isa, and unknown opcodes */
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

/* Runs the program to its end, or to the wanted row. */
static enum wndl_status run_program(struct program *p)
{
    enum wndl_status status = WNDL_OK;
    prepare_specials(p);
    p->const_add = p->header.min_inst_length *
                   ((255u - p->header.opcode_base) / p->header.line_range);
    while (status == WNDL_OK && wndl_cursor_left(&p->c) > 0) {
        status = step(p);
        if (p->is_found)
            break;
        if (status == WNDL_OK)
            hurry(p);
        if (status == WNDL_OK && wndl_cursor_offset(&p->c) >= p->next_mark)
            status = set_mark(p);
    }
    return status;
}

static enum wndl_status run_all(struct program *p)
{
    struct wndl_dwarf *d = p->d;
    d->ranges.len = d->new_marks.len = d->new_sequences.len = 0;
    p->lines->header = p->header;
    p->lines->program = p->c;
    p->opcodes = wndl_cursor_offset(&p->c);
    p->wanted = UINT64_MAX;
    reset(p);
    enum wndl_status status = run_program(p);
    if (status == WNDL_OK && p->is_open)
        status = damaged(d, p->at, "line program without an end");
    if (status != WNDL_OK)
        return status;
    if (!wndl_dw_copy_vec(&d->new_marks, &p->lines->marks) ||
        !wndl_dw_copy_vec(&d->new_sequences, &p->lines->sequences))
        return WNDL_NOMEM;
    return wndl_dw_make_cover(d, &d->ranges, true, &p->lines->cover);
}

static struct wndl_dw_lines *new_lines(struct wndl_dwarf *d)
{
    struct wndl_dw_lines *lines = wndl_arena_alloc(d->arena, sizeof *lines);
    if (lines == NULL)
        return NULL;
    wndl_vec_init(&lines->dirs, d->arena, sizeof(struct wndl_dw_file));
    wndl_vec_init(&lines->files, d->arena, sizeof(struct wndl_dw_file));
    return lines;
}

/* Returns OK for a damaged table too, and keeps its sound part. */
static enum wndl_status decode(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_lines *lines)
{
    struct program p = {.d = d, .lines = lines, .at = unit->stmt_list};
    p.address_size = unit->encoding.address_size;
    enum wndl_status status = start(&p, unit);
    if (status != WNDL_OK && status != WNDL_NOMEM) {
        lines->files.len = 0;
        lines->dirs.len = 0;
    }
    if (status == WNDL_OK)
        status = run_all(&p);
    if (status == WNDL_OK || status == WNDL_NOMEM)
        return status;
    lines->is_damaged = true;
    return WNDL_OK;
}

enum wndl_status wndl_dw_read_lines(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_lines **lines)
{
    *lines = new_lines(d);
    return *lines == NULL ? WNDL_NOMEM : decode(d, unit, *lines);
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
    enum wndl_status status = wndl_dw_read_lines(d, unit, lines);
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

/* The last of `count` > 0 marks whose row is not above `offset`. */
static const struct wndl_dw_mark *mark_before(
    const struct wndl_dw_mark *marks, uint32_t count, uint64_t offset)
{
    uint32_t low = 0;
    while (count - low > 1) {
        uint32_t mid = low + (count - low) / 2;
        if (marks[mid].row.offset <= offset)
            low = mid;
        else
            count = mid;
    }
    return &marks[low];
}

/*
 * The program was sound in its first full run. *next: the address that ended
 * the search.
 */
static enum wndl_status seek(struct wndl_dwarf *d, struct wndl_dw_lines *lines,
    const struct wndl_dw_sequence *s, struct wndl_dw_row *row, uint64_t *next)
{
    uint64_t address = *next;
    const struct wndl_dw_mark *mark = mark_before(
        wndl_vec_at(&lines->marks, s->first), s->count, address - s->start);
    struct program p = {
        .d = d,
        .header = lines->header,
        .c = lines->program,
        .address = mark->address,
        .op_index = mark->op_index,
        .file = mark->file,
        .line = mark->line,
        .column = mark->column,
        .is_open = true,
        .is_seeking = true,
        .wanted = address,
        .start = s->start,
        .last = s->start + mark->row.offset,
        .row = mark->row,
        .next_mark = UINT64_MAX,
    };
    wndl_cursor_skip(&p.c, mark->at);
    enum wndl_status status = run_program(&p);
    *row = p.row;
    *next = p.address;
    return status;
}

/* The start of the first segment after `address`. */
static uint64_t next_segment(
    const struct wndl_dw_cover *cover, uint64_t address)
{
    const void *starts = cover->segments;
    size_t at = wndl_search_up_to(
        starts, sizeof *cover->segments, cover->count, address);
    return at == cover->count ? UINT64_MAX : cover->segments[at].start;
}

enum wndl_status wndl_dw_find_row(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_row *row)
{
    uint64_t end;
    return wndl_dw_find_row_until(d, unit, address, row, &end);
}

enum wndl_status wndl_dw_find_row_until(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_row *row,
    uint64_t *end)
{
    *end = UINT64_MAX;
    enum wndl_status status = wndl_dw_load_lines(d, unit);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_lines *lines = unit->lines;
    const struct wndl_dw_range *segment =
        lines == NULL ? NULL : wndl_dw_cover_find(&lines->cover, address);
    if (segment == NULL) {
        if (lines != NULL)
            *end = next_segment(&lines->cover, address);
        return WNDL_NOT_FOUND;
    }
    uint64_t next = address;
    status =
        seek(d, lines, wndl_vec_at(&lines->sequences, segment->id), row, &next);
    *end = next > address && next < segment->end ? next : segment->end;
    return status;
}
