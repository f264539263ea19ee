/* SPDX-License-Identifier: MIT */
#include "in/frame_text/members.h"

#include "base/lines.h"

#include <string.h>

static struct wndl_bytes after(struct wndl_bytes text, size_t size)
{
    return (struct wndl_bytes){text.data + size, text.size - size};
}

static void skip_blanks(struct wndl_bytes *text)
{
    while (text->size != 0 && memchr(" \t\r\n", text->data[0], 4) != NULL)
        *text = after(*text, 1);
}

static bool take_byte(struct wndl_bytes *text, uint8_t byte)
{
    skip_blanks(text);
    bool is_there = text->size != 0 && text->data[0] == byte;
    if (is_there)
        *text = after(*text, 1);
    return is_there;
}

/* Takes the rest of a string, up to its closing quote. */
static bool take_string(struct wndl_bytes *text, struct wndl_bytes *string)
{
    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] == '\\') {
            i++;
        } else if (text->data[i] == '"') {
            *string = (struct wndl_bytes){text->data, i};
            *text = after(*text, i + 1);
            return true;
        }
    }
    return false;
}

/* Takes a number, true, false or null. */
static bool take_word(struct wndl_bytes *text, struct wndl_bytes *word)
{
    size_t size = 0;
    while (size < text->size &&
           memchr(",}]{[\" \t\r\n", text->data[size], 10) == NULL)
        size++;
    *word = (struct wndl_bytes){text->data, size};
    *text = after(*text, size);
    return size != 0;
}

bool wndl_frame_take_member(
    struct wndl_bytes *text, struct wndl_frame_member *member)
{
    skip_blanks(text);
    struct wndl_bytes rest = *text;
    if (!take_byte(&rest, '"') || !take_string(&rest, &member->key) ||
        !take_byte(&rest, ':'))
        return false;
    bool taken = take_byte(&rest, '"') ? take_string(&rest, &member->value)
                                       : take_word(&rest, &member->value);
    if (!taken)
        return false;
    member->whole =
        (struct wndl_bytes){text->data, (size_t)(rest.data - text->data)};
    (void)take_byte(&rest, ',');
    *text = rest;
    return true;
}

bool wndl_frame_member_number(
    const struct wndl_frame_member *member, uint64_t *number)
{
    return wndl_line_number(member->value, number);
}
