/* SPDX-License-Identifier: MIT */
/*
 * heap_starts: the addresses in a range at which blocks start, with a note for
 * each: nested bitmaps that tell in a few steps which was the last one before
 * an address. A bit and a note take 20 bits for every 8 bytes of addresses,
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
    WNDL_RT_STARTS_LEVELS = 8, /* 64 to its power is more than all addresses */
    WNDL_RT_START_ALIGNMENT = 8, /* of every address that is one */
    WNDL_RT_START_NOTES = 16,
};

struct wndl_rt_starts {
    uintptr_t low, high; /* starts are in [low, high] */
    /* A bit of a level above 0 stands for a word of the one below. */
    uint64_t *levels[WNDL_RT_STARTS_LEVELS];
    uint8_t *notes; /* four bits each */
};

/* The bytes of memory for the range of s->low and s->high. */
size_t wndl_rt_starts_size(const struct wndl_rt_starts *s);

/* Empty, in zeroed memory of that size, aligned to 8. */
void wndl_rt_starts_init(struct wndl_rt_starts *s, void *memory);

/* `start` is in the range, and a multiple of the alignment. */
void wndl_rt_starts_add(struct wndl_rt_starts *s, uintptr_t start);
bool wndl_rt_starts_has(const struct wndl_rt_starts *s, uintptr_t start);

/* The last start at or before `address`; false: there is none. */
bool wndl_rt_starts_before(
    const struct wndl_rt_starts *s, uintptr_t address, uintptr_t *start);

/* The first one at or after it. */
bool wndl_rt_starts_after(
    const struct wndl_rt_starts *s, uintptr_t address, uintptr_t *start);

/* Of a start; 0 at first, less than WNDL_RT_START_NOTES. */
unsigned wndl_rt_starts_note(const struct wndl_rt_starts *s, uintptr_t start);
void wndl_rt_starts_set_note(
    struct wndl_rt_starts *s, uintptr_t start, unsigned note);

#endif
