/* SPDX-License-Identifier: MIT */
/*
 * frame_text: most forms have a "0x" in them, and the text around the first or
 * last of them decides. The search goes from one sign of a form to the next: a
 * "0x", the '#' of Android's, a key of Apple's JSON, a tab of Perl's.
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
    case '\t':
        return true;
    case ' ':
        return before == ')' || before == 't' || before == 'y' ||
               before == ' ' || before == '+' || before == ':' ||
               wndl_frame_is_digit(before);
    case ':':
        return before == 'c' || wndl_frame_is_digit(before);
    case '"':
        return s->json;
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
    {'+', ']', wndl_frame_hotspot},
    {'+', ' ', wndl_frame_python},
    {'+', '/', wndl_frame_kernel},
    {'+', 0, wndl_frame_plain},
    {' ', ')', wndl_frame_coredump},
    {' ', 0, wndl_frame_minidump},
    {' ', 0, wndl_frame_unnamed},
    {' ', ':', wndl_frame_valgrind},
    {' ', ' ', wndl_frame_lldb},
    {' ', ' ', wndl_frame_gdb},
    {' ', ' ', wndl_frame_node},
    {' ', ' ', wndl_frame_rust},
    {' ', ' ', wndl_frame_apple},
    {'\t', ' ', wndl_frame_apple},
    {' ', 0, wndl_frame_asan_begins},
    {'[', ']', wndl_frame_glibc_absolute},
    {'[', ']', wndl_frame_python_absolute},
    {'(', ' ', wndl_frame_named_begins},
    {':', 0, wndl_frame_markup},
    {'"', '"', wndl_frame_node_report},
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
#pragma GCC unroll 32
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

static const char ips_key[] = "\"imageOffset\"";
enum { KEY_O = 6 }; /* where its 'O' is */
static const char perl_columns[] = "\t-\t/";

static size_t next_key(const struct wndl_frame_scan *s, size_t from)
{
    from = wndl_frame_larger(from, s->no_key);
    if (!s->json || from >= s->text.size)
        return s->text.size;
    /* Text has few capitals: memmem would take longer. */
    size_t at = wndl_frame_first_of(s, 'O', from + KEY_O, s->text.size);
    while (at < s->text.size && !wndl_frame_at_text(s, at - KEY_O, ips_key))
        at = wndl_frame_first_of(s, 'O', at + 1, s->text.size);
    return at == s->text.size ? at : at - KEY_O;
}

/* Text has few tabs: memmem would take longer. */
static size_t next_columns(const struct wndl_frame_scan *s, size_t from)
{
    size_t at = wndl_frame_first_of(s, '\t', from, s->text.size);
    while (at < s->text.size && !wndl_frame_at_text(s, at, perl_columns))
        at = wndl_frame_first_of(s, '\t', at + 1, s->text.size);
    return at;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The next 'x' or other sign of a form, or the end of the text. */
static size_t next_sign(struct wndl_frame_scan *s)
{
    bool first = s->next == 0;
    if (s->hash_at < s->next || first)
        s->hash_at = wndl_frame_first_of(s, '#', s->next, s->text.size);
    if (s->key_at < s->next || first)
        s->key_at = next_key(s, s->next);
    if (s->perl_at < s->next || first)
        s->perl_at = next_columns(s, s->next);
    size_t end = smaller(s->hash_at, smaller(s->key_at, s->perl_at));
    return wndl_frame_first_of(s, 'x', s->next, end);
}

/* The form without a "0x", "#01 pc OFF", begins with a '#'. */
static bool candidate_without_0x(
    struct wndl_frame_scan *s, size_t hash, struct wndl_frame_text *frame)
{
    if (!wndl_frame_is_digit(wndl_frame_byte(s, hash + 1)))
        return false;
    size_t at = hash + 2;
    while (at - hash < 5 && wndl_frame_is_digit(wndl_frame_byte(s, at)))
        at++;
    if (!wndl_frame_at_text(s, at, " pc "))
        return false;
    enter_line(s, hash);
    return hash >= s->taken && wndl_frame_android(s, hash, frame);
}

/* Whether there is a frame at the sign at `at`. */
static bool take_sign(
    struct wndl_frame_scan *s, size_t at, struct wndl_frame_text *frame)
{
    switch (s->text.data[at]) {
    case 'x':
        return at != 0 && s->text.data[at - 1] == '0' &&
               candidate(s, at - 1, frame);
    case '#':
        return candidate_without_0x(s, at, frame);
    case '"':
        enter_line(s, at);
        return at >= s->taken && wndl_frame_ips(s, at, frame);
    default:
        enter_line(s, at);
        return at >= s->taken && wndl_frame_perl(s, at, frame);
    }
}

bool wndl_frame_scan_next(
    struct wndl_frame_scan *scan, struct wndl_frame_text *frame)
{
    for (;;) {
        size_t at = next_sign(scan);
        if (at == scan->text.size)
            return false;
        scan->next = at + 1;
        if (take_sign(scan, at, frame))
            return true;
    }
}
