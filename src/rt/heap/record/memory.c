/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/memory.h"

#include "os/memory_places.h"
#include "os/raw.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/state.h"
#include "rt/heap/record/mappings.h"

/* Longer lines are skipped: their memory counts for the mapping before. */
enum { ROOM = 2048 };

/* ---- live blocks by arena */

static void count_block(void *context, const struct wndl_rt_block *block)
{
    const struct wndl_memory_places *to = context;
    for (uint32_t i = 0; i < to->count; i++) {
        struct wndl_memory_place *p = &to->places[i];
        if (p->live == 0 || block->address < p->start ||
            block->address >= p->end)
            continue;
        p->live += wndl_rt_heap->sites.sites[block->site].usable - 1;
        return;
    }
}

/* If there is one arena, the live bytes of all blocks say as much. */
static void count_live(struct wndl_memory_places *places)
{
    uint32_t arenas = 0;
    for (uint32_t i = 0; i < places->count; i++)
        arenas += places->places[i].kind == WNDL_MEMORY_HEAP;
    if (arenas < 2 || wndl_rt_heap->sample_below != 0)
        return;
    for (uint32_t i = 0; i < places->count; i++)
        places->places[i].live = places->places[i].kind == WNDL_MEMORY_HEAP;
    wndl_rt_blocks_each(count_block, places);
}

void wndl_rt_heap_measure_memory(void)
{
    static uint8_t room[ROOM]; /* the stack may be small */
    static const struct wndl_memory_files files = {
        "/proc/self/smaps", "/proc/self/pagemap"};
    struct wndl_heap *shared = wndl_rt_heap->shared;
    struct wndl_heap_mapped *mapped = wndl_rt_heap_mapped();
    struct wndl_memory_sum sum;
    struct wndl_memory_places places = {
        .mappings = mapped->mappings,
        .places = mapped->places,
        .mapping_count = mapped->count,
        .most = WNDL_HEAP_PLACES,
    };
    if (wndl_rt_is_careful() ||
        !wndl_memory_places_fill(
            &files, (struct wndl_bytes){room, sizeof room}, &sum, &places))
        return;
    count_live(&places);
    shared->memory = sum;
    mapped->places_count = places.count;
    atomic_store(&shared->memory_time, wndl_raw_clock_ns(CLOCK_MONOTONIC));
}
