/* SPDX-License-Identifier: MIT */
/* Identifiers, numbers and back references of version 0: RFC 2603. */
#include "symbolize/demangle/rust_internal.h"

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers */

/* The digit in base 62, and 1 more; 0: none. */
static const uint8_t digits[256] = {
    ['0'] = 1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    ['a'] = 11,
    12,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
    32,
    33,
    34,
    35,
    36,
    ['A'] = 37,
    38,
    39,
    40,
    41,
    42,
    43,
    44,
    45,
    46,
    47,
    48,
    49,
    50,
    51,
    52,
    53,
    54,
    55,
    56,
    57,
    58,
    59,
    60,
    61,
    62,
};

uint64_t wndl_rust_number(struct wndl_rust *r)
{
    enum { BASE = 62 };
    uint64_t value = 0;
    if (wndl_rust_take(r, '_'))
        return 0;
    const uint8_t *at = r->at;
    while (at < r->end && digits[*at] != 0 && value <= UINT64_MAX / BASE - 1)
        value = value * BASE + digits[*at++] - 1;
    r->at = at;
    r->failed |= !wndl_rust_take(r, '_');
    return value + 1;
}

uint64_t wndl_rust_tagged_number(struct wndl_rust *r, uint8_t tag)
{
    return wndl_rust_take(r, tag) ? wndl_rust_number(r) + 1 : 0;
}

const uint8_t *wndl_rust_jump(struct wndl_rust *r)
{
    size_t tag = (size_t)(r->at - r->start) - 1;
    uint64_t to = wndl_rust_number(r);
    r->failed |= to >= tag;
    if (r->failed || r->is_silent)
        return NULL;
    const uint8_t *back = r->at;
    r->at = r->start + to;
    return back;
}

/* ---- identifiers */

static size_t read_size(struct wndl_rust *r)
{
    size_t size = wndl_rust_next(r);
    r->failed |= !is_digit((uint8_t)size);
    size -= '0';
    while (size != 0 && is_digit(wndl_rust_look(r)) && !r->failed) {
        size = 10 * size + (size_t)(*r->at++ - '0');
        r->failed |= size > (size_t)(r->end - r->at);
    }
    return size;
}

struct wndl_rust_ident wndl_rust_ident(struct wndl_rust *r)
{
    bool is_coded = wndl_rust_take(r, 'u');
    size_t size = read_size(r);
    (void)wndl_rust_take(r, '_');
    r->failed |= size > (size_t)(r->end - r->at);
    if (r->failed)
        return (struct wndl_rust_ident){0};
    struct wndl_rust_ident ident = {.plain = {r->at, size}};
    r->at += size;
    if (!is_coded)
        return ident;
    size_t plain = size;
    while (plain > 0 && ident.plain.data[plain - 1] != '_')
        plain--;
    ident.coded = wndl_bytes_slice(ident.plain, plain, size - plain);
    ident.plain.size = plain == 0 ? 0 : plain - 1;
    r->failed |= ident.coded.size == 0;
    return ident;
}

/* ---- punycode: RFC 3492 */

enum { MOST_CHARACTERS = 512 };

struct decoder {
    const uint8_t *at, *end;
    uint32_t characters[MOST_CHARACTERS];
    uint32_t count;
    uint32_t bias;
};

/* The next number of variable length; false if it is none. */
static bool read_delta(struct decoder *d, uint32_t *delta)
{
    enum { BASE = 36, MOST = 1 << 24 };
    uint64_t value = 0;
    uint64_t weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        uint8_t digit = d->at == d->end ? 0 : digits[*d->at++];
        if (digit == 0 || digit > BASE)
            return false;
        /* Letters come first here. */
        uint32_t number = digit <= 10 ? digit + 25U : digit - 11U;
        value += number * weight;
        if (value > MOST || weight > MOST)
            return false;
        uint32_t least = k <= d->bias ? 1 : k - d->bias;
        least = least > 26 ? 26 : least;
        if (number < least)
            break;
        weight *= BASE - least;
    }
    *delta = (uint32_t)value;
    return true;
}

static uint32_t next_bias(uint32_t delta, uint32_t count, bool is_first)
{
    uint32_t k = 0;
    delta /= is_first ? 700 : 2;
    delta += delta / count;
    for (; delta > 35 * 26 / 2; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* Inserts the coded characters among the plain ones. */
static bool decode(struct decoder *d)
{
    uint32_t character = 0x80;
    uint32_t at = 0;
    d->bias = 72;
    for (bool is_first = true; d->at < d->end; is_first = false) {
        uint32_t delta;
        if (!read_delta(d, &delta) || d->count == MOST_CHARACTERS)
            return false;
        d->count++;
        d->bias = next_bias(delta, d->count, is_first);
        character += (at + delta) / d->count;
        at = (at + delta) % d->count;
        if (character > 0x10ffff)
            return false;
        memmove(d->characters + at + 1, d->characters + at,
            (d->count - 1 - at) * sizeof *d->characters);
        d->characters[at++] = character;
    }
    return true;
}

static void put_coded(struct wndl_rust *r, struct wndl_rust_ident ident)
{
    struct decoder d = {
        .at = ident.coded.data, .end = ident.coded.data + ident.coded.size};
    r->steps += (unsigned)ident.coded.size;
    r->failed |= ident.plain.size > MOST_CHARACTERS;
    if (r->failed)
        return;
    for (; d.count < ident.plain.size; d.count++)
        d.characters[d.count] = ident.plain.data[d.count];
    r->failed |= !decode(&d);
    for (uint32_t i = 0; i < d.count && !r->failed; i++)
        wndl_rust_character(r, d.characters[i]);
}

void wndl_rust_put_ident(struct wndl_rust *r, struct wndl_rust_ident ident)
{
    if (r->is_silent || r->failed)
        return;
    if (ident.coded.size == 0)
        wndl_rust_put(r, ident.plain.data, ident.plain.size);
    else
        put_coded(r, ident);
}
