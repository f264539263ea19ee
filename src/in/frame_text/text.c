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
    if (s->json) {
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

/* As lipo, LLVM and sanitizers name them. */
struct wndl_bytes wndl_frame_take_arch(struct wndl_bytes *path)
{
    static const char *const names[] = {"i386", "i486", "i586", "i686",
        "x86_64", "x86_64h", "arm", "armv4t", "armv5", "armv6", "armv6m",
        "armv7", "armv7f", "armv7s", "armv7k", "armv7m", "armv7em", "armv8",
        "thumbv7", "arm64", "arm64e", "arm64v8", "arm64_32", "arm64_32_v8",
        "aarch64", "ppc", "ppc7400", "ppc970", "ppc64", "riscv32", "riscv64"};
    const uint8_t *colon =
        path->size == 0 ? NULL : memrchr(path->data, ':', path->size);
    if (colon == NULL || colon == path->data)
        return (struct wndl_bytes){0};
    size_t before = (size_t)(colon - path->data);
    struct wndl_bytes arch = {colon + 1, path->size - before - 1};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!wndl_bytes_is(arch, names[i]))
            continue;
        path->size = before;
        return arch;
    }
    return (struct wndl_bytes){0};
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
