/* SPDX-License-Identifier: MIT */
/*
 * frame_text: every form has a "0x" in it, and the text around the first or
 * last of them decides. The search goes from one "0x" to the next.
 */
#include "in/frame_text/frame_text.h"

#include "in/frame_text/forms.h"

/* To the line that `at` is in. */
static void enter_line(struct wndl_frame_scan *s, size_t at)
{
    size_t newline = wndl_frame_last_of(s, '\n', s->entered, at);
    s->entered = at;
    if (newline == WNDL_FRAME_NONE)
        return;
    s->line = newline + 1;
    wndl_frame_set_floor(s, newline + 1);
}

/* For most numbers the text before them shows that they are in no frame. */
static bool is_plausible(const struct wndl_frame_scan *s, size_t start)
{
    if (start < 3)
        return start != 0 && s->text.data[start - 1] != ' ';
    uint8_t before = s->text.data[start - 2];
    switch (s->text.data[start - 1]) {
    case '+':
    case '[':
    case '(':
        return true;
    case ' ':
        return before == ')' || before == 't' || before == 'y' ||
               wndl_frame_is_digit(before);
    default:
        return false;
    }
}

/* A number of a form, by the bytes next to it. */
struct form {
    uint8_t before;
    uint8_t after; /* 0: any */
    bool (*read)(struct wndl_frame_scan *s, const struct wndl_frame_number *n,
        struct wndl_frame_text *frame);
};

/* Forms with the same `before` are in the order of the tries. */
static const struct form forms[] = {
    {'+', ']', wndl_frame_bracketed},
    {'+', ')', wndl_frame_named},
    {'+', ')', wndl_frame_asan},
    {'+', ')', wndl_frame_glibc},
    {'+', ')', wndl_frame_sanitized},
    {'+', 0, wndl_frame_plain},
    {' ', 0, wndl_frame_unnamed},
    {' ', ':', wndl_frame_valgrind},
    {' ', 0, wndl_frame_asan_begins},
    {'[', ']', wndl_frame_glibc_absolute},
    {'(', ' ', wndl_frame_named_begins},
};

static bool candidate(
    struct wndl_frame_scan *s, size_t start, struct wndl_frame_text *frame)
{
    struct wndl_frame_number n;
    if (!is_plausible(s, start))
        return false;
    enter_line(s, start);
    if (start <= s->taken || !wndl_frame_number(s, start, &n))
        return false;
    uint8_t before = s->text.data[start - 1];
    uint8_t after = wndl_frame_byte(s, n.end);
    /* Unrolled, the calls are direct ones. */
#pragma GCC unroll 16
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].before == before &&
            (forms[i].after == 0 || forms[i].after == after) &&
            forms[i].read(s, &n, frame))
            return true;
    }
    return false;
}

void wndl_frame_scan_init(
    struct wndl_frame_scan *scan, struct wndl_bytes text, bool json)
{
    *scan = (struct wndl_frame_scan){.text = text, .json = json};
    scan->hash = scan->open = WNDL_FRAME_NONE;
}

bool wndl_frame_scan_next(
    struct wndl_frame_scan *scan, struct wndl_frame_text *frame)
{
    for (;;) {
        size_t x = wndl_frame_first_of(scan, 'x', scan->next, scan->text.size);
        if (x == scan->text.size)
            return false;
        scan->next = x + 1;
        if (x == 0 || scan->text.data[x - 1] != '0')
            continue;
        if (candidate(scan, x - 1, frame))
            return true;
    }
}
