/* SPDX-License-Identifier: MIT */
/* character: characters of names that are mangled as numbers. */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_CHARACTER_H
#define WNDL_SYMBOLIZE_DEMANGLE_CHARACTER_H

#include "base/buf.h"

/*
 * Appends the character with the number `c` of Unicode as UTF-8. False if there
 * is no such character, or if it is a control character: then what was appended
 * is of no use.
 */
bool wndl_character_add(struct wndl_buf *text, uint32_t c);

#endif
