/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

/* RFC 3629, section 4. */
size_t wndl_utf8_length(const uint8_t *p, size_t left)
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

bool wndl_utf8_controls(const uint8_t *p, size_t left)
{
    return p[0] < 0x20 || p[0] == 0x7f ||
           (p[0] == 0xc2 && left > 1 && p[1] >= 0x80 && p[1] < 0xa0);
}

void wndl_utf8_plain(struct wndl_buf *buf, struct wndl_bytes s)
{
    for (size_t i = 0; i < s.size;) {
        uint8_t c = s.data[i];
        size_t length = c < 0x80 ? 1 : wndl_utf8_length(&s.data[i], s.size - i);
        if (wndl_utf8_controls(&s.data[i], s.size - i))
            wndl_buf_byte(buf, ' ');
        else if (length == 0)
            wndl_buf_text(buf, "\xef\xbf\xbd");
        else
            wndl_buf_add(buf, &s.data[i], length);
        i += length == 0 ? 1 : length;
    }
}

void wndl_utf8_plain_lines(struct wndl_buf *buf, const struct wndl_buf *text)
{
    for (size_t from = 0; from < text->size;) {
        const uint8_t *line = text->data + from;
        const uint8_t *end = memchr(line, '\n', text->size - from);
        const size_t size =
            end == NULL ? text->size - from : (size_t)(end - line);
        wndl_utf8_plain(buf, (struct wndl_bytes){line, size});
        if (end != NULL)
            wndl_buf_byte(buf, '\n');
        from += size + 1;
    }
    buf->failed |= text->failed;
}

void wndl_utf8_repaired(struct wndl_buf *buf, struct wndl_bytes s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.size;) {
        uint8_t c = s.data[i];
        size_t length = c < 0x80 ? 1 : wndl_utf8_length(&s.data[i], s.size - i);
        i += length == 0 ? 1 : length;
        if (length != 0)
            continue;
        wndl_buf_add(buf, &s.data[from], i - 1 - from);
        wndl_buf_text(buf, "\xef\xbf\xbd");
        from = i;
    }
    if (from != s.size)
        wndl_buf_add(buf, &s.data[from], s.size - from);
}
