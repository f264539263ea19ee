/* SPDX-License-Identifier: MIT */
#include "symbolize/demangle/character.h"

bool wndl_character_add(struct wndl_buf *text, uint32_t c)
{
    if (c < 0x80) {
        wndl_buf_byte(text, (uint8_t)c);
    } else if (c < 0x800) {
        wndl_buf_byte(text, (uint8_t)(0xc0 | c >> 6));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        wndl_buf_byte(text, (uint8_t)(0xe0 | c >> 12));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c & 0x3f)));
    } else {
        wndl_buf_byte(text, (uint8_t)(0xf0 | c >> 18));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        wndl_buf_byte(text, (uint8_t)(0x80 | (c & 0x3f)));
    }
    return c >= ' ' && c != 0x7f && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}
