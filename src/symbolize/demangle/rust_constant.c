/* SPDX-License-Identifier: MIT */
/* Constants of version 0: RFC 2603, and those of structures since. */
#include "symbolize/demangle/rust_internal.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- numbers, in hexadecimal */

static int nibble_of(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Digits up to "_"; *value is of use for up to 16 of them. */
static struct wndl_bytes read_digits(struct wndl_rust *r, uint64_t *value)
{
    struct wndl_bytes digits = {.data = r->at};
    *value = 0;
    while (!r->failed && !wndl_rust_take(r, '_')) {
        int nibble = nibble_of(wndl_rust_next(r));
        if (nibble < 0) {
            r->failed = true;
            return digits;
        }
        *value = *value << 4 | (unsigned)nibble;
        digits.size++;
    }
    return digits;
}

static void read_unsigned(struct wndl_rust *r)
{
    enum { MOST_DIGITS = 16 };
    uint64_t value;
    char text[24];
    struct wndl_bytes digits = read_digits(r, &value);
    r->failed |= digits.size == 0;
    if (digits.size > MOST_DIGITS) {
        wndl_rust_text(r, "0x");
        wndl_rust_put(r, digits.data, digits.size);
        return;
    }
    int size = snprintf(text, sizeof text, "%" PRIu64, value);
    wndl_rust_put(r, text, (size_t)size);
}

static void read_bool(struct wndl_rust *r)
{
    uint64_t value;
    struct wndl_bytes digits = read_digits(r, &value);
    r->failed |= digits.size != 1 || value > 1;
    if (value == 0)
        wndl_rust_text(r, "false");
    else
        wndl_rust_text(r, "true");
}

/* ---- characters and strings */

static void put_escaped(struct wndl_rust *r, uint32_t c, char quote)
{
    static const char escaped[] = "\t\r\n\\";
    static const char letters[] = "trn\\";
    const char *at = c == 0 || c > '\\' ? NULL : strchr(escaped, (int)c);
    if (at != NULL || c == (uint32_t)quote) {
        wndl_rust_text(r, "\\");
        wndl_rust_put(r, at == NULL ? &quote : &letters[at - escaped], 1);
    } else if (c < ' ' || (c > '~' && c < 0xa0)) {
        char text[16];
        int size = snprintf(text, sizeof text, "\\u{%" PRIx32 "}", c);
        wndl_rust_put(r, text, (size_t)size);
    } else {
        wndl_rust_character(r, c);
    }
}

static void read_char(struct wndl_rust *r)
{
    enum { MOST_DIGITS = 8 };
    uint64_t value;
    struct wndl_bytes digits = read_digits(r, &value);
    r->failed |= digits.size == 0 || digits.size > MOST_DIGITS;
    wndl_rust_text(r, "'");
    put_escaped(r, (uint32_t)value, '\'');
    wndl_rust_text(r, "'");
}

/*
 * The next character of UTF-8 whose bytes are pairs of hexadecimal digits;
 * UINT32_MAX if it is none, after which there is no next one.
 */
static uint32_t next_character(const uint8_t **at, const uint8_t *end)
{
    static const uint8_t starts[] = {0, 0xc0, 0xe0, 0xf0};
    uint32_t c = 0;
    size_t more = 0;
    for (size_t i = 0; i <= more; i++, *at += 2) {
        if (end - *at < 2)
            return UINT32_MAX;
        uint32_t byte =
            (uint32_t)(nibble_of((*at)[0]) << 4 | nibble_of((*at)[1]));
        if (i > 0 && (byte & 0xc0) != 0x80)
            return UINT32_MAX;
        if (i > 0) {
            c = c << 6 | (byte & 0x3f);
            continue;
        }
        more = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        c = byte - starts[more];
    }
    return c;
}

static void read_string(struct wndl_rust *r)
{
    uint64_t value;
    struct wndl_bytes digits = read_digits(r, &value);
    const uint8_t *at = digits.data;
    const uint8_t *end = at + digits.size;
    if (r->failed)
        return;
    wndl_rust_text(r, "\"");
    while (at < end && !r->failed) {
        const uint32_t c = next_character(&at, end);
        r->failed |= c == UINT32_MAX;
        put_escaped(r, c, '"');
    }
    wndl_rust_text(r, "\"");
}

/* ---- structures */

static void read_part(struct wndl_rust *r)
{
    wndl_rust_constant(r, true);
}

static void read_fields(struct wndl_rust *r)
{
    wndl_rust_text(r, " { ");
    for (size_t count = 0; wndl_rust_more(r); count++) {
        if (count > 0)
            wndl_rust_text(r, ", ");
        (void)wndl_rust_tagged_number(r, 's');
        wndl_rust_put_ident(r, wndl_rust_ident(r));
        wndl_rust_text(r, ": ");
        wndl_rust_constant(r, true);
    }
    wndl_rust_text(r, " }");
}

static void read_value(struct wndl_rust *r)
{
    wndl_rust_path(r, true);
    switch (wndl_rust_next(r)) {
    case 'U':
        return;
    case 'T':
        wndl_rust_text(r, "(");
        (void)wndl_rust_list(r, read_part, ", ");
        wndl_rust_text(r, ")");
        return;
    case 'S':
        read_fields(r);
        return;
    default:
        r->failed = true;
    }
}

static void read_compound(struct wndl_rust *r, uint8_t tag)
{
    switch (tag) {
    case 'R':
    case 'Q':
        wndl_rust_text(r, "&");
        if (tag == 'Q')
            wndl_rust_text(r, "mut ");
        wndl_rust_constant(r, true);
        return;
    case 'e':
        wndl_rust_text(r, "*");
        read_string(r);
        return;
    case 'A':
        wndl_rust_text(r, "[");
        (void)wndl_rust_list(r, read_part, ", ");
        wndl_rust_text(r, "]");
        return;
    case 'T':
        wndl_rust_text(r, "(");
        if (wndl_rust_list(r, read_part, ", ") == 1)
            wndl_rust_text(r, ",");
        wndl_rust_text(r, ")");
        return;
    case 'V':
        read_value(r);
        return;
    default:
        r->failed = true;
    }
}

/* ---- all */

/* Constants without parts; false if the tag is of another. */
static bool read_simple(struct wndl_rust *r, uint8_t tag)
{
    switch (tag) {
    case 'p':
        wndl_rust_text(r, "_");
        return true;
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j':
        read_unsigned(r);
        return true;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i':
        if (wndl_rust_take(r, 'n'))
            wndl_rust_text(r, "-");
        read_unsigned(r);
        return true;
    case 'b':
        read_bool(r);
        return true;
    case 'c':
        read_char(r);
        return true;
    case 'R':
        if (!wndl_rust_take(r, 'e'))
            return false;
        read_string(r); /* not "&*" before it */
        return true;
    default:
        return false;
    }
}

static void read_constant(struct wndl_rust *r, bool in_value)
{
    const uint8_t tag = wndl_rust_next(r);
    if (read_simple(r, tag))
        return;
    if (tag == 'B') {
        const uint8_t *back = wndl_rust_jump(r);
        if (back != NULL) {
            wndl_rust_constant(r, in_value);
            r->at = back;
        }
        return;
    }
    if (!in_value)
        wndl_rust_text(r, "{");
    read_compound(r, tag);
    if (!in_value)
        wndl_rust_text(r, "}");
}

void wndl_rust_constant(struct wndl_rust *r, bool in_value)
{
    if (wndl_rust_enter(r))
        read_constant(r, in_value);
    wndl_rust_leave(r);
}
