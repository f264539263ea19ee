/* SPDX-License-Identifier: MIT */
#include "in/frame_text/control.h"

#include "base/search.h"

#include <string.h>

enum { ESC = 0x1b, BELL = 7 };

/* `unended`: no string that begins before it has an end. */
struct controls {
    struct wndl_bytes text;
    bool json;
    size_t unended;
    size_t esc; /* where the next ESC is that has been searched for */
};

/* The next "\\u001" of [from, from + left), or NULL. memmem would take twice as
 * long. */
static const uint8_t *next_escaped(const uint8_t *from, size_t left)
{
    static const char escaped[] = "\\u001";
    enum { SIZE = sizeof escaped - 1 };
    const uint8_t *end = from + left;
    while (left >= SIZE) {
        const uint8_t *found = memchr(from, '\\', left - (SIZE - 1));
        if (found == NULL || memcmp(found, escaped, SIZE) == 0)
            return found;
        from = found + 1;
        left = (size_t)(end - from);
    }
    return NULL;
}

bool wndl_frame_has_controls(struct wndl_bytes text, bool json)
{
    if (text.size == 0)
        return false;
    if (memchr(text.data, ESC, text.size) != NULL)
        return true;
    return json && next_escaped(text.data, text.size) != NULL;
}

/* The byte at `at`; outside of the text a line end, which no sequence has. */
static uint8_t byte_at(const struct controls *c, size_t at)
{
    return at < c->text.size ? c->text.data[at] : '\n';
}

/* The size of `control`, in JSON perhaps escaped; 0: it is not there. */
static size_t size_of_byte(const struct controls *c, size_t at, uint8_t control)
{
    static const char digits[] = "0123456789abcdef";
    static const char before[] = "\\u00";
    enum { BEFORE = 4, ESCAPED = 6 };
    if (byte_at(c, at) == control)
        return 1;
    if (!c->json || byte_at(c, at) != '\\' || c->text.size - at < ESCAPED ||
        memcmp(c->text.data + at, before, BEFORE) != 0)
        return 0;
    bool same =
        byte_at(c, at + BEFORE) == digits[control >> 4] &&
        (byte_at(c, at + BEFORE + 1) | 0x20) == (digits[control & 15] | 0x20);
    return same ? ESCAPED : 0;
}

static bool is_within(uint8_t byte, uint8_t least, uint8_t most)
{
    return byte >= least && byte <= most;
}

/* The end of parameters, intermediate bytes and the final byte; 0: none. */
static size_t end_of_sequence(
    const struct controls *c, size_t at, uint8_t final)
{
    while (final == 0x40 && is_within(byte_at(c, at), 0x30, 0x3f))
        at++;
    while (is_within(byte_at(c, at), 0x20, 0x2f) &&
           !(c->json && byte_at(c, at) == '"'))
        at++;
    return is_within(byte_at(c, at), final, 0x7e) ? at + 1 : 0;
}

/* The end of a string, after BEL or ESC \; 0: not on this line. */
static size_t end_of_string(struct controls *c, size_t at)
{
    if (at < c->unended)
        return 0;
    for (; byte_at(c, at) != '\n'; at++) {
        size_t bell = size_of_byte(c, at, BELL);
        if (bell != 0)
            return at + bell;
        size_t esc = size_of_byte(c, at, ESC);
        if (esc != 0 && byte_at(c, at + esc) == '\\')
            return at + esc + (c->json ? 2 : 1);
        if (c->json && byte_at(c, at) == '"')
            break;
    }
    c->unended = at;
    return 0;
}

/* The size of the sequence at `at` if it is the commonest, a colour; else 0. */
static inline size_t size_of_colour(struct wndl_bytes text, size_t at)
{
    size_t end = at + 2;
    if (text.size - at < 3 || text.data[at] != ESC || text.data[at + 1] != '[')
        return 0;
    while (end < text.size && is_within(text.data[end], 0x30, 0x3f))
        end++;
    return end < text.size && text.data[end] == 'm' ? end + 1 - at : 0;
}

/* The size of the sequence at `at`; 0 if there is none, or it is cut off. */
static size_t size_of_control(struct controls *c, size_t at)
{
    size_t colour = size_of_colour(c->text, at);
    size_t esc = colour != 0 ? 0 : size_of_byte(c, at, ESC);
    size_t next = at + esc;
    size_t end;
    if (esc == 0)
        return colour;
    switch (byte_at(c, next)) {
    case '[':
        end = end_of_sequence(c, next + 1, 0x40);
        break;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        end = end_of_string(c, next + 1);
        break;
    default:
        end = end_of_sequence(c, next, 0x30);
        break;
    }
    return end == 0 ? 0 : end - at;
}

/* The next place from `at` on where a sequence may begin. */
static size_t next_place(struct controls *c, size_t at)
{
    size_t left = c->text.size - at;
    const uint8_t *from = c->text.data + at;
    if (left == 0 || *from == ESC)
        return at;
    if (c->esc <= at) {
        const uint8_t *found = memchr(from, ESC, left);
        c->esc = found == NULL ? c->text.size : (size_t)(found - c->text.data);
    }
    const uint8_t *escaped = c->json ? next_escaped(from, c->esc - at) : NULL;
    return escaped != NULL ? (size_t)(escaped - c->text.data) : c->esc;
}

static bool add_cut(struct wndl_vec *cuts, size_t at, size_t removed)
{
    if (cuts == NULL)
        return true;
    struct wndl_frame_cut *last =
        cuts->len == 0 ? NULL : wndl_vec_at(cuts, cuts->len - 1);
    if (last == NULL || last->at != at)
        last = wndl_vec_push(cuts);
    if (last != NULL)
        *last = (struct wndl_frame_cut){at, removed};
    return last != NULL;
}

size_t wndl_frame_strip_controls(struct wndl_bytes text, bool json, uint8_t *to,
    struct wndl_vec *cuts, bool *complete)
{
    struct controls c = {.text = text, .json = json};
    size_t size = 0;
    *complete = true;
    for (size_t at = 0; at < text.size && *complete;) {
        size_t control = size_of_control(&c, at);
        size_t end = next_place(&c, control == 0 ? at + 1 : at + control);
        size_t from = at + control;
        memcpy(to + size, text.data + from, end - from);
        if (control != 0)
            *complete = add_cut(cuts, size, from - size);
        size += end - from;
        at = end;
    }
    return size;
}

size_t wndl_frame_uncut(const struct wndl_vec *cuts, size_t at)
{
    size_t up_to = wndl_search_up_to(cuts->data, cuts->element, cuts->len, at);
    if (up_to == 0)
        return at;
    const struct wndl_frame_cut *cut = wndl_vec_at(cuts, up_to - 1);
    return at + (size_t)cut->removed;
}

void wndl_frame_copy_controls(
    struct wndl_bytes text, bool json, struct wndl_buf *out)
{
    struct controls c = {.text = text, .json = json};
    if (!wndl_frame_has_controls(text, json))
        return;
    for (size_t at = next_place(&c, 0); at < text.size;) {
        size_t control = size_of_control(&c, at);
        wndl_buf_add(out, text.data + at, control);
        at = next_place(&c, control == 0 ? at + 1 : at + control);
    }
}
