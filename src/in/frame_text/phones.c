/* SPDX-License-Identifier: MIT */
/* Android's tombstones and the crash reports of Apple's systems. */
#include "in/frame_text/forms.h"

/* The end of " (name+12)" at `at`, or `at`. */
static size_t after_function(
    const struct wndl_frame_scan *s, size_t at, size_t end)
{
    size_t close = wndl_frame_first_of(s, ')', at, end);
    if (!wndl_frame_at_text(s, at, " (") ||
        wndl_frame_at_text(s, at, " (BuildId") || close == end)
        return at;
    /* Parameters have parentheses of their own: the last before the build. */
    const uint8_t *build = memmem(s->text.data + at, end - at, " (BuildId", 9);
    size_t most = build == NULL ? end : (size_t)(build - s->text.data);
    size_t last = wndl_frame_last_of(s, ')', at, most);
    return last == WNDL_FRAME_NONE ? at : last + 1;
}

/* Where the path ends that begins at `at`: before " (" or at the end. */
static size_t path_end(const struct wndl_frame_scan *s, size_t at, size_t end)
{
    const uint8_t *found = memmem(s->text.data + at, end - at, " (", 2);
    return found == NULL ? end : (size_t)(found - s->text.data);
}

bool wndl_frame_android(
    struct wndl_frame_scan *s, size_t hash, struct wndl_frame_text *frame)
{
    struct wndl_frame_number n;
    size_t at = hash + 1;
    while (wndl_frame_byte(s, at - 1) != 'c')
        at++;
    at++;
    /* The digits stand where they would after a "0x". */
    if (!wndl_frame_number(s, at - 2, &n) || n.end - at < 8 ||
        !wndl_frame_at_text(s, n.end, "  "))
        return false;
    size_t start = n.end + 2;
    size_t end = wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE || end <= start)
        return false;
    size_t close = path_end(s, start, end);
    struct wndl_bytes path = wndl_frame_span(s, start, close);
    if (!wndl_frame_is_like_a_path(path) || path.data[0] == '<')
        return false;
    size_t after = after_function(s, close, end);
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_ANDROID,
        .base = WNDL_FRAME_SVMA,
        .start = start,
        .end = after,
        .path = path,
        .build_id = wndl_frame_build_id_at(s, after),
        .address = n.value,
    };
    return wndl_frame_emit(s, frame);
}

/* The image of "12  image  " at the start of the line, up to `before`. */
static struct wndl_bytes image_of(
    const struct wndl_frame_scan *s, size_t before, uint64_t *number)
{
    size_t at = s->line;
    *number = 0;
    while (at - s->line < 6 && wndl_frame_is_digit(wndl_frame_byte(s, at)))
        *number = *number * 10 + (uint64_t)(wndl_frame_byte(s, at++) - '0');
    size_t digits = at;
    while (at < before && wndl_frame_is_blank(wndl_frame_byte(s, at)))
        at++;
    size_t end = before;
    while (end > at && wndl_frame_is_blank(wndl_frame_byte(s, end - 1)))
        end--;
    bool whole = digits != s->line && at != digits && end > at &&
                 at >= s->taken && before - at < WNDL_FRAME_LONGEST_PATH;
    return whole ? wndl_frame_span(s, at, end) : (struct wndl_bytes){0};
}

/* "0xBASE + 12" at `at`: an offset in the image. */
static bool is_offset(
    const struct wndl_frame_scan *s, size_t at, size_t end, uint64_t *offset)
{
    struct wndl_frame_number base;
    return wndl_frame_at_text(s, at, "0x") && wndl_frame_number(s, at, &base) &&
           wndl_frame_decimal_offset(s, base.end, end, offset);
}

bool wndl_frame_apple(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    uint64_t number;
    struct wndl_bytes image = image_of(s, n->start, &number);
    size_t start = n->end + 1;
    size_t end = image.size == 0 ? WNDL_FRAME_NONE : wndl_frame_rest(s, start);
    if (end == WNDL_FRAME_NONE || end <= start)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_APPLE,
        .base = WNDL_FRAME_RVA,
        .start = start,
        .end = end,
        .path = image,
        .return_address = number != 0,
        .perhaps = true,
    };
    if (!is_offset(s, start, end, &frame->address)) {
        size_t plus = wndl_frame_last_of(s, '+', start, end);
        if (plus == WNDL_FRAME_NONE || plus < start + 2 ||
            !wndl_frame_decimal_offset(s, plus - 1, end, &frame->address))
            return false;
        frame->base = WNDL_FRAME_IN_SYMBOL;
        frame->name = wndl_frame_span(s, start, plus - 1);
    }
    return wndl_frame_emit(s, frame);
}
