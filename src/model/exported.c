/* SPDX-License-Identifier: MIT */
#include "model/exported.h"

uint8_t wndl_exported_label(const struct wndl_alloc_site *site)
{
    const struct wndl_cost_item item = {.node = site->node, .end = site->end};
    return (uint8_t)wndl_cost_item_label(&item);
}

static struct wndl_stack_sum *sum_of(struct wndl_vec *sums,
    struct wndl_map *index, const struct wndl_alloc_site *site)
{
    uint8_t label = wndl_exported_label(site);
    uint64_t *slot = wndl_map_put(index, (uint64_t)label << 32 | site->node);
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(sums, *slot - 1);
    struct wndl_stack_sum *sum = wndl_vec_push(sums);
    if (sum == NULL)
        return NULL;
    sum->node = site->node;
    sum->label = label;
    *slot = sums->len;
    return sum;
}

static void add_counts(struct wndl_stack_sum *sum,
    const struct wndl_alloc_counts *counts, const struct wndl_alloc_site *site,
    double weight)
{
    double usable = (double)site->requested + (double)site->slop;
    for (unsigned which = 0; which < WNDL_HEAP_SETS; which++) {
        double blocks = (double)wndl_heap_count(counts, which) * weight;
        sum->blocks[which] += blocks;
        sum->bytes[which] += blocks * usable;
    }
    sum->lifetime += (double)counts->lifetime * weight;
}

bool wndl_exported_sum(struct wndl_vec *sums,
    const struct wndl_process_heap *heap, struct wndl_arena *arena)
{
    struct wndl_map index;
    wndl_map_init(&index, arena);
    wndl_vec_init(sums, arena, sizeof(struct wndl_stack_sum));
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_counts *counts = wndl_vec_at(&heap->counts, i);
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts->site);
        struct wndl_stack_sum *sum = sum_of(sums, &index, site);
        if (sum == NULL)
            return false;
        add_counts(sum, counts, site, wndl_alloc_weight(heap, site));
    }
    return true;
}

uint64_t wndl_exported_round(double value)
{
    const uint64_t most = (uint64_t)1 << 53;
    if (!(value > 0))
        return 0;
    return value >= (double)most ? most : (uint64_t)(value + 0.5);
}

bool wndl_exported_has(
    const struct wndl_exported *e, const struct wndl_process_heap *heap)
{
    const struct wndl_process *process =
        wndl_vec_at(&e->symbolized->profile->processes, heap->process);
    return heap->counts.len != 0 && (e->pid == 0 || e->pid == process->pid);
}

bool wndl_exported_has_set(
    const struct wndl_exported *e, enum wndl_heap_set set)
{
    return e->has_freed || set == WNDL_HEAP_SET_LIVE ||
           set == WNDL_HEAP_SET_PEAK;
}

struct wndl_bytes wndl_exported_program(
    const struct wndl_profile *p, uint32_t process)
{
    const struct wndl_process *of = wndl_vec_at(&p->processes, process);
    return wndl_path_name(of->executable);
}

/* A return address is one past its call. */
uint64_t wndl_exported_address(const struct wndl_frame_key *frame)
{
    bool is_return = frame->exact == WNDL_EXACT_NOT && frame->address != 0;
    return frame->address - (is_return ? 1 : 0);
}

uint32_t *wndl_exported_frames(
    const struct wndl_symbolized *s, struct wndl_arena *arena)
{
    uint32_t *frames =
        wndl_arena_calloc(arena, s->frame_locations.len + 1, sizeof *frames);
    for (uint32_t i = 0; frames != NULL && i < s->spans.len; i++) {
        const struct wndl_span *span = wndl_vec_at(&s->spans, i);
        for (uint32_t k = 0; k < span->count; k++)
            frames[span->first + k] = i;
    }
    return frames;
}
