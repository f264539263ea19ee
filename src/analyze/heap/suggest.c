/* SPDX-License-Identifier: MIT */
#include "analyze/heap/suggest.h"

#include "analyze/heap/cover.h"
#include "analyze/heap/own_frames.h"

#include <stdlib.h>
#include <string.h>

/* Shares of the bytes under a function, and of all unreported ones. */
static const double least_unreported = 0.9;
static const double wanted_together = 0.8;
static const double least_of_its_own = 0.5; /* of a first function */

/* The bytes allocated under a function. */
struct under {
    uint32_t function;
    uint32_t last; /* the stack that was counted last, plus 1 */
    double blocks, unreported, allocated;
    double direct; /* unreported, with no own function between */
    double depths; /* of the unreported ones: frames below, times bytes */
    bool has_caller;
};

struct work {
    struct wndl_suggestions *out;
    struct wndl_own_frames own;
    struct wndl_arena arena;
    struct wndl_vec blocks; /* struct wndl_own_blocks */
    struct wndl_vec parts;  /* struct wndl_cover_part */
    struct under *under;    /* by function */
    struct under *candidates[WNDL_COVER_SETS];
    unsigned candidate_count;
};

/* ---- blocks */

static bool add_blocks(struct work *w, const struct wndl_process_heap *heap,
    uint32_t number, bool is_reported, uint64_t count)
{
    const struct wndl_alloc_site *site = wndl_vec_at(&heap->sites, number);
    const double blocks = (double)count * wndl_alloc_weight(heap, site);
    if (site->node == 0 || count == 0)
        return true;
    struct wndl_own_blocks *b = wndl_vec_push(&w->blocks);
    if (b == NULL)
        return false;
    *b = (struct wndl_own_blocks){
        .node = site->node,
        .is_reported = is_reported,
        .requested = site->requested,
        .blocks = blocks,
        .bytes = blocks * ((double)site->requested + (double)site->slop),
    };
    w->out->allocated += b->bytes;
    w->out->unreported += is_reported ? 0 : b->bytes;
    return true;
}

/* Without a run of the reporters, nothing is reported. */
static bool add_heap(struct work *w, const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    const struct wndl_alloc_reported *reported = heap->reported.data;
    bool added = true;
    w->out->is_sampled |= heap->sample_below != 0;
    for (size_t i = 0; i < heap->reported.len && added; i++)
        added = add_blocks(w, heap, reported[i].site, reported[i].reports != 0,
            reported[i].blocks);
    for (size_t i = 0; !heap->reported_known && i < heap->counts.len && added;
         i++)
        added = add_blocks(
            w, heap, counts[i].site, false, wndl_alloc_live(&counts[i]));
    return added;
}

static bool add_heaps(struct work *w, const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = w->out->symbolized->profile;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        if (wndl_heap_chosen(p, heap, choice) && !add_heap(w, heap))
            return false;
    }
    return true;
}

/* ---- functions */

static void count_under(struct under *u, const struct wndl_own_blocks *b,
    uint32_t stack, uint32_t depth)
{
    if (u->last == stack)
        return; /* it is recursive */
    u->last = stack;
    u->allocated += b->bytes;
    if (b->is_reported)
        return;
    u->unreported += b->bytes;
    u->blocks += b->blocks;
    u->depths += depth * b->bytes;
    u->direct += depth == 0 ? b->bytes : 0;
}

static void count_stack(
    struct work *w, const struct wndl_own_blocks *b, uint32_t stack)
{
    struct wndl_own_walk walk = {.s = w->own.s, .node = b->node};
    struct under *before = NULL;
    uint32_t function, depth = 0;
    while (wndl_own_walk_next(&walk, &function)) {
        if (!wndl_own_frames_has(&w->own, function))
            continue;
        if (before != NULL)
            before->has_caller = true;
        before = &w->under[function];
        before->function = function;
        count_under(before, b, stack, depth++);
    }
}

static bool count_functions(struct work *w)
{
    const size_t count = w->own.s->functions.len;
    w->under = wndl_arena_calloc(&w->arena, count, sizeof *w->under);
    if (w->under == NULL && count != 0)
        return false;
    for (size_t i = 0; i < w->blocks.len; i++)
        count_stack(w, wndl_vec_at(&w->blocks, i), (uint32_t)i + 1);
    return true;
}

/* ---- candidates */

static bool is_candidate(const struct under *u)
{
    return u->unreported > 0 &&
           u->unreported >= least_unreported * u->allocated &&
           (u->has_caller || u->direct >= least_of_its_own * u->unreported);
}

static double depth_of(const struct under *u)
{
    return u->depths / u->unreported;
}

static int compare_under(const void *a, const void *b)
{
    const struct under *x = a, *y = b;
    if (x->unreported > y->unreported || x->unreported < y->unreported)
        return x->unreported > y->unreported ? -1 : 1;
    if (depth_of(x) < depth_of(y) || depth_of(x) > depth_of(y))
        return depth_of(x) < depth_of(y) ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

/* The largest ones, in an array of their own. NULL when memory is out. */
static bool find_candidates(struct work *w)
{
    const size_t count = w->own.s->functions.len;
    struct under *all = wndl_arena_calloc(&w->arena, count + 1, sizeof *all);
    size_t found = 0;
    if (all == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_candidate(&w->under[i]))
            all[found++] = w->under[i];
    }
    qsort(all, found, sizeof *all, compare_under);
    while (w->candidate_count < found && w->candidate_count < WNDL_COVER_SETS) {
        w->candidates[w->candidate_count] = &all[w->candidate_count];
        w->candidate_count++;
    }
    return true;
}

static uint64_t mask_of(const struct work *w, uint32_t node)
{
    struct wndl_own_walk walk = {.s = w->own.s, .node = node};
    uint64_t mask = 0;
    uint32_t function;
    while (wndl_own_walk_next(&walk, &function)) {
        for (unsigned i = 0; i < w->candidate_count; i++)
            if (w->candidates[i]->function == function)
                mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* The unreported blocks by the candidates that they are under. */
static bool add_parts(struct work *w)
{
    struct wndl_map index;
    wndl_map_init(&index, &w->arena);
    for (size_t i = 0; i < w->blocks.len; i++) {
        const struct wndl_own_blocks *b = wndl_vec_at(&w->blocks, i);
        const uint64_t mask = b->is_reported ? 0 : mask_of(w, b->node);
        if (mask == 0)
            continue;
        uint64_t *at = wndl_map_put(&index, mask);
        if (at == NULL || (*at == 0 && wndl_vec_push(&w->parts) == NULL))
            return false;
        if (*at == 0)
            *at = w->parts.len;
        struct wndl_cover_part *part = wndl_vec_at(&w->parts, *at - 1);
        part->mask = mask;
        part->weight += b->bytes;
    }
    return true;
}

/* ---- the answer */

static bool choose(struct work *w)
{
    double heights[WNDL_COVER_SETS];
    for (unsigned i = 0; i < w->candidate_count; i++)
        heights[i] = depth_of(w->candidates[i]);
    const struct wndl_cover cover = {
        w->parts.data, w->parts.len, w->candidate_count, heights};
    const uint64_t chosen =
        wndl_cover_fewest(&cover, wanted_together * w->out->unreported);
    w->out->covered = wndl_cover_weight(&cover, chosen);
    for (unsigned i = 0; i < w->candidate_count; i++) {
        const struct under *u = w->candidates[i];
        if ((chosen >> i & 1) == 0)
            continue;
        struct wndl_suggestion *row = wndl_vec_push(&w->out->rows);
        if (row == NULL)
            return false;
        *row = (struct wndl_suggestion){
            u->function, u->blocks, u->unreported, u->allocated};
    }
    return true;
}

static bool fill(struct work *w, const struct wndl_heap_choice *choice)
{
    return add_heaps(w, choice) &&
           wndl_own_frames_init(
               &w->own, w->out->symbolized, &w->blocks, w->out->arena.mem) &&
           count_functions(w) && find_candidates(w) && add_parts(w) &&
           choose(w);
}

bool wndl_suggestions_fill(struct wndl_suggestions *suggestions,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    struct wndl_mem *mem)
{
    struct work w = {.out = suggestions};
    *suggestions = (struct wndl_suggestions){.symbolized = s};
    wndl_arena_init(&suggestions->arena, mem);
    wndl_vec_init(&suggestions->rows, &suggestions->arena,
        sizeof(struct wndl_suggestion));
    wndl_arena_init(&w.own.arena, mem);
    wndl_arena_init(&w.arena, mem);
    wndl_vec_init(&w.blocks, &w.arena, sizeof(struct wndl_own_blocks));
    wndl_vec_init(&w.parts, &w.arena, sizeof(struct wndl_cover_part));
    const bool filled = fill(&w, choice);
    wndl_own_frames_free(&w.own);
    wndl_arena_free(&w.arena);
    return filled;
}

void wndl_suggestions_free(struct wndl_suggestions *suggestions)
{
    wndl_arena_free(&suggestions->arena);
}
