/* SPDX-License-Identifier: MIT */
/* The output of Valgrind. */
#include "in/frame_text/forms.h"

/* The next " (in " of the line, or the line's end. */
static size_t in_after(struct wndl_frame_scan *s, size_t from)
{
    size_t end = wndl_frame_line_end(s, from);
    if (s->in_at >= from && s->in_at <= end)
        return s->in_at;
    const uint8_t *found = memmem(s->text.data + from, end - from, " (in ", 5);
    s->in_at = found == NULL ? end : (size_t)(found - s->text.data);
    return s->in_at;
}

/* "at " or "by ", a word by itself, ends before `start`. */
static bool is_after_word(const struct wndl_frame_scan *s, size_t start)
{
    if (start < s->taken + 3)
        return false;
    size_t word = start - 3;
    return (word == s->line ||
               wndl_frame_is_blank(wndl_frame_byte(s, word - 1))) &&
           (wndl_frame_at_text(s, word, "at") ||
               wndl_frame_at_text(s, word, "by"));
}

bool wndl_frame_valgrind(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    if (!is_after_word(s, n->start) || !wndl_frame_at_text(s, n->end, ": "))
        return false;
    size_t start = n->end + 2;
    size_t in = in_after(s, start);
    size_t end = wndl_frame_line_end(s, start);
    size_t close = wndl_frame_first_of(s, ')', in, end);
    if (close == end)
        s->in_at = end; /* nothing to find on this line */
    if (in == start || close == end || close <= in + 5)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_VALGRIND,
        .base = WNDL_FRAME_VALGRINDS,
        .start = start,
        .end = close + 1,
        .name = wndl_frame_span(s, start, in),
        .path = wndl_frame_span(s, in + 5, close),
        .address = n->value,
    };
    return wndl_frame_emit(s, frame);
}
