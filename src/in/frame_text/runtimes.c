/* SPDX-License-Identifier: MIT */
/* The reports of Java's, Node's, Rust's, Python's and Perl's runtimes. */
#include "in/frame_text/forms.h"

/* Whether the frame at the start of the line is where a signal came. */
static bool is_first_of_hotspot(const struct wndl_frame_scan *s)
{
    enum { FAR = 200 };
    if (wndl_frame_byte(s, s->line) == '#')
        return true;
    if (s->line == 0)
        return false;
    size_t end = s->line - 1;
    size_t before = wndl_frame_last_of(s, '\n', end > FAR ? end - FAR : 0, end);
    return wndl_frame_at_text(
        s, before == WNDL_FRAME_NONE ? 0 : before + 1, "Native frames:");
}

bool wndl_frame_hotspot(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t plus = n->start - 1;
    size_t path = wndl_frame_path_word(s, plus);
    if (path >= plus || !(wndl_frame_is_after(s, path, "C  [") ||
                            wndl_frame_is_after(s, path, "V  [")))
        return false;
    size_t end = wndl_frame_rest(s, n->end + 1);
    if (end == WNDL_FRAME_NONE)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_HOTSPOT,
        .base = WNDL_FRAME_RVA,
        .start = path - 1,
        .end = end,
        .path = wndl_frame_span(s, path, plus),
        .address = n->value,
        .return_address = !is_first_of_hotspot(s),
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}

/* Reads "name [path]" at [start, end); the name may be empty. */
static bool take_name_and_path(const struct wndl_frame_scan *s, size_t start,
    size_t end, struct wndl_frame_text *frame)
{
    if (end <= start + 3 || wndl_frame_byte(s, end - 1) != ']')
        return false;
    size_t open = wndl_frame_last_of(s, '[', start, end);
    if (open == WNDL_FRAME_NONE || open == start || open + 1 >= end - 1 ||
        wndl_frame_byte(s, open - 1) != ' ')
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_NODE,
        .base = WNDL_FRAME_SVMA,
        .start = start,
        .end = end,
        .name = wndl_frame_span(s, start, open - 1),
        .path = wndl_frame_span(s, open + 1, end - 1),
        .return_address = true,
        .perhaps = true,
    };
    return true;
}

/* The number of "12: " that ends at `end`, alone or after a blank. */
static bool is_after_counter(const struct wndl_frame_scan *s, size_t end)
{
    uint64_t number;
    if (!wndl_frame_is_after(s, end, ":"))
        return false;
    size_t first = wndl_frame_index_before(s, end - 1, &number);
    return first != WNDL_FRAME_NONE &&
           (first == s->line || first == s->taken ||
               wndl_frame_is_blank(wndl_frame_byte(s, first - 1)));
}

bool wndl_frame_node(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t start = n->end + 1;
    if (!is_after_counter(s, n->start - 1))
        return false;
    size_t end = wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE || !take_name_and_path(s, start, end, frame))
        return false;
    frame->address = n->value;
    return wndl_frame_emit(s, frame);
}

bool wndl_frame_node_report(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    static const char symbol[] = "\"symbol\": \"";
    enum { MOST_BLANKS = 64 };
    size_t at = n->end + 2;
    if (!s->json || !wndl_frame_is_after(s, n->start, "\"pc\": \"") ||
        !wndl_frame_at_text(s, n->end, "\","))
        return false;
    while (at - n->end < MOST_BLANKS &&
           wndl_frame_is_blank(wndl_frame_byte(s, at)) && at < s->text.size)
        at++;
    size_t start = at + sizeof symbol - 1;
    if (!wndl_frame_at_text(s, at, symbol))
        return false;
    size_t end = wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE || !take_name_and_path(s, start, end, frame))
        return false;
    frame->address = n->value;
    return wndl_frame_emit(s, frame);
}

bool wndl_frame_rust(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    static const char before[] = " - ", unknown[] = "<unknown>";
    size_t start = n->end + sizeof before - 1;
    size_t colon = n->start;
    while (colon > s->taken && n->start - colon < 32 &&
           wndl_frame_byte(s, colon - 1) == ' ')
        colon--;
    if (!wndl_frame_at_text(s, n->end, before) ||
        !wndl_frame_at_text(s, start, unknown) || !is_after_counter(s, colon))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_RUST,
        .base = WNDL_FRAME_PROCESS,
        .start = start,
        .end = start + sizeof unknown - 1,
        .address = n->value,
        .return_address = true,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}

/* The start of "Binary file \"path\"", whose last quote is at `quote`. */
static size_t binary_file_before(
    const struct wndl_frame_scan *s, size_t quote, struct wndl_bytes *path)
{
    static const char before[] = "Binary file ";
    size_t floor = wndl_frame_larger(s->taken, s->line);
    if (quote < floor)
        return WNDL_FRAME_NONE;
    if (quote - floor > WNDL_FRAME_LONGEST_PATH)
        floor = quote - WNDL_FRAME_LONGEST_PATH;
    size_t open = wndl_frame_last_of(s, '"', floor, quote);
    if (open == WNDL_FRAME_NONE || open + 1 == quote ||
        !wndl_frame_is_after(s, open, before))
        return WNDL_FRAME_NONE;
    *path = wndl_frame_span(s, open + 1, quote);
    return open - (sizeof before - 1);
}

bool wndl_frame_python(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    static const char at[] = "\", at ";
    size_t plus = n->start - 1;
    size_t floor = wndl_frame_larger(s->taken, s->line);
    if (plus > floor + WNDL_FRAME_LONGEST_PATH)
        floor = plus - WNDL_FRAME_LONGEST_PATH;
    if (!wndl_frame_at_text(s, n->end, " [0x"))
        return false;
    struct wndl_bytes path;
    size_t quote = wndl_frame_last_of(s, '"', floor, plus);
    if (quote == WNDL_FRAME_NONE || !wndl_frame_at_text(s, quote, at))
        return false;
    size_t name = quote + sizeof at - 1;
    size_t start = binary_file_before(s, quote, &path);
    if (start == WNDL_FRAME_NONE || name > plus)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PYTHON,
        .base = name == plus ? WNDL_FRAME_SVMA : WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = n->end,
        .name = wndl_frame_span(s, name, plus),
        .path = path,
        .address = n->value,
        .return_address = true,
    };
    return wndl_frame_emit(s, frame);
}

bool wndl_frame_python_absolute(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    struct wndl_bytes path;
    if (!wndl_frame_is_after(s, n->start, "\" ["))
        return false;
    size_t start = binary_file_before(s, n->start - 3, &path);
    if (start == WNDL_FRAME_NONE)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PYTHON,
        .base = WNDL_FRAME_SVMA,
        .start = start,
        .end = n->start - 2,
        .path = path,
        .address = n->value,
        .return_address = true,
    };
    return wndl_frame_emit(s, frame);
}

/* Whether "1\tADDRESS" is the whole line up to `end`. */
static bool is_numbered_address(const struct wndl_frame_scan *s, size_t end)
{
    uint64_t number;
    size_t at = end;
    while (at > s->line && end - at < 16 &&
           wndl_frame_hex_digits[wndl_frame_byte(s, at - 1)] != 0)
        at--;
    return at < end && wndl_frame_is_after(s, at, "\t") &&
           wndl_frame_index_before(s, at - 1, &number) == s->line;
}

bool wndl_frame_perl(
    struct wndl_frame_scan *s, size_t tab, struct wndl_frame_text *frame)
{
    struct wndl_frame_number n;
    size_t floor = wndl_frame_larger(s->taken, s->line);
    if (tab > floor + WNDL_FRAME_LONGEST_PATH)
        floor = tab - WNDL_FRAME_LONGEST_PATH;
    size_t name = wndl_frame_last_of(s, '\t', floor, tab);
    if (name == WNDL_FRAME_NONE || name + 1 == tab)
        return false;
    size_t colon = wndl_frame_last_of(s, ':', floor, name);
    /* The digits stand where they would after a "0x". */
    if (colon == WNDL_FRAME_NONE || colon <= floor ||
        !wndl_frame_number(s, colon - 1, &n) || n.end != name ||
        !is_numbered_address(s, colon))
        return false;
    size_t path = tab + 3;
    size_t end = wndl_frame_rest(s, path);
    if (end == WNDL_FRAME_NONE || end <= path)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PERL,
        .base = WNDL_FRAME_IN_SYMBOL,
        .start = name + 1,
        .end = end,
        .name = wndl_frame_span(s, name + 1, tab),
        .path = wndl_frame_span(s, path, end),
        .address = n.value,
        .return_address = true,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}
