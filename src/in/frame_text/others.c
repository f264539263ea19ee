/* SPDX-License-Identifier: MIT */
/* The output of other programs. */
#include "in/frame_text/forms.h"

/* Back over one word; blanks within brackets are part of it. */
static size_t word_before(const struct wndl_frame_scan *s, size_t end)
{
    int depth = 0;
    size_t at = end;
    for (; at > s->taken && end - at < WNDL_FRAME_LONGEST_PATH; at--) {
        uint8_t c = s->text.data[at - 1];
        if (c == ')' || c == '>' || c == ']')
            depth++;
        else if ((c == '(' || c == '<' || c == '[') && --depth < 0)
            break;
        else if ((wndl_frame_is_blank(c) && depth == 0) ||
                 (s->json && c == '"'))
            break;
    }
    return at;
}

/* "operator new(unsigned long)", "f(int) const". */
size_t wndl_frame_name_before(const struct wndl_frame_scan *s, size_t end)
{
    size_t start = word_before(s, end);
    while (start > s->taken + 1) {
        bool tail = wndl_frame_at_text(s, start, "const ") ||
                    wndl_frame_at_text(s, start, "[clone ") ||
                    wndl_frame_at_text(s, start, "&");
        size_t before = word_before(s, start - 1);
        if (before == start - 1 ||
            (!tail && !wndl_frame_at_text(s, before, "operator ")))
            break;
        start = before;
    }
    return start;
}

bool wndl_frame_named(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t open = s->open;
    s->open = WNDL_FRAME_NONE;
    if (open == WNDL_FRAME_NONE || open <= s->taken ||
        wndl_frame_byte(s, open - 1) != ' ')
        return false;
    size_t start = wndl_frame_name_before(s, open - 1);
    if (start == open - 1)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_NAMED,
        .base = WNDL_FRAME_EITHER,
        .start = start,
        .end = n->end + 1,
        .name = wndl_frame_span(s, start, open - 1),
        .path = wndl_frame_span(s, s->open_after + 1, n->start - 1),
        .address = n->value,
    };
    return frame->path.size != 0 && wndl_frame_emit(s, frame);
}

bool wndl_frame_named_begins(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    (void)frame;
    s->open = n->start - 1;
    s->open_after = n->end;
    return false;
}

bool wndl_frame_unnamed(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    size_t close = n->start - 2;
    if (n->start < s->taken + 3 || wndl_frame_byte(s, close) != ')')
        return false;
    size_t open = wndl_frame_open_before(s, close);
    if (open == WNDL_FRAME_NONE || open < s->taken + 4 || open + 1 >= close ||
        !wndl_frame_at_text(s, open - 4, "??? ") ||
        wndl_frame_is_path_byte(wndl_frame_byte(s, n->end)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_UNNAMED,
        .base = WNDL_FRAME_EITHER,
        .start = open - 4,
        .end = n->end,
        .name = wndl_frame_span(s, open - 4, open - 1),
        .path = wndl_frame_span(s, open + 1, close),
        .address = n->value,
    };
    return wndl_frame_emit(s, frame);
}

/* Words like main+0x12 are more often functions than files. */
bool wndl_frame_is_like_a_path(struct wndl_bytes word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '/')
            return true;
        if (word.data[i] == '.' && word.size - i >= 3 &&
            (memcmp(word.data + i, ".so", 3) == 0 ||
                (word.size - i == 3 && memcmp(word.data + i, ".ko", 3) == 0)))
            return true;
    }
    return false;
}

bool wndl_frame_plain(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame)
{
    uint8_t after = wndl_frame_byte(s, n->end);
    size_t plus = n->start - 1;
    if (wndl_frame_is_path_byte(
            after == '.' ? wndl_frame_byte(s, n->end + 1) : after))
        return false;
    size_t start = wndl_frame_path_word(s, plus);
    if (start >= plus || plus - start == WNDL_FRAME_LONGEST_PATH ||
        !wndl_frame_is_like_a_path(wndl_frame_span(s, start, plus)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PLAIN,
        .base = WNDL_FRAME_EITHER,
        .start = start,
        .end = n->end,
        .path = wndl_frame_span(s, start, plus),
        .address = n->value,
        .perhaps = true,
    };
    return wndl_frame_emit(s, frame);
}
