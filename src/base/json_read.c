/* SPDX-License-Identifier: MIT */
#include "base/json_read.h"

#include "base/json.h"

#include <string.h>

void wndl_json_begin(struct wndl_json_reader *r, wndl_json_more more,
    void *context, struct wndl_mem *mem, struct wndl_error *err)
{
    static const uint8_t nothing[1];
    *r = (struct wndl_json_reader){
        .start = nothing,
        .next = nothing,
        .end = nothing,
        .more = more,
        .context = context,
        .err = err,
    };
    wndl_buf_init(&r->raw, mem);
    wndl_buf_init(&r->text, mem);
}

void wndl_json_end(struct wndl_json_reader *r)
{
    wndl_buf_free(&r->raw);
    wndl_buf_free(&r->text);
}

uint64_t wndl_json_offset(const struct wndl_json_reader *r)
{
    return r->before + (uint64_t)(r->next - r->start);
}

void wndl_json_fail_at(struct wndl_json_reader *r, enum wndl_status status,
    uint64_t offset, const char *what)
{
    if (r->status == WNDL_OK)
        r->status = wndl_fail_at(r->err, status, "JSON", offset, what);
    r->before += (uint64_t)(r->next - r->start);
    r->start = r->end = r->next;
}

void wndl_json_fail(
    struct wndl_json_reader *r, enum wndl_status status, const char *what)
{
    wndl_json_fail_at(r, status, wndl_json_offset(r), what);
}

/* False at the end of the text, and after a failure. */
static bool next_piece(struct wndl_json_reader *r)
{
    struct wndl_bytes piece = {0};
    if (r->status != WNDL_OK)
        return false;
    r->before = wndl_json_offset(r);
    r->start = r->end = r->next;
    r->status = r->more(r->context, &piece, r->err);
    if (r->status != WNDL_OK || piece.size == 0)
        return false;
    r->start = r->next = piece.data;
    r->end = piece.data + piece.size;
    return true;
}

static bool at_end(struct wndl_json_reader *r)
{
    return r->next == r->end && !next_piece(r);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool skip_blanks(struct wndl_json_reader *r)
{
    while (!at_end(r)) {
        if (!is_blank(*r->next))
            return true;
        r->next++;
    }
    return false;
}

uint8_t wndl_json_peek(struct wndl_json_reader *r)
{
    if (skip_blanks(r))
        return *r->next;
    wndl_json_fail(r, WNDL_TRUNCATED, "the file ends before its data do");
    return 0;
}

/* True if it was next. */
static bool expect(struct wndl_json_reader *r, uint8_t wanted, const char *what)
{
    uint8_t c = wndl_json_peek(r);
    if (r->status != WNDL_OK)
        return false;
    if (c == wanted)
        r->next++;
    else
        wndl_json_fail(r, WNDL_MALFORMED, what);
    return c == wanted;
}

bool wndl_json_enter(
    struct wndl_json_reader *r, uint8_t opening, const char *what)
{
    if (!expect(r, opening, what))
        return false;
    bool empty = wndl_json_peek(r) == opening + 2;
    r->next += empty && r->status == WNDL_OK;
    return !empty && r->status == WNDL_OK;
}

bool wndl_json_another(struct wndl_json_reader *r, uint8_t closing)
{
    uint8_t c = wndl_json_peek(r);
    if (r->status != WNDL_OK)
        return false;
    if (c == closing || c == ',')
        r->next++;
    else
        wndl_json_fail(
            r, WNDL_MALFORMED, "a comma or a closing bracket is expected");
    return c == ',';
}

/*
 * The end of a string's part in this piece: its end quote or the piece's end.
 */
static const uint8_t *scan(
    const struct wndl_json_reader *r, bool *escaped, bool *plain)
{
    const uint8_t *p = r->next;
    for (; p != r->end && (*escaped || *p != '"'); p++) {
        *escaped = !*escaped && *p == '\\';
        *plain = *plain && *p >= 0x20 && *p < 0x80 && *p != '\\';
    }
    return p;
}

/* The text between the quotes, of which the first was consumed. */
static struct wndl_bytes take_inside(struct wndl_json_reader *r, bool *plain)
{
    bool escaped = false;
    wndl_buf_clear(&r->raw);
    *plain = true;
    while (!at_end(r)) {
        const uint8_t *from = r->next;
        r->next = scan(r, &escaped, plain);
        struct wndl_bytes part = {from, (size_t)(r->next - from)};
        bool whole = r->next != r->end;
        r->next += whole;
        if (part.size > WNDL_JSON_STRING_MAX - r->raw.size)
            wndl_json_fail(r, WNDL_LIMIT, "a string of more than 1 MiB");
        else if (whole && r->raw.size == 0)
            return part;
        else
            wndl_buf_add(&r->raw, part.data, part.size);
        if (r->raw.failed)
            wndl_json_fail(r, WNDL_NOMEM, "no memory for a string");
        else if (whole)
            return (struct wndl_bytes){r->raw.data, r->raw.size};
    }
    wndl_json_fail(r, WNDL_TRUNCATED, "the file ends within a string");
    return (struct wndl_bytes){0};
}

struct wndl_bytes wndl_json_read_string(struct wndl_json_reader *r)
{
    bool plain;
    if (!expect(r, '"', "a string is expected here"))
        return (struct wndl_bytes){0};
    uint64_t start = wndl_json_offset(r);
    struct wndl_bytes inside = take_inside(r, &plain);
    if (plain || r->status != WNDL_OK)
        return inside;
    wndl_buf_clear(&r->text);
    if (wndl_json_unescaped(&r->text, inside))
        return (struct wndl_bytes){r->text.data, r->text.size};
    if (r->text.failed)
        wndl_json_fail(r, WNDL_NOMEM, "no memory for a string");
    wndl_json_fail_at(r, WNDL_MALFORMED, start,
        "a string that is not UTF-8, or has a wrong escape in it");
    return (struct wndl_bytes){0};
}

/* Keeps a part of a string before the next piece replaces it. */
static struct wndl_bytes keep(struct wndl_json_reader *r, struct wndl_bytes s)
{
    if (s.data == r->text.data || s.size == 0)
        return s;
    wndl_buf_clear(&r->text);
    wndl_buf_add(&r->text, s.data, s.size);
    if (r->text.failed)
        wndl_json_fail(r, WNDL_NOMEM, "no memory for a string");
    return (struct wndl_bytes){r->text.data, s.size};
}

struct wndl_bytes wndl_json_read_key(struct wndl_json_reader *r)
{
    struct wndl_bytes key = wndl_json_read_string(r);
    if (r->next != r->end && *r->next == ':') {
        r->next++;
        return key;
    }
    if (r->status == WNDL_OK)
        key = keep(r, key);
    (void)expect(r, ':', "a colon is expected here");
    return r->status == WNDL_OK ? key : (struct wndl_bytes){0};
}

/* Whether a value of letters and digits may continue with this. */
static bool is_of_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '+';
}

uint64_t wndl_json_read_u64(struct wndl_json_reader *r)
{
    uint64_t value = 0;
    bool whole = wndl_json_peek(r) != 0;
    uint64_t start = wndl_json_offset(r);
    bool zero = whole && *r->next == '0';
    size_t digits = 0;
    for (; !at_end(r) && is_of_word(*r->next); r->next++, digits++) {
        whole =
            whole && *r->next >= '0' && *r->next <= '9' &&
            !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
            !__builtin_add_overflow(value, (uint64_t)(*r->next - '0'), &value);
    }
    if (!whole || digits == 0 || (zero && digits > 1))
        wndl_json_fail_at(r, WNDL_MALFORMED, start,
            "a whole number from 0 to 2^64 - 1 is expected here");
    return r->status == WNDL_OK ? value : 0;
}

int64_t wndl_json_read_i64(struct wndl_json_reader *r)
{
    const uint64_t most = INT64_MAX;
    const bool negative = wndl_json_peek(r) == '-';
    const uint64_t start = wndl_json_offset(r);
    if (negative)
        r->next++;
    const bool digit = !at_end(r) && *r->next >= '0' && *r->next <= '9';
    const uint64_t value = digit ? wndl_json_read_u64(r) : 0;
    if (!digit || value > most + negative)
        wndl_json_fail_at(r, WNDL_MALFORMED, start,
            "a whole number of 64 bits is expected here");
    return r->status != WNDL_OK ? 0
           : negative           ? (int64_t)(0 - value)
                                : (int64_t)value;
}

/* Consumes `word`, and nothing else, if its first letter is next. */
static bool take_word(
    struct wndl_json_reader *r, const char *word, const char *what)
{
    if (wndl_json_peek(r) != (uint8_t)word[0])
        return false;
    const uint64_t start = wndl_json_offset(r);
    const size_t size = strlen(word);
    size_t taken = 0;
    for (; !at_end(r) && is_of_word(*r->next); r->next++, taken++)
        if (taken >= size || *r->next != (uint8_t)word[taken])
            break;
    if (taken != size && r->status == WNDL_OK)
        wndl_json_fail_at(r, WNDL_MALFORMED, start, what);
    return r->status == WNDL_OK;
}

bool wndl_json_read_truth(struct wndl_json_reader *r)
{
    static const char what[] = "true or false is expected here";
    const bool is_true = take_word(r, "true", what);
    if (!is_true && !take_word(r, "false", what))
        wndl_json_fail(r, WNDL_MALFORMED, what);
    return is_true;
}

bool wndl_json_read_null(struct wndl_json_reader *r)
{
    return take_word(r, "null", "neither a string nor null");
}

/* The open brackets, a bit each: 1 for '{'. */
struct nesting {
    uint8_t bits[WNDL_JSON_DEPTH_MAX / 8];
    unsigned depth;
};

static void skip_bracket(
    struct wndl_json_reader *r, struct nesting *n, uint8_t c)
{
    bool curly = c == '{' || c == '}';
    if (c == '{' || c == '[') {
        if (n->depth == WNDL_JSON_DEPTH_MAX) {
            wndl_json_fail(r, WNDL_LIMIT, "values nested too deep");
            return;
        }
        uint8_t bit = (uint8_t)(1 << n->depth % 8);
        n->bits[n->depth / 8] &= (uint8_t)~bit;
        n->bits[n->depth / 8] |= curly ? bit : 0;
        n->depth++;
    } else {
        n->depth--;
        bool opened = n->bits[n->depth / 8] >> n->depth % 8 & 1;
        if (opened != curly) {
            wndl_json_fail(r, WNDL_MALFORMED, "the wrong closing bracket");
            return;
        }
    }
    r->next++;
}

void wndl_json_skip(struct wndl_json_reader *r)
{
    struct nesting nesting = {.depth = 0};
    bool some = false;
    for (;; some = true) {
        uint8_t c = wndl_json_peek(r);
        bool plain;
        if (r->status != WNDL_OK)
            return;
        bool ends = c == ',' || c == '}' || c == ']' || (some && c == ':');
        if (nesting.depth == 0 && ends)
            break;
        if (c == '{' || c == '[' || c == '}' || c == ']')
            skip_bracket(r, &nesting, c);
        else
            r->next++;
        if (c == '"')
            (void)take_inside(r, &plain);
    }
    if (!some)
        wndl_json_fail(r, WNDL_MALFORMED, "a value is expected here");
}

bool wndl_json_follows(struct wndl_json_reader *r)
{
    return r->status == WNDL_OK && skip_blanks(r) && r->status == WNDL_OK;
}

void wndl_json_expect_end(struct wndl_json_reader *r)
{
    if (wndl_json_follows(r))
        wndl_json_fail(r, WNDL_MALFORMED, "more follows the end");
}
