/* SPDX-License-Identifier: MIT */
/*
 * areas: the mappings of the process that can be written, or may have blocks in
 * them, with the starts of their blocks.
 */
#ifndef WNDL_RT_HEAP_LEAKS_AREAS_H
#define WNDL_RT_HEAP_LEAKS_AREAS_H

#include "rt/core/readable_pages.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/leaks/block_bitmap.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/leaks/pointer_filter.h"

struct wndl_rt_area {
    uintptr_t start, end;
    bool is_read; /* it can be, and be written */
    bool is_heap; /* an allocator's, or ours */
    bool is_anonymous;
    uint8_t *pages; /* enum wndl_rt_page; NULL: nothing is known of them */
    size_t blocks;
    uintptr_t high;                     /* the end of the last of them */
    size_t reach;                       /* from the first to the next area's */
    struct wndl_rt_block_bitmap bitmap; /* where there are any */
};

struct wndl_rt_areas {
    const struct wndl_rt_leak_search *wanted;
    uintptr_t ours; /* the search's own memory, which is in none of them */
    size_t ours_size;
    struct wndl_rt_area *all; /* sorted; room for wanted->most_mappings */
    size_t count;
    bool too_many;               /* what is in others is not known */
    struct wndl_rt_area **heaps; /* those with blocks, sorted */
    size_t heap_count;
    struct wndl_rt_area *near; /* the one that was found last */
    struct wndl_rt_area *read; /* the one that was read last */
    struct wndl_rt_pointer_filter
        filter; /* its gap is the largest without any block */
    size_t block_count, block_room;
    struct wndl_rt_own_pages own;
    uint8_t *pages; /* their states */
    size_t page_count;
};

/* Fills in `all`. False: that cannot be read, or there are too many. */
bool wndl_rt_areas_list(struct wndl_rt_areas *s);

/*
 * Of struct wndl_rt_areas; for each of all blocks: count, then, when there are
 * heaps, add.
 */
void wndl_rt_areas_count(void *areas, const struct wndl_rt_block *b);
void wndl_rt_areas_add(void *areas, const struct wndl_rt_block *b);

/* The memory that the heaps need, with the blocks that were counted. */
size_t wndl_rt_areas_heap_size(struct wndl_rt_areas *s);

/* Makes them, in zeroed memory of that size, aligned to 8. */
void wndl_rt_areas_make_heaps(struct wndl_rt_areas *s, uint8_t *memory);

/* After all blocks were added. */
void wndl_rt_areas_find_gap(struct wndl_rt_areas *s);

/* Usable bytes of the block at `start`, 0 if it is gone. */
size_t wndl_rt_areas_size_at(const struct wndl_rt_areas *s, uintptr_t start);

/* The one whose blocks `address` may be in. */
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
 * Pages whose state is asked for: of areas that are read from one end to the
 * other, or have blocks. 0: of none.
 */
size_t wndl_rt_area_page_count(const struct wndl_rt_area *a);

/* Asks for the states of pages; `sharing` is MAP_SHARED if a copy of the
 * process is to change them. Where nothing can be said, the kernel copies. */
void wndl_rt_areas_look_at_pages(struct wndl_rt_areas *s, int sharing);
void wndl_rt_areas_forget_pages(struct wndl_rt_areas *s);

/* Of the pages from `start` on those that are alike. *size is made less, if
 * others come before its end. */
enum wndl_rt_page wndl_rt_areas_pages_at(
    struct wndl_rt_areas *s, uintptr_t start, size_t *size);

#endif
