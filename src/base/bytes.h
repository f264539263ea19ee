/* SPDX-License-Identifier: MIT */
/*
 * bytes: foreign bytes, and the bounds-checked cursor that reads them.
 *
 * A read past the end gives 0, moves the cursor to its end and sets `failed`;
 * so does a LEB128 that does not fit 64 bits. A reader may read many fields and
 * check `failed` once per record. Nothing here allocates, locks or calls more
 * of libc than mem*: it is part of the signal-safe base.
 */
#ifndef WNDL_BASE_BYTES_H
#define WNDL_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers at any alignment, in the byte order of this machine. The caller makes
 * sure that their bytes exist.
 */
static inline uint16_t wndl_load_u16(const uint8_t *p)
{
    uint16_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t wndl_load_u32(const uint8_t *p)
{
    uint32_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t wndl_load_u64(const uint8_t *p)
{
    uint64_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

/* Borrowed bytes. The lender says for how long. */
struct wndl_bytes {
    const uint8_t *data;
    size_t size;
};

/*
 * Invariant: start <= next <= end. Offsets count from `start`, so that a cursor
 * over a part of a section still reports section offsets.
 */
struct wndl_cursor {
    const uint8_t *next;
    const uint8_t *end;
    const uint8_t *start;
    bool big_endian;
    bool failed;
};

/* Bytes [offset, offset + size) of `b`, or empty if some are outside. */
static inline struct wndl_bytes wndl_bytes_slice(
    struct wndl_bytes b, uint64_t offset, uint64_t size)
{
    if (b.data == NULL || offset > b.size || size > b.size - offset)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){b.data + offset, (size_t)size};
}

static inline struct wndl_cursor wndl_cursor_at(
    struct wndl_bytes b, uint64_t offset, bool big_endian)
{
    /* Not NULL even for no bytes, so that 0 may be added to it. */
    const uint8_t *start = b.data == NULL ? (const uint8_t *)"" : b.data;
    bool out = offset > b.size;
    return (struct wndl_cursor){
        .next = start + (out ? b.size : offset),
        .end = start + b.size,
        .start = start,
        .big_endian = big_endian,
        .failed = out,
    };
}

static inline uint64_t wndl_cursor_offset(const struct wndl_cursor *c)
{
    return (uint64_t)(c->next - c->start);
}

static inline size_t wndl_cursor_left(const struct wndl_cursor *c)
{
    return (size_t)(c->end - c->next);
}

/* Sets the sticky failure and skips the rest of the bytes. */
static inline void wndl_cursor_fail(struct wndl_cursor *c)
{
    c->next = c->end;
    c->failed = true;
}

/* Consumes the next `size` bytes. NULL if there are fewer. */
static inline const uint8_t *wndl_cursor_take(
    struct wndl_cursor *c, uint64_t size)
{
    if (size > wndl_cursor_left(c)) {
        wndl_cursor_fail(c);
        return NULL;
    }
    const uint8_t *taken = c->next;
    c->next += size;
    return taken;
}

static inline void wndl_cursor_skip(struct wndl_cursor *c, uint64_t size)
{
    (void)wndl_cursor_take(c, size);
}

/* Consumes `size` bytes and returns a cursor over them. */
static inline struct wndl_cursor wndl_cursor_sub(
    struct wndl_cursor *c, uint64_t size)
{
    struct wndl_cursor sub = *c;
    if (wndl_cursor_take(c, size) == NULL)
        wndl_cursor_fail(&sub);
    else
        sub.end = c->next;
    return sub;
}

static inline uint8_t wndl_cursor_u8(struct wndl_cursor *c)
{
    if (c->next == c->end) {
        c->failed = true;
        return 0;
    }
    return *c->next++;
}

static inline uint16_t wndl_cursor_u16(struct wndl_cursor *c)
{
    uint16_t v = 0;
    const uint8_t *p = wndl_cursor_take(c, sizeof v);
    if (p == NULL)
        return 0;
    __builtin_memcpy(&v, p, sizeof v);
    return c->big_endian ? __builtin_bswap16(v) : v;
}

static inline uint32_t wndl_cursor_u32(struct wndl_cursor *c)
{
    uint32_t v = 0;
    const uint8_t *p = wndl_cursor_take(c, sizeof v);
    if (p == NULL)
        return 0;
    __builtin_memcpy(&v, p, sizeof v);
    return c->big_endian ? __builtin_bswap32(v) : v;
}

static inline uint64_t wndl_cursor_u64(struct wndl_cursor *c)
{
    uint64_t v = 0;
    const uint8_t *p = wndl_cursor_take(c, sizeof v);
    if (p == NULL)
        return 0;
    __builtin_memcpy(&v, p, sizeof v);
    return c->big_endian ? __builtin_bswap64(v) : v;
}

/* Reads an unsigned number of 1 to 8 bytes (also 3: DW_FORM_strx3). */
uint64_t wndl_cursor_uint(struct wndl_cursor *c, unsigned size);

/* Reads a LEB128 of two or more bytes, out of line. */
uint64_t wndl_cursor_uleb_rest(struct wndl_cursor *c);

/*
 * Reads a ULEB128 (DWARF 5, 7.6). More than 64 significant bits fail; zero
 * padding does not.
 */
static inline uint64_t wndl_cursor_uleb(struct wndl_cursor *c)
{
    if (c->next != c->end && *c->next < 0x80)
        return *c->next++;
    return wndl_cursor_uleb_rest(c);
}

int64_t wndl_cursor_sleb(struct wndl_cursor *c);

/* Consumes a NUL-terminated string, which is returned without its NUL. */
struct wndl_bytes wndl_cursor_cstr(struct wndl_cursor *c);

/* The NUL-terminated string at `offset` of `b`; data is NULL without a NUL. */
struct wndl_bytes wndl_bytes_cstr(struct wndl_bytes b, uint64_t offset);

bool wndl_bytes_equal(struct wndl_bytes a, struct wndl_bytes b);

/* Compares with a C string. */
bool wndl_bytes_is(struct wndl_bytes a, const char *text);

#endif
