/* SPDX-License-Identifier: MIT */
/* The output of backtrace_symbols(). */
#include "in/frame_text/forms.h"

/*
 * The start of the path of "path(": the start of the line if that begins with a
 * path, which may have blanks in it, else the start of the word.
 */
static size_t path_before(const struct wndl_frame_scan *s, size_t open)
{
    size_t start = s->line;
    while (start < open && start - s->line < WNDL_FRAME_LONGEST_PATH &&
           wndl_frame_is_blank(wndl_frame_byte(s, start)))
        start++;
    if (start >= s->taken && open - start < WNDL_FRAME_LONGEST_PATH &&
        (wndl_frame_at_text(s, start, "/") ||
            wndl_frame_at_text(s, start, "./")))
        return start;
    return wndl_frame_path_word(s, open);
}

/* " [0xADDRESS]" at `at`, the blank not in every version. */
static bool address_in_brackets(const struct wndl_frame_scan *s, size_t at,
    struct wndl_frame_number *address)
{
    at += wndl_frame_byte(s, at) == ' ';
    return wndl_frame_at_text(s, at, "[0x") &&
           wndl_frame_number(s, at + 1, address) &&
           wndl_frame_byte(s, address->end) == ']';
}

bool wndl_frame_glibc(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    struct wndl_frame_number address;
    if (!address_in_brackets(s, n->end + 1, &address))
        return false;
    size_t open = wndl_frame_open_before(s, n->start);
    if (open == WNDL_FRAME_NONE)
        return false;
    size_t start = path_before(s, open);
    struct wndl_bytes name = wndl_frame_span(s, open + 1, n->start - 1);
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_GLIBC,
        .base = name.size == 0 ? WNDL_FRAME_SVMA : WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = n->end + 1,
        .name = name,
        .path = wndl_frame_span(s, start, open),
        .address = n->value,
        .return_address = true,
    };
    return start != open && wndl_frame_emit(s, frame);
}

bool wndl_frame_glibc_absolute(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t end = n->start - 1;
    if (wndl_frame_byte(s, n->end) != ']')
        return false;
    size_t blank = end > s->taken && wndl_frame_byte(s, end - 1) == ' ';
    bool call = end >= s->taken + 3 + blank &&
                wndl_frame_at_text(s, end - blank - 2, "()");
    if (call)
        end -= blank;
    size_t close = call ? end - 2 : end;
    size_t start = path_before(s, close);
    struct wndl_bytes path = wndl_frame_span(s, start, close);
    if (path.size == 0 || (!call && memchr(path.data, '/', path.size) == NULL))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_GLIBC,
        .base = WNDL_FRAME_SVMA,
        .start = start,
        .end = end,
        .path = path,
        .address = n->value,
        .return_address = true,
        .perhaps = !call,
    };
    return wndl_frame_emit(s, frame);
}
