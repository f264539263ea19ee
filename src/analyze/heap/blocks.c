/* SPDX-License-Identifier: MIT */
#include "analyze/heap/blocks.h"

#include "analyze/heap/sites.h"

bool wndl_heap_list_fill(struct wndl_heap_list *list,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = s->profile;
    struct wndl_stack_texts stacks;
    bool filled = wndl_stack_texts_init(&stacks, list, s);
    for (size_t i = 0; i < p->heaps.len && filled; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        if (wndl_heap_chosen(p, heap, choice))
            filled = wndl_heap_sites_add_reported(
                &stacks, heap, choice->set, WNDL_HEAP_SIDE_ONLY);
    }
    wndl_stack_texts_free(&stacks);
    return filled;
}
