/* SPDX-License-Identifier: MIT */
/* Forms with blanks around their '+': of systemd, minidumps, and our own. */
#include "in/frame_text/forms.h"

/*
 * The start of the name, after "#1  0xADDRESS " as systemd writes it, with the
 * number; without that, of the name by itself and UINT64_MAX.
 */
static size_t name_at(
    const struct wndl_frame_scan *s, size_t end, uint64_t *number)
{
    size_t start = s->hash == WNDL_FRAME_NONE ? end : s->hash_after + 1;
    if (start >= end) {
        *number = UINT64_MAX;
        return wndl_frame_name_before(s, end);
    }
    *number = 0;
    for (size_t i = s->hash + 1; wndl_frame_is_digit(wndl_frame_byte(s, i));
         i++)
        *number = *number * 10 + (uint64_t)(wndl_frame_byte(s, i) - '0');
    return start;
}

/* The end of backtrace_symbols_fd's frames, which may have been fixed. */
static bool is_before_address(const struct wndl_frame_scan *s, size_t at)
{
    return wndl_frame_at_text(s, at, " [0x") ||
           wndl_frame_at_text(s, at, "[0x");
}

bool wndl_frame_coredump(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    if (!wndl_frame_is_after(s, n->start, " + "))
        return false;
    size_t plus = n->start - 3;
    size_t open = wndl_frame_open_before(s, plus);
    if (open == WNDL_FRAME_NONE || open < s->taken + 2 || open + 1 >= plus ||
        wndl_frame_byte(s, open - 1) != ' ')
        return false;
    uint64_t number;
    size_t start = name_at(s, open - 1, &number);
    bool numbered = number != UINT64_MAX;
    struct wndl_bytes path = wndl_frame_span(s, open + 1, plus);
    if (start >= open - 1 || path.size >= WNDL_FRAME_LONGEST_PATH ||
        (!numbered && !wndl_frame_is_like_a_path(path)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_SPACED,
        .base = WNDL_FRAME_RVA,
        .start = start,
        .end = n->end + 1,
        .name = wndl_frame_span(s, start, open - 1),
        .path = path,
        .address = n->value,
        .return_address =
            numbered ? number != 0 : is_before_address(s, n->end + 1),
        .perhaps = !numbered || memchr(path.data, '/', path.size) == NULL,
    };
    return wndl_frame_emit(s, frame);
}

/* The text after "  12  " at the start of the line, or WNDL_FRAME_NONE. */
static size_t after_number(const struct wndl_frame_scan *s)
{
    enum { MOST = 16 };
    size_t at = s->line;
    while (at - s->line < MOST && wndl_frame_byte(s, at) == ' ')
        at++;
    size_t digits = at;
    while (at - s->line < MOST && wndl_frame_is_digit(wndl_frame_byte(s, at)))
        at++;
    return at > digits && wndl_frame_at_text(s, at, "  ") ? at + 2
                                                          : WNDL_FRAME_NONE;
}

bool wndl_frame_minidump(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    if (!wndl_frame_is_after(s, n->start, " + ") ||
        wndl_frame_rest(s, n->end) != n->end)
        return false;
    size_t start = after_number(s);
    size_t plus = n->start - 3;
    if (start == WNDL_FRAME_NONE || start < s->taken || start >= plus ||
        plus - start >= WNDL_FRAME_LONGEST_PATH ||
        wndl_frame_byte(s, start) == ' ')
        return false;
    size_t path = wndl_frame_first_of(s, '!', start, plus);
    if (path == start)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_SPACED,
        .base = path == plus ? WNDL_FRAME_RVA : WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = n->end,
        .name = wndl_frame_span(s, path == plus ? plus : path + 1, plus),
        .path = wndl_frame_span(s, start, path),
        .address = n->value,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}
