/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

#include <string.h>

uint64_t wndl_cursor_uint(struct wndl_cursor *c, unsigned size)
{
    const uint8_t *p = size <= 8 ? wndl_cursor_take(c, size) : NULL;
    if (p == NULL) {
        wndl_cursor_fail(c);
        return 0;
    }
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v = v << 8 | p[c->big_endian ? i : size - 1 - i];
    return v;
}

/* Goes on after nine groups, whose `v` has 63 bits. */
static uint64_t read_long_uleb(
    struct wndl_cursor *c, const uint8_t *p, uint64_t v)
{
    unsigned shift = 63;
    for (; p < c->end; p++) {
        uint64_t low = *p & 0x7f;
        bool lost = shift > 63 ? low != 0 : low > 1;
        if (lost)
            break;
        if (shift < 64)
            v |= low << shift;
        if (*p < 0x80) {
            c->next = p + 1;
            return v;
        }
        shift = 64;
    }
    wndl_cursor_fail(c);
    return 0;
}

uint64_t wndl_cursor_uleb_rest(struct wndl_cursor *c)
{
    enum { GROUPS = 9 }; /* no bit of so many can be lost */
    const uint8_t *p = c->next;
    const uint8_t *end = wndl_cursor_left(c) < GROUPS ? c->end : p + GROUPS;
    uint64_t v = 0;
    for (unsigned shift = 0; p < end; shift += 7) {
        uint64_t group = *p++;
        v |= (group & 0x7f) << shift;
        if (group < 0x80) {
            c->next = p;
            return v;
        }
    }
    return read_long_uleb(c, p, v);
}

/*
 * From bit 63 on every group must repeat the sign: bits that do not fit are
 * an overflow, not something to drop.
 */
int64_t wndl_cursor_sleb(struct wndl_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    for (const uint8_t *p = c->next; p < c->end; p++) {
        uint64_t low = *p & 0x7f;
        if (shift < 63)
            v |= low << shift;
        else if (low != 0 && low != 0x7f)
            break;
        else if (shift == 63)
            v |= low << 63;
        else if ((v >> 63) != (low != 0))
            break;
        shift = shift < 63 ? shift + 7 : 64;
        if (*p >= 0x80)
            continue;
        c->next = p + 1;
        if (shift < 64 && (low & 0x40) != 0)
            v |= UINT64_MAX << shift;
        return (int64_t)v;
    }
    wndl_cursor_fail(c);
    return 0;
}

struct wndl_bytes wndl_cursor_cstr(struct wndl_cursor *c)
{
    size_t left = wndl_cursor_left(c);
    const uint8_t *nul = left == 0 ? NULL : memchr(c->next, 0, left);
    if (nul == NULL) {
        wndl_cursor_fail(c);
        return (struct wndl_bytes){0};
    }
    struct wndl_bytes s = {c->next, (size_t)(nul - c->next)};
    c->next = nul + 1;
    return s;
}

struct wndl_bytes wndl_bytes_cstr(struct wndl_bytes b, uint64_t offset)
{
    struct wndl_cursor c = wndl_cursor_at(b, offset, false);
    return wndl_cursor_cstr(&c);
}

bool wndl_bytes_equal(struct wndl_bytes a, struct wndl_bytes b)
{
    if (a.size != b.size)
        return false;
    return a.size == 0 || memcmp(a.data, b.data, a.size) == 0;
}

bool wndl_bytes_is(struct wndl_bytes a, const char *text)
{
    size_t i = 0;
    while (i < a.size && text[i] != '\0' && a.data[i] == (uint8_t)text[i])
        i++;
    return i == a.size && text[i] == '\0';
}
