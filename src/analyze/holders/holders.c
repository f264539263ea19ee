/* SPDX-License-Identifier: MIT */
#include "analyze/holders/holders.h"

#include "analyze/holders/steps.h"
#include "analyze/holders/tables.h"
#include "analyze/holders/views.h"

struct sized {
    const struct wndl_heap_graph *graph;
    const struct wndl_process_heap *heap;
};

static uint64_t size_of(const void *context, uint32_t block)
{
    const struct sized *s = context;
    return wndl_heap_block_size(s->graph, s->heap, block);
}

static bool know(struct wndl_heap_known *known, struct wndl_heap_holders *h,
    const struct wndl_symbolized *s, struct wndl_arena *arena)
{
    const struct sized sized = {&h->graph, known->heap};
    return wndl_heap_places_fill(&known->places, h, s, known->heap) &&
           wndl_heap_reach_fill(&known->reach, &h->graph, arena) &&
           wndl_heap_dominators_fill(
               &known->dominators, &h->graph, size_of, &sized, arena) &&
           wndl_heap_tables_fill(h, known);
}

static enum wndl_status answer(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known,
    const struct wndl_holders_wanted *wanted, struct wndl_error *err)
{
    if ((wanted->place != NULL &&
            !wndl_holder_steps_fill(h, known, wanted->place)) ||
        (wanted->trees && !wndl_holder_trees_fill(h, known)))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    enum wndl_status status = WNDL_OK;
    if (wanted->block != 0)
        status = wndl_holder_view_fill(h, known, wanted->block, err);
    if (status == WNDL_OK && wanted->site != 0)
        status = wndl_holder_site_fill(h, known, wanted->site, err);
    return status;
}

enum wndl_status wndl_heap_holders_fill(struct wndl_heap_holders *h,
    const struct wndl_symbolized *s, const struct wndl_process_heap *heap,
    const struct wndl_holders_wanted *wanted, struct wndl_error *err)
{
    struct wndl_mem *mem = s->arena.mem;
    struct wndl_heap_known known = {.heap = heap, .members = wanted->members};
    struct wndl_arena scratch;
    *h = (struct wndl_heap_holders){0};
    h->written = heap->scan_written;
    h->stopped = heap->scan_stopped;
    wndl_arena_init(&h->arena, mem);
    wndl_arena_init(&scratch, mem);
    wndl_vec_init(&h->steps, &h->arena, sizeof(struct wndl_holder_step));
    wndl_vec_init(&h->retained, &h->arena, sizeof(struct wndl_held_node));
    wndl_vec_init(&h->chains, &h->arena, sizeof(struct wndl_held_node));
    wndl_vec_init(&h->seen, &h->arena, sizeof(struct wndl_heap_block_view));
    wndl_vec_init(
        &h->seen_sites, &h->arena, sizeof(struct wndl_heap_site_view));
    enum wndl_status status =
        wndl_heap_graph_read(&h->graph, heap, wanted->variables, mem, err);
    if (status == WNDL_OK && !(wndl_intern_init(&h->strings, &h->arena) &&
                                 know(&known, h, s, &scratch)))
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (status == WNDL_OK)
        status = answer(h, &known, wanted, err);
    wndl_arena_free(&scratch);
    return status;
}

void wndl_heap_holders_free(struct wndl_heap_holders *h)
{
    wndl_heap_graph_free(&h->graph);
    wndl_arena_free(&h->arena);
}
