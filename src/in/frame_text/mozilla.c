/* SPDX-License-Identifier: MIT */
/* The output of Mozilla's programs, and of wndl_print_stack. */
#include "in/frame_text/forms.h"

/*
 * The end of the last "#digits: " that ends before `before`, in [no_hash,
 * before); or WNDL_FRAME_NONE, and then no_hash is advanced.
 */
static size_t hash_before(struct wndl_frame_scan *s, size_t before)
{
    size_t none = before;
    size_t hash = wndl_frame_last_of(s, '#', s->no_hash, before);
    for (; hash != WNDL_FRAME_NONE;
         hash = wndl_frame_last_of(s, '#', s->no_hash, hash)) {
        size_t at = hash + 1;
        while (wndl_frame_is_digit(wndl_frame_byte(s, at)))
            at++;
        bool whole = at > hash + 1 && wndl_frame_at_text(s, at, ": ");
        if (whole && at + 2 < before)
            return at + 2;
        if (at + 2 >= before)
            none = hash; /* may do for a later bracket */
    }
    s->no_hash = wndl_frame_larger(s->no_hash, none);
    return WNDL_FRAME_NONE;
}

bool wndl_frame_bracketed(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t blank = n->start - 2;
    if (n->start < s->taken + 2 || blank == 0 ||
        wndl_frame_byte(s, blank) != ' ')
        return false;
    size_t bracket = wndl_frame_last_of(s, '[', s->no_bracket, blank - 1);
    if (bracket == WNDL_FRAME_NONE) {
        s->no_bracket = wndl_frame_larger(s->no_bracket, blank - 1);
        return false;
    }
    size_t start = hash_before(s, bracket);
    if (start == WNDL_FRAME_NONE)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_BRACKETED,
        .base = WNDL_FRAME_RVA,
        .start = start,
        .end = n->end + 1,
        .name = wndl_frame_span(s, start, bracket),
        .path = wndl_frame_span(s, bracket + 1, blank),
        .address = n->value,
    };
    return wndl_frame_emit(s, frame);
}
