/* SPDX-License-Identifier: MIT */
/*
 * areas: the process's mappings that are writable or may contain blocks, with
 * the starts of their blocks.
 */
#ifndef WNDL_RT_HEAP_LEAKS_AREAS_H
#define WNDL_RT_HEAP_LEAKS_AREAS_H

#include "rt/core/readable_pages.h"
#include "rt/core/registers.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/leaks/block_bitmap.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/leaks/pointer_filter.h"

struct wndl_rt_area {
    uintptr_t start, end;
    bool is_read; /* readable and writable */
    bool is_heap; /* an allocator's, or our own */
    bool is_anonymous;
    bool may_have_blocks; /* they are not counted yet */
    struct wndl_rt_page_states states;
    size_t blocks;
    uintptr_t high;                     /* end of its last block */
    size_t reach;                       /* from its first block to the next
                                         * area's */
    struct wndl_rt_block_bitmap bitmap; /* if there are blocks */
    uint32_t *ranks; /* of a scan: the number of blocks before each word of
                      * the bitmap's level 0, in this and in earlier areas */
};

struct wndl_rt_areas {
    const struct wndl_rt_leak_search *wanted;
    uintptr_t ours; /* the search's own memory, in no area */
    size_t ours_size;
    struct wndl_rt_area *all; /* sorted; room for wanted->most_mappings */
    size_t count;
    bool too_many;               /* the contents of further ones are not
                                  * known */
    struct wndl_rt_area **heaps; /* those with blocks, sorted */
    size_t heap_count;
    struct wndl_rt_area *near; /* the last one found */
    struct wndl_rt_area *read; /* the last one read */
    /* its gap is the largest one without blocks */
    struct wndl_rt_pointer_filter filter;
    size_t block_count, block_room;
    const struct wndl_rt_registers *threads; /* that were asked */
    size_t thread_count;
    bool is_copy; /* of the process: no other thread runs */
    struct wndl_rt_own_pages own;
    uint8_t *states; /* of all pages, and of their parts */
    size_t states_size;
};

/* Fills in `all`. False: mappings cannot be read, or are too many. */
bool wndl_rt_areas_list(struct wndl_rt_areas *s);

/*
 * Add blocks to a struct wndl_rt_areas. `count` is called for each of all
 * blocks; then, if there are heaps, `add` is.
 */
void wndl_rt_areas_count(void *areas, const struct wndl_rt_block *b);
void wndl_rt_areas_add(void *areas, const struct wndl_rt_block *b);

/* The size of the memory for the heaps, given the counted blocks. */
size_t wndl_rt_areas_heap_size(struct wndl_rt_areas *s);

/* Makes the heaps in zeroed memory of that size, aligned to 8. */
void wndl_rt_areas_make_heaps(struct wndl_rt_areas *s, uint8_t *memory);

/* Finds the largest gap. For use after all blocks were added. */
void wndl_rt_areas_find_gap(struct wndl_rt_areas *s);

/* Usable bytes of a block; a word if they are not known, after a fork. */
size_t wndl_rt_areas_size_of(
    const struct wndl_rt_areas *s, const struct wndl_rt_block *b);

/* The bytes of the block at `start`; 0 if it is gone. */
size_t wndl_rt_areas_size_at(const struct wndl_rt_areas *s, uintptr_t start);

/* The area whose blocks may contain `address`. */
static inline struct wndl_rt_area *wndl_rt_areas_heap_before(
    struct wndl_rt_areas *s, uintptr_t address)
{
    struct wndl_rt_area *near = s->near;
    if (address - near->bitmap.low < near->reach)
        return near;
    size_t low = 0, high = s->heap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->heaps[middle]->bitmap.low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : (s->near = s->heaps[low - 1]);
}

/* ---- pages */

static inline uintptr_t wndl_rt_area_page(
    const struct wndl_rt_area *a, size_t number)
{
    return (a->start & ~(uintptr_t)(WNDL_RT_PAGE - 1)) + number * WNDL_RT_PAGE;
}

/*
 * The number of pages whose state is needed: those of areas that are read from
 * one end to the other, or have blocks. 0: none.
 */
size_t wndl_rt_area_page_count(const struct wndl_rt_area *a);

/*
 * Gets the states of pages. `sharing` is MAP_SHARED if a copy of the process
 * will change them. Where nothing is known of a page, the kernel copies it.
 * False: there are too many pages to search them.
 */
bool wndl_rt_areas_look_at_pages(struct wndl_rt_areas *s, int sharing);
void wndl_rt_areas_forget_pages(struct wndl_rt_areas *s);

/*
 * The state of the pages from `start` on. *size is reduced to those of the same
 * state.
 */
enum wndl_rt_page wndl_rt_areas_pages_at(
    struct wndl_rt_areas *s, uintptr_t start, size_t *size);

#endif
