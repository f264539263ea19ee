/* SPDX-License-Identifier: MIT */
/*
 * members: reads the members of a JSON object without objects in it, as text.
 * It must not know what the keys mean.
 */
#ifndef WNDL_IN_FRAME_TEXT_MEMBERS_H
#define WNDL_IN_FRAME_TEXT_MEMBERS_H

#include "base/bytes.h"

#include <stdbool.h>

/* A member, borrowed from the text. Texts keep their escapes. */
struct wndl_frame_member {
    struct wndl_bytes whole; /* "key":value */
    struct wndl_bytes key;   /* without quotes */
    struct wndl_bytes value; /* the same */
};

/*
 * Takes the next member, and the comma after it, off the front of `text`, which
 * is the inside of an object. False if there is none: `text` is empty at the
 * end of the inside, begins with the '}' after it, or else with what is no such
 * member.
 */
bool wndl_frame_take_member(
    struct wndl_bytes *text, struct wndl_frame_member *member);

/* Reads a decimal number. False for other values. */
bool wndl_frame_member_number(
    const struct wndl_frame_member *member, uint64_t *number);

#endif
