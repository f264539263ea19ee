/* SPDX-License-Identifier: MIT */
/*
 * block_bitmap: the addresses in a range at which blocks start, with a mark for
 * each. Nested bitmaps find the last start before an address in a few steps. A
 * bit and a mark take 20 bits for every 8 bytes of addresses, and only pages of
 * them with contents become real.
 *
 * One thread at a time.
 */
#ifndef WNDL_RT_HEAP_LEAKS_BLOCK_BITMAP_H
#define WNDL_RT_HEAP_LEAKS_BLOCK_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* 64 to its power is more than all addresses */
    WNDL_RT_BLOCK_BITMAP_LEVELS = 8,
    WNDL_RT_BLOCK_ALIGNMENT = 8, /* of every block's address */
    WNDL_RT_BLOCK_BITMAP_MARKS = 16,
};

struct wndl_rt_block_bitmap {
    uintptr_t low, high; /* starts are in [low, high] */
    /* A bit of a level above 0 stands for a word of the level below. */
    uint64_t *levels[WNDL_RT_BLOCK_BITMAP_LEVELS];
    uint8_t *marks; /* four bits each */
};

/* The bytes of memory for the range of s->low and s->high. */
size_t wndl_rt_block_bitmap_size(const struct wndl_rt_block_bitmap *s);

/* Makes it empty, in zeroed memory of that size, aligned to 8. */
void wndl_rt_block_bitmap_init(struct wndl_rt_block_bitmap *s, void *memory);

/* `start` is in the range, and a multiple of the alignment. */
void wndl_rt_block_bitmap_add(struct wndl_rt_block_bitmap *s, uintptr_t start);
bool wndl_rt_block_bitmap_has(
    const struct wndl_rt_block_bitmap *s, uintptr_t start);

/* Finds the last start at or before `address`; false if there is none. */
bool wndl_rt_block_bitmap_before(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start);

/* Finds the first start at or after `address`. */
bool wndl_rt_block_bitmap_after(
    const struct wndl_rt_block_bitmap *s, uintptr_t address, uintptr_t *start);

/* The mark of a start: 0 at first, less than WNDL_RT_BLOCK_BITMAP_MARKS. */
unsigned wndl_rt_block_bitmap_mark(
    const struct wndl_rt_block_bitmap *s, uintptr_t start);
void wndl_rt_block_bitmap_set_mark(
    struct wndl_rt_block_bitmap *s, uintptr_t start, unsigned mark);

#endif
