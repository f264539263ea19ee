/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/block_bitmap.h"

enum { BITS = 64 };

/* The index of `address` among the bits of level 0. */
static size_t place_of(const struct wndl_rt_block_bitmap *s, uintptr_t address)
{
    return (address - s->low) / WNDL_RT_BLOCK_ALIGNMENT;
}

static uintptr_t address_of(const struct wndl_rt_block_bitmap *s, size_t place)
{
    return s->low + place * WNDL_RT_BLOCK_ALIGNMENT;
}

static size_t words_for(size_t bits)
{
    return bits / BITS + 1;
}

static size_t places(const struct wndl_rt_block_bitmap *s)
{
    return place_of(s, s->high) + 1;
}

/* Two marks a byte, in whole words. */
static size_t marks_size(const struct wndl_rt_block_bitmap *s)
{
    return (places(s) / 16 + 1) * sizeof(uint64_t);
}

size_t wndl_rt_block_bitmap_size(const struct wndl_rt_block_bitmap *s)
{
    size_t size = marks_size(s), bits = places(s);
    for (int level = 0; level < WNDL_RT_BLOCK_BITMAP_LEVELS; level++) {
        bits = words_for(bits);
        size += bits * sizeof(uint64_t);
    }
    return size;
}

void wndl_rt_block_bitmap_init(struct wndl_rt_block_bitmap *s, void *memory)
{
    uint64_t *at = memory;
    size_t bits = places(s);
    for (int level = 0; level < WNDL_RT_BLOCK_BITMAP_LEVELS; level++) {
        s->levels[level] = at;
        bits = words_for(bits);
        at += bits;
    }
    s->marks = (uint8_t *)at;
}

void wndl_rt_block_bitmap_add(struct wndl_rt_block_bitmap *s, uintptr_t start)
{
    size_t place = place_of(s, start);
    uint64_t before = 0;
    for (int i = 0; i < WNDL_RT_BLOCK_BITMAP_LEVELS && before == 0; i++) {
        uint64_t *word = &s->levels[i][place / BITS];
        before = *word;
        *word |= UINT64_C(1) << place % BITS;
        place /= BITS;
    }
}

bool wndl_rt_block_bitmap_has(
    const struct wndl_rt_block_bitmap *s, uintptr_t start)
{
    if (start < s->low || start > s->high ||
        start % WNDL_RT_BLOCK_ALIGNMENT != 0)
        return false;
    size_t place = place_of(s, start);
    return (s->levels[0][place / BITS] >> place % BITS & 1) != 0;
}

bool wndl_rt_block_bitmap_before(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start)
{
    if (address < s->low)
        return false;
    size_t end = place_of(s, address < s->high ? address : s->high) + 1;
    for (int level = 0; level < WNDL_RT_BLOCK_BITMAP_LEVELS; level++) {
        uint64_t found =
            s->levels[level][end / BITS] & ((UINT64_C(1) << end % BITS) - 1);
        end /= BITS;
        if (found == 0)
            continue;
        size_t last = end * BITS + BITS - 1 - (size_t)__builtin_clzll(found);
        while (level-- > 0)
            last = last * BITS + BITS - 1 -
                   (size_t)__builtin_clzll(s->levels[level][last]);
        *start = address_of(s, last);
        return true;
    }
    return false;
}

bool wndl_rt_block_bitmap_after(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start)
{
    enum { UP = WNDL_RT_BLOCK_ALIGNMENT - 1 };
    if (address > s->high)
        return false;
    size_t from = address < s->low ? 0 : place_of(s, address + UP);
    for (int level = 0; level < WNDL_RT_BLOCK_BITMAP_LEVELS; level++) {
        uint64_t found = s->levels[level][from / BITS] & ~UINT64_C(0)
                                                             << from % BITS;
        from /= BITS;
        if (found == 0) {
            from++;
            continue;
        }
        size_t first = from * BITS + (size_t)__builtin_ctzll(found);
        while (level-- > 0)
            first =
                first * BITS + (size_t)__builtin_ctzll(s->levels[level][first]);
        *start = address_of(s, first);
        return true;
    }
    return false;
}

unsigned wndl_rt_block_bitmap_mark(
    const struct wndl_rt_block_bitmap *s, uintptr_t start)
{
    size_t place = place_of(s, start);
    return s->marks[place / 2] >> place % 2 * 4 & 15;
}

void wndl_rt_block_bitmap_set_mark(
    struct wndl_rt_block_bitmap *s, uintptr_t start, unsigned mark)
{
    size_t place = place_of(s, start);
    unsigned shift = place % 2 * 4;
    uint8_t *both = &s->marks[place / 2];
    *both = (uint8_t)((*both & ~(15U << shift)) | mark << shift);
}
