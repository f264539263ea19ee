/* SPDX-License-Identifier: MIT */
/* Debuggers' stacks without lines, and the markup of LLVM's symbolizer. */
#include "in/frame_text/forms.h"

bool wndl_frame_lldb(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    uint64_t number;
    if (!wndl_frame_is_after(s, n->start, ": "))
        return false;
    size_t first = wndl_frame_index_before(s, n->start - 2, &number);
    if (first == WNDL_FRAME_NONE || !wndl_frame_is_after(s, first, "frame #"))
        return false;
    size_t start = n->end + 1;
    size_t end = wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE)
        return false;
    size_t tick = wndl_frame_first_of(s, '`', start, end);
    size_t plus = wndl_frame_last_of(s, '+', tick, end);
    uint64_t offset;
    if (tick == start || plus == WNDL_FRAME_NONE || plus < tick + 3 ||
        !wndl_frame_decimal_offset(s, plus - 1, end, &offset))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_LLDB,
        .base = WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = end,
        .name = wndl_frame_span(s, tick + 1, plus - 1),
        .path = wndl_frame_span(s, start, tick),
        .address = offset,
        .return_address = number != 0,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}

/* The number of "#12  " that ends at `end`. */
static bool number_before(
    const struct wndl_frame_scan *s, size_t end, uint64_t *number)
{
    size_t at = end;
    while (at > s->taken && end - at < 3 && wndl_frame_byte(s, at - 1) == ' ')
        at--;
    size_t first = wndl_frame_index_before(s, at, number);
    return at != end && first != WNDL_FRAME_NONE &&
           wndl_frame_is_after(s, first, "#");
}

/* Whether [at, end) is " ()" or " () from path". */
static bool are_no_arguments(
    const struct wndl_frame_scan *s, size_t at, size_t end)
{
    return wndl_frame_at_text(s, at, " ()") &&
           (at + 3 == end || wndl_frame_at_text(s, at + 3, " from "));
}

bool wndl_frame_gdb(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    uint64_t number;
    size_t start = n->end + 4;
    if (!wndl_frame_at_text(s, n->end, " in ") ||
        !number_before(s, n->start, &number))
        return false;
    size_t end = wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE || end <= start)
        return false;
    const uint8_t *found = memmem(s->text.data + start, end - start, " ()", 3);
    size_t open = found == NULL ? end : (size_t)(found - s->text.data);
    if (open == end || open == start || !are_no_arguments(s, open, end))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_GDB,
        .base = WNDL_FRAME_PROCESS,
        .start = start,
        .end = end,
        .name = wndl_frame_span(s, start, open),
        .address = n->value,
        .return_address = number != 0,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}

/* The size of what ends an element, and whether it names a return address. */
static size_t end_of_element(
    const struct wndl_frame_scan *s, size_t at, bool *returns)
{
    bool kind = wndl_frame_at_text(s, at, ":ra");
    if (kind || wndl_frame_at_text(s, at, ":pc")) {
        *returns = kind;
        at += 3;
    }
    return wndl_frame_at_text(s, at, "}}}") ? at + 3 : WNDL_FRAME_NONE;
}

bool wndl_frame_markup(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    static const char pc[] = "{{{pc:", bt[] = "{{{bt:";
    uint64_t number = 0;
    size_t digits = n->start;
    size_t start = n->start - (sizeof pc - 1);
    if (!wndl_frame_is_after(s, n->start, pc)) {
        digits = wndl_frame_index_before(s, n->start - 1, &number);
        if (digits == WNDL_FRAME_NONE || !wndl_frame_is_after(s, digits, bt))
            return false;
        start = digits - (sizeof bt - 1);
    }
    bool returns = number != 0;
    size_t end = end_of_element(s, n->end, &returns);
    if (end == WNDL_FRAME_NONE)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_MARKUP,
        .base = WNDL_FRAME_PROCESS,
        .start = start,
        .end = end,
        .name = wndl_frame_span(
            s, digits, digits == n->start ? digits : n->start - 1),
        .address = n->value,
        .return_address = returns,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}
