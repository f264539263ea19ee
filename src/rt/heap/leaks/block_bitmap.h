/* SPDX-License-Identifier: MIT */
/*
 * block_bitmap: the addresses in a range at which blocks start, with a mark for
 * each: nested bitmaps that give in a few steps the last one before an address.
 * A bit and a mark take 20 bits for every 8 bytes of addresses,
 * and only the pages of them that something is in become real.
 *
 * One thread at a time.
 */
#ifndef WNDL_RT_HEAP_LEAKS_BLOCK_BITMAP_H
#define WNDL_RT_HEAP_LEAKS_BLOCK_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WNDL_RT_BLOCK_BITMAP_LEVELS =
        8, /* 64 to its power is more than all addresses */
    WNDL_RT_BLOCK_ALIGNMENT = 8, /* of every address that is one */
    WNDL_RT_BLOCK_BITMAP_MARKS = 16,
};

struct wndl_rt_block_bitmap {
    uintptr_t low, high; /* starts are in [low, high] */
    /* A bit of a level above 0 stands for a word of the one below. */
    uint64_t *levels[WNDL_RT_BLOCK_BITMAP_LEVELS];
    uint8_t *marks; /* four bits each */
};

/* The bytes of memory for the range of s->low and s->high. */
size_t wndl_rt_block_bitmap_size(const struct wndl_rt_block_bitmap *s);

/* Empty, in zeroed memory of that size, aligned to 8. */
void wndl_rt_block_bitmap_init(struct wndl_rt_block_bitmap *s, void *memory);

/* `start` is in the range, and a multiple of the alignment. */
void wndl_rt_block_bitmap_add(struct wndl_rt_block_bitmap *s, uintptr_t start);
bool wndl_rt_block_bitmap_has(
    const struct wndl_rt_block_bitmap *s, uintptr_t start);

/* The last start at or before `address`; false: there is none. */
bool wndl_rt_block_bitmap_before(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start);

/* The first one at or after it. */
bool wndl_rt_block_bitmap_after(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start);

/* Of a start; 0 at first, less than WNDL_RT_BLOCK_BITMAP_MARKS. */
unsigned wndl_rt_block_bitmap_mark(
    const struct wndl_rt_block_bitmap *s, uintptr_t start);
void wndl_rt_block_bitmap_set_mark(
    struct wndl_rt_block_bitmap *s, uintptr_t start, unsigned mark);

#endif
