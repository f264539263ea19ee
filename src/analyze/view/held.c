/* SPDX-License-Identifier: MIT */
#include "analyze/view/held.h"

#include "analyze/holders/holders.h"
#include "analyze/holders/variables.h"

static enum wndl_status add_heap(struct wndl_vec *held, uint32_t number,
    const struct wndl_symbolized *s, const struct wndl_holders_wanted *wanted)
{
    const struct wndl_process_heap *heap =
        wndl_vec_at(&s->profile->heaps, number);
    struct wndl_heap_holders *holders =
        wndl_arena_calloc(held->arena, 1, sizeof *holders);
    struct wndl_view_held *slot = holders == NULL ? NULL : wndl_vec_push(held);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = (struct wndl_view_held){.heap = number, .holders = holders};
    const enum wndl_status status =
        wndl_heap_holders_fill(holders, s, heap, wanted, NULL);
    if (status != WNDL_OK && status != WNDL_NOMEM) {
        wndl_heap_holders_free(holders);
        held->len--;
    }
    return status;
}

bool wndl_view_held(struct wndl_vec *held, const struct wndl_symbolized *s,
    struct wndl_arena *arena)
{
    struct wndl_variable_names names;
    enum wndl_status status = WNDL_OK;
    wndl_vec_init(held, arena, sizeof(struct wndl_view_held));
    wndl_variable_names_init(&names, s->profile, arena->mem);
    const struct wndl_heap_variables variables =
        wndl_variable_names_finder(&names);
    const struct wndl_holders_wanted wanted = {
        .variables = &variables, .trees = true};
    for (uint32_t i = 0; i < s->profile->heaps.len && status != WNDL_NOMEM;
         i++) {
        const struct wndl_process_heap *heap =
            wndl_vec_at(&s->profile->heaps, i);
        if (heap->scan_end == WNDL_SCAN_DONE)
            status = add_heap(held, i, s, &wanted);
    }
    wndl_variable_names_free(&names);
    return status != WNDL_NOMEM;
}

void wndl_view_held_free(struct wndl_vec *held)
{
    const struct wndl_view_held *all = held->data;
    for (size_t i = 0; i < held->len; i++)
        wndl_heap_holders_free((struct wndl_heap_holders *)all[i].holders);
}
