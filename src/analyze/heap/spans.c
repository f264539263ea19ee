/* SPDX-License-Identifier: MIT */
#include "analyze/heap/spans.h"

#include <string.h>

uint64_t wndl_take_whole(double value, double *carry)
{
    value += *carry;
    uint64_t whole = value < 1e18 ? (uint64_t)value : (uint64_t)1e18;
    *carry = value < 1e18 ? value - (double)whole : 0;
    return whole;
}

/* A thread of a process that has none, named as the program. */
static bool add_thread(
    struct wndl_profile *p, uint32_t process, uint32_t *thread)
{
    const struct wndl_process *of = wndl_vec_at(&p->processes, process);
    *thread = (uint32_t)p->threads.len;
    struct wndl_thread *slot = wndl_vec_push(&p->threads);
    if (slot == NULL)
        return false;
    *slot = (struct wndl_thread){
        .process = process,
        .tid = of->pid,
        .start = of->start,
        .end = of->end,
        .name = wndl_path_name(of->executable),
    };
    return true;
}

/* The first thread + 1 of each process, 0 for none; NULL: no memory. */
static uint32_t *find_first_threads(struct wndl_profile *p)
{
    uint32_t *first =
        wndl_arena_calloc(&p->arena, p->processes.len + 1, sizeof *first);
    for (size_t i = p->threads.len; i-- > 0 && first != NULL;) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        first[thread->process] = (uint32_t)i + 1;
    }
    return first;
}

static bool add_span(struct wndl_profile *p, const struct wndl_alloc_site *site,
    uint64_t bytes, uint32_t thread)
{
    if (bytes == 0)
        return true;
    struct wndl_block *slot = wndl_vec_push(&p->blocks);
    if (slot == NULL)
        return false;
    *slot = (struct wndl_block){
        .duration = bytes,
        .thread = thread,
        .node = site->node,
        .end = site->end,
    };
    p->block_ends[site->end] += site->node != 0;
    return true;
}

static bool add_heap(struct wndl_profile *p,
    const struct wndl_process_heap *heap, enum wndl_heap_set set,
    uint32_t thread)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    double carry = 0;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        double bytes = (double)wndl_heap_count(&counts[i], set) *
                       wndl_alloc_weight(heap, site) *
                       ((double)site->requested + (double)site->slop);
        if (!add_span(p, site, wndl_take_whole(bytes, &carry), thread))
            return false;
    }
    return true;
}

bool wndl_heap_as_spans(
    struct wndl_profile *p, const struct wndl_heap_choice *choice)
{
    uint32_t *first = find_first_threads(p);
    p->samples.len = 0;
    p->blocks.len = 0;
    memset(p->ends, 0, sizeof p->ends);
    memset(p->block_ends, 0, sizeof p->block_ends);
    for (size_t i = 0; i < p->heaps.len && first != NULL; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        uint32_t thread = first[heap->process] - 1;
        if (!wndl_heap_chosen(p, heap, choice))
            continue;
        if (first[heap->process] == 0 && !add_thread(p, heap->process, &thread))
            return false;
        if (!add_heap(p, heap, choice->set, thread))
            return false;
    }
    return first != NULL;
}
