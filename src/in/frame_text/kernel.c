/* SPDX-License-Identifier: MIT */
/* The output of Linux when it has a fault. */
#include "in/frame_text/forms.h"

static bool is_symbol_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           wndl_frame_is_digit(c) || c == '_' || c == '.' || c == '$';
}

/* The start of the name that ends at `end`; `end` if there is none. */
static size_t symbol_before(const struct wndl_frame_scan *s, size_t end)
{
    enum { LONGEST = 512 };
    size_t at = end;
    while (at > s->taken && end - at < LONGEST &&
           is_symbol_byte(wndl_frame_byte(s, at - 1)))
        at--;
    uint8_t before = at == s->taken ? ' ' : wndl_frame_byte(s, at - 1);
    return wndl_frame_is_path_byte(before) ? end : at;
}

/* Reads " [module]" or " [module build-id]" at `at`. */
static void take_module(
    const struct wndl_frame_scan *s, size_t at, struct wndl_frame_text *frame)
{
    enum { LONGEST = 64, LONGEST_ID = 128 };
    size_t start = at + 2;
    size_t end = start;
    if (!wndl_frame_at_text(s, at, " ["))
        return;
    while (end - start < LONGEST && is_symbol_byte(wndl_frame_byte(s, end)))
        end++;
    size_t id = end + 1;
    size_t close = id;
    while (wndl_frame_byte(s, end) == ' ' && close - id < LONGEST_ID &&
           wndl_frame_hex_digits[wndl_frame_byte(s, close)] != 0)
        close++;
    bool with_id = close > id && (close - id) % 2 == 0;
    if (end == start || wndl_frame_byte(s, with_id ? close : end) != ']')
        return;
    frame->path = wndl_frame_span(s, start, end);
    frame->build_id = wndl_frame_span(s, id, with_id ? close : id);
}

/* Whether the name at `at` is that of the instruction with the fault. */
static bool is_instruction(const struct wndl_frame_scan *s, size_t at)
{
    static const char *const words[] = {"IP: ", "IP  ", "pc : ", "PC is at "};
    enum { FAR = 60 };
    size_t floor = wndl_frame_larger(s->taken, s->line);
    if (at - floor > FAR)
        floor = at - FAR;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(s->text.data + floor, at - floor, words[i],
                strlen(words[i])) != NULL)
            return true;
    return false;
}

bool wndl_frame_kernel(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    struct wndl_frame_number size;
    size_t plus = n->start - 1;
    if (s->kernel.size == 0 || !wndl_frame_at_text(s, n->end, "/0x") ||
        !wndl_frame_number(s, n->end + 1, &size))
        return false;
    size_t start = symbol_before(s, plus);
    if (start == plus || wndl_frame_is_digit(wndl_frame_byte(s, start)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_KERNEL,
        .base = WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = size.end,
        .name = wndl_frame_span(s, start, plus),
        .path = s->kernel,
        .address = n->value,
        .return_address = !is_instruction(s, start),
    };
    take_module(s, size.end, frame);
    return wndl_frame_emit(s, frame);
}
