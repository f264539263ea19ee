/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/utf8.h"

#include <string.h>

/* Escapes a byte that cannot stand for itself. */
static void escaped_ascii(struct wndl_buf *buf, uint8_t c)
{
    if (c == '"' || c == '\\')
        wndl_buf_printf(buf, "\\%c", c);
    else if (c == '\n')
        wndl_buf_text(buf, "\\n");
    else if (c == '\t')
        wndl_buf_text(buf, "\\t");
    else
        wndl_buf_printf(buf, "\\u%04x", c);
}

/* The number of bytes from `from` on that stand for themselves. */
static size_t plain_bytes(struct wndl_bytes s, size_t from)
{
    size_t i = from;
    while (i < s.size && s.data[i] >= 0x20 && s.data[i] < 0x7f &&
           s.data[i] != '"' && s.data[i] != '\\')
        i++;
    return i - from;
}

void wndl_json_escaped(struct wndl_buf *buf, struct wndl_bytes s)
{
    for (size_t i = 0; i < s.size;) {
        size_t plain = plain_bytes(s, i);
        if (plain != 0) {
            wndl_buf_add(buf, s.data + i, plain);
            i += plain;
            continue;
        }
        if (s.data[i] < 0x80) {
            escaped_ascii(buf, s.data[i++]);
            continue;
        }
        size_t length = wndl_utf8_length(s.data + i, s.size - i);
        if (length == 0)
            wndl_buf_text(buf, "\xef\xbf\xbd");
        else
            wndl_buf_add(buf, s.data + i, length);
        i += length == 0 ? 1 : length;
    }
}

void wndl_json_string(struct wndl_buf *buf, struct wndl_bytes s)
{
    wndl_buf_byte(buf, '"');
    wndl_json_escaped(buf, s);
    wndl_buf_byte(buf, '"');
}

void wndl_json_text(struct wndl_buf *buf, const char *text)
{
    wndl_json_string(
        buf, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

/* Reads four hex digits at the cursor, or fails the cursor. */
static uint32_t hex4(struct wndl_cursor *c)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t digit = wndl_cursor_u8(c);
        uint8_t letter = digit | 0x20;
        if (digit >= '0' && digit <= '9')
            value = value << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value << 4 | (letter - 'a' + 10);
        else
            wndl_cursor_fail(c);
    }
    return value;
}

/* RFC 3629, section 3. */
static void add_utf8(struct wndl_buf *buf, uint32_t code)
{
    if (code < 0x80) {
        wndl_buf_byte(buf, (uint8_t)code);
        return;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    wndl_buf_byte(buf, (uint8_t)(first[more] | code >> 6 * more));
    while (more-- > 0)
        wndl_buf_byte(buf, (uint8_t)(0x80 | (code >> 6 * more & 0x3f)));
}

/* Reads \uXXXX after its "\u"; two of them for code above U+FFFF. */
static void unescape_unicode(struct wndl_buf *buf, struct wndl_cursor *c)
{
    uint32_t code = hex4(c);
    if (code >= 0xd800 && code < 0xdc00) {
        bool pair = wndl_cursor_u8(c) == '\\' && wndl_cursor_u8(c) == 'u';
        uint32_t low = hex4(c);
        if (!pair || low < 0xdc00 || low > 0xdfff)
            wndl_cursor_fail(c);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        wndl_cursor_fail(c);
    }
    if (!c->failed)
        add_utf8(buf, code);
}

static void unescape(struct wndl_buf *buf, struct wndl_cursor *c)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    uint8_t letter = wndl_cursor_u8(c);
    const char *at = letter == 0 ? NULL : strchr(letters, letter);
    if (letter == 'u')
        unescape_unicode(buf, c);
    else if (at == NULL)
        wndl_cursor_fail(c);
    else
        wndl_buf_byte(buf, (uint8_t)meant[at - letters]);
}

bool wndl_json_unescaped(struct wndl_buf *buf, struct wndl_bytes s)
{
    struct wndl_cursor c = wndl_cursor_at(s, 0, false);
    while (c.next != c.end) {
        if (*c.next == '\\') {
            c.next++;
            unescape(buf, &c);
            continue;
        }
        size_t size = *c.next >= 0x80 ? wndl_utf8_length(c.next, c.end - c.next)
                                      : *c.next >= 0x20 && *c.next != '"';
        const uint8_t *bytes = wndl_cursor_take(&c, size);
        if (size == 0)
            wndl_cursor_fail(&c);
        else
            wndl_buf_add(buf, bytes, size);
    }
    return !c.failed && !buf->failed;
}
