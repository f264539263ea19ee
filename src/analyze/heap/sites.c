/* SPDX-License-Identifier: MIT */
#include "analyze/heap/sites.h"

static int64_t narrow(uint64_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool describe_site(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, uint32_t site,
    struct wndl_heap_blocks *blocks)
{
    const struct wndl_alloc_site *from = wndl_vec_at(&heap->sites, site);
    blocks->requested = from->requested;
    blocks->slop = from->slop;
    blocks->weight = wndl_alloc_weight(heap, from);
    return wndl_stack_texts_of(
        stacks, from->node, from->end, &blocks->stacks[WNDL_HEAP_ALLOCATED]);
}

static bool add_counts(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap,
    const struct wndl_alloc_counts *counts, enum wndl_heap_set set,
    enum wndl_heap_side side)
{
    struct wndl_heap_blocks blocks = {
        .count = narrow(wndl_heap_count(counts, set))};
    if (blocks.count == 0)
        return true;
    if (set == WNDL_HEAP_SET_ALL) {
        blocks.freed = narrow(counts->frees);
        blocks.temporary = narrow(counts->temporary);
        blocks.lifetime = side == WNDL_HEAP_SIDE_ONLY ? counts->lifetime : 0;
    }
    if (side == WNDL_HEAP_SIDE_EARLIER) {
        blocks.count = -blocks.count;
        blocks.freed = -blocks.freed;
        blocks.temporary = -blocks.temporary;
    }
    return describe_site(stacks, heap, counts->site, &blocks) &&
           wndl_heap_list_add(stacks->list, &blocks);
}

bool wndl_heap_sites_add(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, enum wndl_heap_set set,
    enum wndl_heap_side side)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    bool live = set == WNDL_HEAP_SET_LIVE || set == WNDL_HEAP_SET_PEAK;
    stacks->list->mode = live ? WNDL_HEAP_MODE_LIVE : WNDL_HEAP_MODE_CUMULATIVE;
    for (size_t i = 0; i < heap->counts.len; i++) {
        if (!add_counts(stacks, heap, &counts[i], set, side))
            return false;
    }
    return true;
}

/* ---- dark matter */

static bool add_reported(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap,
    const struct wndl_alloc_reported *reported, enum wndl_heap_side side)
{
    struct wndl_heap_blocks blocks = {.count = narrow(reported->blocks)};
    if (side == WNDL_HEAP_SIDE_EARLIER)
        blocks.count = -blocks.count;
    for (unsigned i = 0; i < reported->reports; i++) {
        const struct wndl_alloc_reporter *by = &reported->by[i];
        if (!wndl_stack_texts_of(stacks, by->node, by->end,
                &blocks.stacks[WNDL_HEAP_REPORTED + i]))
            return false;
    }
    return describe_site(stacks, heap, reported->site, &blocks) &&
           wndl_heap_list_add(stacks->list, &blocks);
}

static bool add_all_reported(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, enum wndl_heap_side side)
{
    for (size_t i = 0; i < heap->reported.len; i++) {
        if (!add_reported(stacks, heap, wndl_vec_at(&heap->reported, i), side))
            return false;
    }
    return true;
}

/* If reporters were to run and there are none, nothing is reported. */
bool wndl_heap_sites_add_reported(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, enum wndl_heap_set set,
    enum wndl_heap_side side)
{
    if (!heap->dark || set != WNDL_HEAP_SET_LIVE)
        return wndl_heap_sites_add(stacks, heap, set, side);
    const bool added = heap->reported_known
                           ? add_all_reported(stacks, heap, side)
                           : wndl_heap_sites_add(stacks, heap, set, side);
    stacks->list->mode = WNDL_HEAP_MODE_DARK_MATTER;
    return added;
}

bool wndl_heap_sites_add_one(struct wndl_stack_texts *stacks,
    const struct wndl_process_heap *heap, uint32_t site, uint64_t count)
{
    struct wndl_heap_blocks blocks = {.count = narrow(count)};
    return blocks.count == 0 || (describe_site(stacks, heap, site, &blocks) &&
                                    wndl_heap_list_add(stacks->list, &blocks));
}
