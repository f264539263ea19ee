/* SPDX-License-Identifier: MIT */
/* The output of sanitizers. */
#include "in/frame_text/forms.h"

bool wndl_frame_asan(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    if (s->hash == WNDL_FRAME_NONE)
        return false;
    s->hash = WNDL_FRAME_NONE;
    size_t start = s->hash_after;
    while (wndl_frame_byte(s, start) == ' ')
        start++;
    size_t first = s->hash_after + (start > s->hash_after); /* one blank */
    size_t open = start;
    struct wndl_bytes name = {0};
    if (wndl_frame_at_text(s, start, "in ")) {
        open = wndl_frame_open_before(s, n->start);
        if (open == WNDL_FRAME_NONE || open < start + 5 ||
            wndl_frame_byte(s, open - 1) != ' ')
            return false;
        name = wndl_frame_span(s, start + 3, open - 1);
    }
    if (wndl_frame_byte(s, open) != '(' || open + 1 >= n->start - 1)
        return false;
    struct wndl_bytes path = wndl_frame_span(s, open + 1, n->start - 1);
    struct wndl_bytes arch = wndl_frame_take_arch(&path);
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_ASAN,
        .base = WNDL_FRAME_SVMA,
        .start = first,
        .end = n->end + 1,
        .name = name,
        .path = path,
        .arch = arch,
        .build_id = wndl_frame_build_id_at(s, n->end + 1),
        .address = n->value,
    };
    return wndl_frame_emit(s, frame);
}

/* Whether the line begins with "#12 ". */
static bool is_numbered(const struct wndl_frame_scan *s)
{
    enum { MOST = 64 };
    size_t at = s->line;
    while (at - s->line < MOST && wndl_frame_byte(s, at) == ' ')
        at++;
    if (wndl_frame_byte(s, at) != '#' ||
        !wndl_frame_is_digit(wndl_frame_byte(s, at + 1)))
        return false;
    at++;
    while (at - s->line < MOST && wndl_frame_is_digit(wndl_frame_byte(s, at)))
        at++;
    return wndl_frame_byte(s, at) == ' ';
}

/* Whether "SUMMARY: " comes shortly before `at`. */
static bool is_in_summary(const struct wndl_frame_scan *s, size_t at)
{
    static const char word[] = "SUMMARY: ";
    enum { FAR = 160 };
    size_t from = at - s->taken > FAR ? at - FAR : s->taken;
    return memmem(s->text.data + from, at - from, word, sizeof word - 1) !=
           NULL;
}

bool wndl_frame_sanitized(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t open = wndl_frame_open_before(s, n->start);
    if (open == WNDL_FRAME_NONE || open < s->taken ||
        (!is_numbered(s) && !is_in_summary(s, open)))
        return false;
    struct wndl_bytes path = wndl_frame_span(s, open + 1, n->start - 1);
    struct wndl_bytes arch = wndl_frame_take_arch(&path);
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PLAIN,
        .base = WNDL_FRAME_SVMA,
        .start = open + 1,
        .end = n->end,
        .path = path,
        .arch = arch,
        .build_id = wndl_frame_build_id_at(s, n->end + 1),
        .address = n->value,
        .perhaps = true,
    };
    return path.size != 0 && wndl_frame_emit(s, frame);
}

/* The '#' of "#12 " that ends at `end`, or WNDL_FRAME_NONE. */
static size_t number_sign(const struct wndl_frame_scan *s, size_t end)
{
    size_t at = end;
    while (at > s->taken && end - at < 20 &&
           wndl_frame_is_digit(wndl_frame_byte(s, at - 1)))
        at--;
    return at > s->taken && at < end && wndl_frame_byte(s, at - 1) == '#'
               ? at - 1
               : WNDL_FRAME_NONE;
}

bool wndl_frame_asan_begins(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    (void)frame;
    size_t end = n->start - 1;
    if (n->start < s->taken + 3)
        return false;
    if (wndl_frame_byte(s, end - 1) == ' ')
        end--; /* systemd aligns its numbers */
    size_t sign = number_sign(s, end);
    if (sign != WNDL_FRAME_NONE) {
        s->hash = sign;
        s->hash_after = n->end;
    }
    return false;
}
