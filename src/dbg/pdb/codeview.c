/* SPDX-License-Identifier: MIT */
#include "dbg/pdb/codeview.h"

bool wndl_cv_next(struct wndl_cursor *c, struct wndl_cv_record *record)
{
    uint64_t at = wndl_cursor_offset(c);
    if (wndl_cursor_left(c) < 4)
        return false;
    uint16_t size = wndl_cursor_u16(c);
    if (size < 2) {
        wndl_cursor_fail(c);
        return false;
    }
    record->at = at;
    record->kind = wndl_cursor_u16(c);
    record->body.size = size - 2u;
    record->body.data = wndl_cursor_take(c, record->body.size);
    return record->body.data != NULL;
}

static struct wndl_cursor over(const struct wndl_cv_record *record)
{
    return wndl_cursor_at(record->body, 0, false);
}

static struct wndl_cv_place place_of(struct wndl_cursor *c)
{
    struct wndl_cv_place place = {.offset = wndl_cursor_u32(c)};
    place.section = wndl_cursor_u16(c);
    return place;
}

/* parent, end, next, size, debug start, debug end, type, place, flags */
static void read_procedure(struct wndl_cursor *c, struct wndl_cv_code *code)
{
    wndl_cursor_skip(c, 4);
    code->end = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 4);
    code->size = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 12);
    code->place = place_of(c);
    wndl_cursor_skip(c, 1);
    code->name = wndl_cursor_cstr(c);
}

/* parent, end, next, place, size, ordinal */
static void read_thunk(struct wndl_cursor *c, struct wndl_cv_code *code)
{
    wndl_cursor_skip(c, 4);
    code->end = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 4);
    code->place = place_of(c);
    code->size = wndl_cursor_u16(c);
    wndl_cursor_skip(c, 1);
    code->name = wndl_cursor_cstr(c);
}

/* Offsets of the place and the other one, then their sections. */
static void read_both(struct wndl_cursor *c, struct wndl_cv_code *code)
{
    code->place.offset = wndl_cursor_u32(c);
    code->other.offset = wndl_cursor_u32(c);
    code->place.section = wndl_cursor_u16(c);
    code->other.section = wndl_cursor_u16(c);
}

/* parent, end, size, flags, both offsets, both sections */
static void read_separated(struct wndl_cursor *c, struct wndl_cv_code *code)
{
    wndl_cursor_skip(c, 4);
    code->end = wndl_cursor_u32(c);
    code->size = wndl_cursor_u32(c);
    wndl_cursor_skip(c, 4);
    read_both(c, code);
}

/* type, size, both offsets, both sections */
static void read_trampoline(struct wndl_cursor *c, struct wndl_cv_code *code)
{
    wndl_cursor_skip(c, 2);
    code->size = wndl_cursor_u16(c);
    read_both(c, code);
}

bool wndl_cv_read_code(
    const struct wndl_cv_record *record, struct wndl_cv_code *code)
{
    struct wndl_cursor c = over(record);
    *code = (struct wndl_cv_code){0};
    switch (record->kind) {
    case WNDL_S_LPROC32:
    case WNDL_S_GPROC32:
    case WNDL_S_LPROC32_ID:
    case WNDL_S_GPROC32_ID:
    case WNDL_S_LPROC32_DPC:
    case WNDL_S_LPROC32_DPC_ID:
        read_procedure(&c, code);
        break;
    case WNDL_S_THUNK32:
        read_thunk(&c, code);
        break;
    case WNDL_S_SEPCODE:
        read_separated(&c, code);
        break;
    case WNDL_S_TRAMPOLINE:
        read_trampoline(&c, code);
        break;
    default:
        return false;
    }
    return !c.failed;
}

bool wndl_cv_opens_scope(uint16_t kind)
{
    switch (kind) {
    case WNDL_S_LPROC32:
    case WNDL_S_GPROC32:
    case WNDL_S_LPROC32_ID:
    case WNDL_S_GPROC32_ID:
    case WNDL_S_LPROC32_DPC:
    case WNDL_S_LPROC32_DPC_ID:
    case WNDL_S_THUNK32:
    case WNDL_S_BLOCK32:
    case WNDL_S_WITH32:
    case WNDL_S_SEPCODE:
    case WNDL_S_INLINESITE:
    case WNDL_S_INLINESITE2:
        return true;
    default:
        return false;
    }
}

bool wndl_cv_closes_scope(uint16_t kind)
{
    return kind == WNDL_S_END || kind == WNDL_S_INLINESITE_END ||
           kind == WNDL_S_PROC_ID_END;
}

bool wndl_cv_read_public(
    const struct wndl_cv_record *record, struct wndl_cv_public *symbol)
{
    enum { CODE = 1, FUNCTION = 2 };
    struct wndl_cursor c = over(record);
    if (record->kind != WNDL_S_PUB32)
        return false;
    symbol->is_code = (wndl_cursor_u32(&c) & (CODE | FUNCTION)) != 0;
    symbol->place = place_of(&c);
    symbol->name = wndl_cursor_cstr(&c);
    return !c.failed;
}

bool wndl_cv_read_inline_site(
    const struct wndl_cv_record *record, struct wndl_cv_inline_site *site)
{
    struct wndl_cursor c = over(record);
    if (record->kind != WNDL_S_INLINESITE && record->kind != WNDL_S_INLINESITE2)
        return false;
    wndl_cursor_skip(&c, 8);
    site->inlinee = wndl_cursor_u32(&c);
    if (record->kind == WNDL_S_INLINESITE2)
        wndl_cursor_skip(&c, 4);
    site->annotations =
        (struct wndl_bytes){c.next, (size_t)wndl_cursor_left(&c)};
    return !c.failed;
}

/* ---- binary annotations */

enum annotation {
    END,
    CODE_OFFSET,
    CHANGE_CODE_OFFSET_BASE,
    CHANGE_CODE_OFFSET,
    CHANGE_CODE_LENGTH,
    CHANGE_FILE,
    CHANGE_LINE_OFFSET,
    CHANGE_LINE_END_DELTA,
    CHANGE_RANGE_KIND,
    CHANGE_COLUMN_START,
    CHANGE_COLUMN_END_DELTA,
    CHANGE_CODE_OFFSET_AND_LINE_OFFSET,
    CHANGE_CODE_LENGTH_AND_CODE_OFFSET,
    CHANGE_COLUMN_END,
};

/* One, two or four bytes, big-endian; the top bits say how many. */
static uint32_t take_number(struct wndl_cursor *c)
{
    uint32_t first = wndl_cursor_u8(c);
    if (first < 0x80)
        return first;
    if (first < 0xc0)
        return (first & 0x3f) << 8 | wndl_cursor_u8(c);
    if (first >= 0xe0) {
        wndl_cursor_fail(c);
        return 0;
    }
    uint32_t second = wndl_cursor_u8(c);
    uint32_t third = wndl_cursor_u8(c);
    return (first & 0x1f) << 24 | second << 16 | third << 8 | wndl_cursor_u8(c);
}

/* The sign is the lowest bit. */
static uint32_t signed_of(uint32_t number)
{
    return (number & 1) != 0 ? 0u - (number >> 1) : number >> 1;
}

void wndl_cv_annotations_start(
    struct wndl_cv_annotations *a, struct wndl_bytes program)
{
    *a = (struct wndl_cv_annotations){
        .c = wndl_cursor_at(program, 0, false), .file = UINT32_MAX};
}

static void add_line(struct wndl_cv_annotations *a, uint32_t delta)
{
    a->line = (int32_t)((uint32_t)a->line + delta);
}

/* Ends the open range, if there is one, at `end`. */
static bool close_open(struct wndl_cv_annotations *a, uint32_t end,
    struct wndl_cv_inline_range *range)
{
    bool was_open = a->is_open;
    a->is_open = a->has_end = false;
    *range = a->open;
    range->end = end;
    return was_open && range->start < end;
}

/* Begins a row at a->code, which ends the row before. */
static bool begin_row(
    struct wndl_cv_annotations *a, struct wndl_cv_inline_range *range)
{
    bool given = close_open(a, a->code, range);
    a->is_open = true;
    a->open =
        (struct wndl_cv_inline_range){a->code, UINT32_MAX, a->line, a->file};
    return given;
}

/* A length ends the open row; without one it makes a row. */
static bool end_row(struct wndl_cv_annotations *a, uint32_t length,
    struct wndl_cv_inline_range *range)
{
    if (!a->is_open)
        (void)begin_row(a, range);
    uint32_t end;
    if (__builtin_add_overflow(a->code, length, &end))
        wndl_cursor_fail(&a->c);
    a->code = end;
    return close_open(a, end, range);
}

/*
 * A row with its start and its length; the next offset counts from its start,
 * not from its end.
 */
static bool whole_row(struct wndl_cv_annotations *a, uint32_t length,
    uint32_t offset, struct wndl_cv_inline_range *range)
{
    a->code += offset;
    bool given = begin_row(a, range);
    if (__builtin_add_overflow(a->code, length, &a->open_end))
        wndl_cursor_fail(&a->c);
    a->has_end = true;
    return given;
}

static bool step(
    struct wndl_cv_annotations *a, struct wndl_cv_inline_range *range)
{
    uint32_t op = take_number(&a->c);
    uint32_t first = op == END ? 0 : take_number(&a->c);
    switch ((enum annotation)op) {
    case END:
        a->c.next = a->c.end;
        return false;
    case CODE_OFFSET:
        a->code = a->base + first;
        return begin_row(a, range);
    case CHANGE_CODE_OFFSET_BASE:
        a->base = first;
        return false;
    case CHANGE_CODE_OFFSET:
        a->code += first;
        return begin_row(a, range);
    case CHANGE_CODE_LENGTH:
        return end_row(a, first, range);
    case CHANGE_FILE:
        a->file = first;
        return false;
    case CHANGE_LINE_OFFSET:
        add_line(a, signed_of(first));
        return false;
    case CHANGE_CODE_OFFSET_AND_LINE_OFFSET:
        add_line(a, signed_of(first >> 4));
        a->code += first & 0xf;
        return begin_row(a, range);
    case CHANGE_CODE_LENGTH_AND_CODE_OFFSET:
        return whole_row(a, first, take_number(&a->c), range);
    case CHANGE_LINE_END_DELTA:
    case CHANGE_RANGE_KIND:
    case CHANGE_COLUMN_START:
    case CHANGE_COLUMN_END_DELTA:
    case CHANGE_COLUMN_END:
        return false;
    }
    wndl_cursor_fail(&a->c);
    return false;
}

bool wndl_cv_annotations_next(
    struct wndl_cv_annotations *a, struct wndl_cv_inline_range *range)
{
    if (a->has_end && close_open(a, a->open_end, range))
        return true;
    while (wndl_cursor_left(&a->c) != 0) {
        if (step(a, range))
            return !a->c.failed;
        if (a->has_end && close_open(a, a->open_end, range))
            return !a->c.failed;
    }
    return !a->c.failed && close_open(a, UINT32_MAX, range);
}

/* ---- types and ids */

/*
 * Skips a numeric leaf: a value below 0x8000 is the number itself, another one
 * the kind of the number that follows.
 */
static void skip_numeric(struct wndl_cursor *c)
{
    uint16_t kind = wndl_cursor_u16(c);
    static const uint8_t sizes[] = {1, 2, 2, 4, 4, 4, 8, 10, 16, 8, 8};
    if (kind < 0x8000)
        return;
    if (kind - 0x8000u >= sizeof sizes)
        wndl_cursor_fail(c);
    else
        wndl_cursor_skip(c, sizes[kind - 0x8000]);
}

bool wndl_cv_read_named(
    const struct wndl_cv_record *record, struct wndl_cv_named *named)
{
    struct wndl_cursor c = over(record);
    named->scope = 0;
    switch ((enum wndl_cv_leaf_kind)record->kind) {
    case WNDL_LF_CLASS:
    case WNDL_LF_STRUCTURE:
    case WNDL_LF_INTERFACE:
        wndl_cursor_skip(&c, 16);
        skip_numeric(&c);
        break;
    case WNDL_LF_UNION:
        wndl_cursor_skip(&c, 8);
        skip_numeric(&c);
        break;
    case WNDL_LF_ENUM:
        wndl_cursor_skip(&c, 12);
        break;
    case WNDL_LF_FUNC_ID:
    case WNDL_LF_MFUNC_ID:
        named->scope = wndl_cursor_u32(&c);
        wndl_cursor_skip(&c, 4);
        break;
    case WNDL_LF_STRING_ID:
        wndl_cursor_skip(&c, 4);
        break;
    default:
        return false;
    }
    named->name = wndl_cursor_cstr(&c);
    return !c.failed;
}
