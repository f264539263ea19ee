/* SPDX-License-Identifier: MIT */
/*
 * dmd_tables: reads only as much JSON as it needs to find the two tables;
 * values of other keys are skipped by their brackets.
 */
#include "in/dmd_tables.h"

#include <string.h>

enum { GUESS_AFTER = 4096 };

struct reader {
    struct wndl_cursor c;
    struct wndl_dmd_tables *tables;
    struct wndl_error *err;
    enum wndl_status status; /* the first that is not OK */
};

static void fail(struct reader *r, enum wndl_status status, const char *what)
{
    if (r->status != WNDL_OK)
        return;
    r->status =
        wndl_fail_at(r->err, status, "JSON", wndl_cursor_offset(&r->c), what);
    wndl_cursor_fail(&r->c);
}

/* The next byte that is no blank, not consumed; 0 and failure at the end. */
static uint8_t peek(struct reader *r)
{
    while (r->c.next != r->c.end && *r->c.next != 0 &&
           strchr(" \t\r\n", *r->c.next) != NULL)
        r->c.next++;
    if (r->c.next != r->c.end)
        return *r->c.next;
    fail(r, WNDL_TRUNCATED, "the file ends before its tables do");
    return 0;
}

static void expect(struct reader *r, uint8_t wanted, const char *what)
{
    if (peek(r) == wanted)
        r->c.next++;
    else
        fail(r, WNDL_MALFORMED, what);
}

/* The inside of a string; *quote is where it opens. */
static struct wndl_bytes string(struct reader *r, size_t *quote)
{
    expect(r, '"', "a string is expected here");
    const uint8_t *start = r->c.next;
    *quote = wndl_cursor_offset(&r->c) - 1;
    while (r->c.next != r->c.end && *r->c.next != '"')
        wndl_cursor_skip(&r->c, *r->c.next == '\\' ? 2 : 1);
    if (r->c.next == r->c.end) {
        fail(r, WNDL_TRUNCATED, "the file ends within a string");
        return (struct wndl_bytes){0};
    }
    r->c.next++;
    return (struct wndl_bytes){start, (size_t)(r->c.next - start) - 1};
}

/* Up to the ',' or bracket that ends the value around it. */
static void skip_value(struct reader *r)
{
    size_t depth = 0, quote;
    for (;;) {
        uint8_t c = peek(r);
        if (r->status != WNDL_OK)
            return;
        bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || c == ','))
            return;
        depth += c == '{' || c == '[';
        depth -= closes;
        if (c == '"')
            (void)string(r, &quote);
        else
            r->c.next++;
    }
}

/* After a value: true when another follows. */
static bool another(struct reader *r, uint8_t close)
{
    uint8_t c = peek(r);
    if (r->status != WNDL_OK)
        return false;
    if (c != ',' && c != close) {
        fail(r, WNDL_MALFORMED, "a comma or a closing bracket is expected");
        return false;
    }
    r->c.next++;
    return c == ',';
}

/* Whether the bracket that was just opened closes at once; if so, skips it. */
static bool is_empty(struct reader *r, uint8_t close)
{
    bool empty = peek(r) == close;
    r->c.next += empty;
    return empty;
}

static void read_frames(struct reader *r)
{
    expect(r, '{', "frameTable is expected to be an object");
    if (is_empty(r, '}'))
        return;
    do {
        struct wndl_dmd_frame frame = {0};
        size_t quote;
        frame.id = string(r, &frame.key);
        expect(r, ':', "a colon is expected here");
        struct wndl_bytes text = string(r, &quote);
        frame.text = quote + 1;
        frame.text_end = frame.text + text.size;
        if (r->status != WNDL_OK)
            return;
        struct wndl_dmd_frame *slot = wndl_vec_push(&r->tables->frames);
        if (slot == NULL)
            fail(r, WNDL_NOMEM, "no memory for the frames");
        else
            *slot = frame;
    } while (another(r, '}'));
}

static void read_stack(struct reader *r)
{
    expect(r, '[', "a stack is expected to be an array");
    if (is_empty(r, ']'))
        return;
    do {
        struct wndl_dmd_use use = {0};
        use.id = string(r, &use.at);
        if (r->status != WNDL_OK)
            return;
        struct wndl_dmd_use *slot = wndl_vec_push(&r->tables->uses);
        if (slot == NULL)
            fail(r, WNDL_NOMEM, "no memory for the stacks");
        else
            *slot = use;
    } while (another(r, ']'));
}

static void read_stacks(struct reader *r)
{
    size_t quote;
    expect(r, '{', "traceTable is expected to be an object");
    if (is_empty(r, '}'))
        return;
    do {
        (void)string(r, &quote);
        expect(r, ':', "a colon is expected here");
        read_stack(r);
    } while (another(r, '}'));
}

static void read_file(struct reader *r)
{
    size_t quote;
    expect(r, '{', "not a JSON object");
    if (is_empty(r, '}'))
        return;
    do {
        struct wndl_bytes key = string(r, &quote);
        expect(r, ':', "a colon is expected here");
        if (wndl_bytes_is(key, "frameTable"))
            read_frames(r);
        else if (wndl_bytes_is(key, "traceTable"))
            read_stacks(r);
        else
            skip_value(r);
    } while (another(r, '}'));
}

enum wndl_status wndl_dmd_tables_read(struct wndl_bytes file,
    struct wndl_arena *arena, struct wndl_dmd_tables *tables,
    struct wndl_error *err)
{
    struct reader r = {
        .c = wndl_cursor_at(file, 0, false), .tables = tables, .err = err};
    wndl_vec_init(&tables->frames, arena, sizeof(struct wndl_dmd_frame));
    wndl_vec_init(&tables->uses, arena, sizeof(struct wndl_dmd_use));
    read_file(&r);
    return r.status;
}

/*
 * The tables have names that no other format uses; "version" and "invocation"
 * count only together. A first key of another name decides at once.
 */
static enum wndl_dmd_guess guess(struct reader *r)
{
    static const char *const names[] = {
        "version", "invocation", "blockList", "traceTable", "frameTable"};
    enum { BOTH = 3, COUNT = sizeof names / sizeof *names };
    unsigned seen = 0;
    expect(r, '{', "");
    for (bool first = true; r->status == WNDL_OK; first = false) {
        size_t quote;
        unsigned which = 0;
        struct wndl_bytes key = string(r, &quote);
        while (which < COUNT && !wndl_bytes_is(key, names[which]))
            which++;
        if (r->status != WNDL_OK || (first && which == COUNT))
            break;
        seen |= which < COUNT ? 1u << which : 0;
        if ((seen & BOTH) == BOTH || seen > BOTH)
            return WNDL_DMD_YES;
        expect(r, ':', "");
        skip_value(r);
        expect(r, ',', "");
    }
    return WNDL_DMD_NO;
}

enum wndl_dmd_guess wndl_dmd_guess(struct wndl_bytes prefix)
{
    struct reader r = {.c = wndl_cursor_at(prefix, 0, false)};
    if (guess(&r) == WNDL_DMD_YES)
        return WNDL_DMD_YES;
    return r.status == WNDL_TRUNCATED && prefix.size < GUESS_AFTER
               ? WNDL_DMD_TOO_SHORT
               : WNDL_DMD_NO;
}
