/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <string.h>

/*
 * Bytes of the well-formed UTF-8 sequence at `p` (RFC 3629, section 4), or 0:
 * no overlong forms, no surrogates, nothing above U+10FFFF.
 */
static size_t utf8_length(const uint8_t *p, size_t left)
{
    static const struct {
        uint8_t first_low, first_high, second_low, second_high, length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (p[0] < forms[i].first_low || p[0] > forms[i].first_high)
            continue;
        if (left < forms[i].length || p[1] < forms[i].second_low ||
            p[1] > forms[i].second_high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++) {
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void escaped_ascii(struct wndl_buf *buf, uint8_t c)
{
    if (c == '"' || c == '\\')
        wndl_buf_printf(buf, "\\%c", c);
    else if (c == '\n')
        wndl_buf_text(buf, "\\n");
    else if (c == '\t')
        wndl_buf_text(buf, "\\t");
    else if (c < 0x20 || c == 0x7f)
        wndl_buf_printf(buf, "\\u%04x", c);
    else
        wndl_buf_byte(buf, c);
}

void wndl_json_string(struct wndl_buf *buf, struct wndl_bytes s)
{
    wndl_buf_byte(buf, '"');
    for (size_t i = 0; i < s.size;) {
        if (s.data[i] < 0x80) {
            escaped_ascii(buf, s.data[i++]);
            continue;
        }
        size_t length = utf8_length(s.data + i, s.size - i);
        if (length == 0)
            wndl_buf_text(buf, "\xef\xbf\xbd");
        else
            wndl_buf_add(buf, s.data + i, length);
        i += length == 0 ? 1 : length;
    }
    wndl_buf_byte(buf, '"');
}

void wndl_json_text(struct wndl_buf *buf, const char *text)
{
    wndl_json_string(
        buf, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}
