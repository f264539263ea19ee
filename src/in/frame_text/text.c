/* SPDX-License-Identifier: MIT */
#include "in/frame_text/text.h"

const uint8_t wndl_frame_hex_digits[256] = {
    ['0'] = 1,
    ['1'] = 2,
    ['2'] = 3,
    ['3'] = 4,
    ['4'] = 5,
    ['5'] = 6,
    ['6'] = 7,
    ['7'] = 8,
    ['8'] = 9,
    ['9'] = 10,
    ['a'] = 11,
    ['b'] = 12,
    ['c'] = 13,
    ['d'] = 14,
    ['e'] = 15,
    ['f'] = 16,
    ['A'] = 11,
    ['B'] = 12,
    ['C'] = 13,
    ['D'] = 14,
    ['E'] = 15,
    ['F'] = 16,
};

bool wndl_frame_number(
    const struct wndl_frame_scan *s, size_t start, struct wndl_frame_number *n)
{
    n->start = start;
    n->end = start + 2;
    n->value = 0;
    for (; n->end < s->text.size; n->end++) {
        unsigned digit = wndl_frame_hex_digits[s->text.data[n->end]];
        if (digit == 0)
            break;
        if (n->value >> 60 != 0)
            return false;
        n->value = n->value << 4 | (digit - 1);
    }
    return n->end != start + 2;
}

void wndl_frame_set_floor(struct wndl_frame_scan *s, size_t floor)
{
    s->taken = floor;
    s->no_bracket = wndl_frame_larger(s->no_bracket, floor);
    s->no_hash = wndl_frame_larger(s->no_hash, floor);
    s->no_open = wndl_frame_larger(s->no_open, floor);
    s->hash = WNDL_FRAME_NONE;
    s->open = WNDL_FRAME_NONE;
}

size_t wndl_frame_line_end(struct wndl_frame_scan *s, size_t from)
{
    if (s->line_end < from)
        s->line_end = wndl_frame_first_of(s, '\n', from, s->text.size);
    return s->line_end;
}

/* A '"' without a backslash before it ends a JSON string, and so any frame. */
static size_t quote_in(const struct wndl_frame_scan *s, size_t from, size_t to)
{
    for (size_t at = wndl_frame_first_of(s, '"', from, to); at < to;
         at = wndl_frame_first_of(s, '"', at + 1, to)) {
        size_t slash = at;
        while (slash > from && s->text.data[slash - 1] == '\\')
            slash--;
        if ((at - slash) % 2 == 0)
            return at;
    }
    return WNDL_FRAME_NONE;
}

bool wndl_frame_emit(struct wndl_frame_scan *s, struct wndl_frame_text *frame)
{
    if (s->json && frame->form != WNDL_FRAME_IPS) {
        size_t quote = quote_in(s, frame->start, frame->end);
        if (quote != WNDL_FRAME_NONE) {
            wndl_frame_set_floor(s, quote + 1);
            return false;
        }
    }
    wndl_frame_set_floor(s, frame->end);
    s->next = wndl_frame_larger(s->next, frame->end);
    return true;
}

bool wndl_frame_is_arch(struct wndl_bytes name)
{
    static const char *const names[] = {"i386", "i486", "i586", "i686",
        "x86_64", "x86_64h", "arm", "armv4t", "armv5", "armv6", "armv6m",
        "armv7", "armv7f", "armv7s", "armv7k", "armv7m", "armv7em", "armv8",
        "thumbv7", "arm64", "arm64e", "arm64v8", "arm64_32", "arm64_32_v8",
        "aarch64", "ppc", "ppc7400", "ppc970", "ppc64", "riscv32", "riscv64"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (wndl_bytes_is(name, names[i]))
            return true;
    return false;
}

struct wndl_bytes wndl_frame_take_arch(struct wndl_bytes *path)
{
    const uint8_t *colon =
        path->size == 0 ? NULL : memrchr(path->data, ':', path->size);
    if (colon == NULL || colon == path->data)
        return (struct wndl_bytes){0};
    size_t before = (size_t)(colon - path->data);
    struct wndl_bytes arch = {colon + 1, path->size - before - 1};
    if (!wndl_frame_is_arch(arch))
        return (struct wndl_bytes){0};
    path->size = before;
    return arch;
}

size_t wndl_frame_open_before(struct wndl_frame_scan *s, size_t before)
{
    size_t open = wndl_frame_last_of(s, '(', s->no_open, before);
    if (open == WNDL_FRAME_NONE)
        s->no_open = wndl_frame_larger(s->no_open, before);
    return open;
}

bool wndl_frame_is_path_byte(uint8_t c)
{
    switch (c) {
    case '"':
    case '\'':
    case '`':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case '<':
    case '>':
    case ',':
    case ';':
    case ':':
    case '|':
    case '=':
    case '\\':
    case 0x7f:
        return false;
    default:
        return c > ' ';
    }
}

size_t wndl_frame_path_word(const struct wndl_frame_scan *s, size_t end)
{
    size_t start = end;
    while (start > s->taken && end - start < WNDL_FRAME_LONGEST_PATH &&
           wndl_frame_is_path_byte(wndl_frame_byte(s, start - 1)))
        start--;
    /* The letter of an escape is not part of the path. */
    return s->json && start > s->taken && start < end &&
                   wndl_frame_byte(s, start - 1) == '\\'
               ? start + 1
               : start;
}

bool wndl_frame_is_after(
    const struct wndl_frame_scan *s, size_t at, const char *wanted)
{
    size_t size = strlen(wanted);
    return at >= s->taken + size && wndl_frame_at_text(s, at - size, wanted);
}

size_t wndl_frame_index_before(
    const struct wndl_frame_scan *s, size_t end, uint64_t *index)
{
    enum { MOST_DIGITS = 9 };
    size_t at = end;
    while (at > s->taken && end - at < MOST_DIGITS &&
           wndl_frame_is_digit(wndl_frame_byte(s, at - 1)))
        at--;
    *index = 0;
    for (size_t i = at; i < end; i++)
        *index = *index * 10 + (uint64_t)(wndl_frame_byte(s, i) - '0');
    return at == end ? WNDL_FRAME_NONE : at;
}

/* The end of a line within a JSON string: an escape or its quote. */
static size_t rest_of_string(
    const struct wndl_frame_scan *s, size_t from, size_t end)
{
    size_t quote = wndl_frame_first_of(s, '"', from, end);
    return wndl_frame_first_of(s, '\\', from, quote);
}

size_t wndl_frame_rest(struct wndl_frame_scan *s, size_t from)
{
    if (from > s->text.size)
        return WNDL_FRAME_NONE;
    size_t end = wndl_frame_line_end(s, from);
    if (s->json) {
        bool far = end - from > WNDL_FRAME_LONGEST_PATH;
        size_t most = far ? from + WNDL_FRAME_LONGEST_PATH : end;
        size_t rest = rest_of_string(s, from, most);
        return far && rest == most ? WNDL_FRAME_NONE : rest;
    }
    if (end - from > WNDL_FRAME_LONGEST_PATH)
        return WNDL_FRAME_NONE;
    return end > from && wndl_frame_byte(s, end - 1) == '\r' ? end - 1 : end;
}

bool wndl_frame_decimal_offset(
    const struct wndl_frame_scan *s, size_t at, size_t end, uint64_t *offset)
{
    enum { MOST_DIGITS = 15 };
    size_t digits = at + 3;
    if (!wndl_frame_at_text(s, at, " + ") || end <= digits ||
        end - digits > MOST_DIGITS)
        return false;
    *offset = 0;
    for (size_t i = digits; i < end; i++) {
        if (!wndl_frame_is_digit(wndl_frame_byte(s, i)))
            return false;
        *offset = *offset * 10 + (uint64_t)(wndl_frame_byte(s, i) - '0');
    }
    return true;
}

/* A build-id has 20 bytes as a rule. */
enum { LONGEST_BUILD_ID = 128 };

struct wndl_bytes wndl_frame_build_id_at(
    const struct wndl_frame_scan *s, size_t at)
{
    static const char before[] = " (BuildId: ";
    size_t start = at + sizeof before - 1;
    size_t end = start;
    if (!wndl_frame_at_text(s, at, before))
        return (struct wndl_bytes){0};
    while (wndl_frame_hex_digits[wndl_frame_byte(s, end)] != 0 &&
           end - start < LONGEST_BUILD_ID)
        end++;
    bool whole = wndl_frame_byte(s, end) == ')' && (end - start) % 2 == 0;
    return wndl_frame_span(s, start, whole ? end : start);
}
