/* SPDX-License-Identifier: MIT */
#include "analyze/holders/contents.h"

#include "analyze/heap/stack_texts.h"
#include "analyze/holders/graph.h"
#include "model/profile.h"

enum { WORD = 8 };

static bool add_block(struct wndl_heap_contents *c,
    struct wndl_stack_texts *stacks, const struct wndl_process_heap *heap,
    uint64_t address, uint32_t site)
{
    struct wndl_heap_content *added = wndl_vec_push(&c->blocks);
    if (added == NULL)
        return false;
    *added = (struct wndl_heap_content){.address = address};
    if (site == WNDL_NO_INDEX)
        return true;
    const struct wndl_alloc_site *from = wndl_vec_at(&heap->sites, site);
    const uint64_t words = from->requested / WORD;
    added->requested = from->requested;
    added->slop = from->slop;
    added->words = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
    return wndl_stack_texts_of(stacks, from->node, from->end, &added->leaf);
}

static bool add_blocks(struct wndl_heap_contents *c,
    struct wndl_stack_texts *stacks, const struct wndl_process_heap *heap,
    const struct wndl_heap_graph *g)
{
    for (uint32_t i = 0; i < g->block_count; i++) {
        if (!add_block(c, stacks, heap, g->addresses[i], g->sites[i]))
            return false;
    }
    const struct wndl_bytes *parts = heap->contents.data;
    for (size_t i = 0; i < heap->contents.len; i++) {
        struct wndl_bytes *part = wndl_vec_push(&c->parts);
        if (part == NULL)
            return false;
        *part = parts[i];
    }
    return true;
}

/* Whether the parts have the words of the blocks from `first` on. */
static bool are_whole(const struct wndl_heap_contents *c, size_t first,
    const struct wndl_process_heap *heap)
{
    const struct wndl_bytes *parts = heap->contents.data;
    uint64_t words = 0, bytes = 0;
    for (size_t i = first; i < c->blocks.len; i++)
        words += ((const struct wndl_heap_content *)wndl_vec_at(&c->blocks, i))
                     ->words;
    for (size_t i = 0; i < heap->contents.len; i++)
        bytes += parts[i].size;
    return bytes == words * WORD;
}

static enum wndl_status add_heap(struct wndl_heap_contents *c,
    struct wndl_stack_texts *stacks, const struct wndl_process_heap *heap,
    struct wndl_error *err)
{
    const size_t first = c->blocks.len;
    struct wndl_heap_graph g;
    enum wndl_status status =
        wndl_heap_graph_read(&g, heap, NULL, stacks->s->arena.mem, err);
    if (status == WNDL_OK && !add_blocks(c, stacks, heap, &g))
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_heap_graph_free(&g);
    if (status == WNDL_OK && !are_whole(c, first, heap))
        status = wndl_fail(err, WNDL_MALFORMED,
            "the contents of blocks are not those of the scan");
    return status;
}

enum wndl_status wndl_heap_contents_fill(struct wndl_heap_contents *c,
    struct wndl_heap_list *list, const struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice, struct wndl_error *err)
{
    const struct wndl_profile *p = s->profile;
    struct wndl_stack_texts stacks;
    wndl_arena_init(&c->arena, s->arena.mem);
    wndl_vec_init(&c->blocks, &c->arena, sizeof(struct wndl_heap_content));
    wndl_vec_init(&c->parts, &c->arena, sizeof(struct wndl_bytes));
    enum wndl_status status = WNDL_OK;
    if (!wndl_stack_texts_init(&stacks, list, s))
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    for (size_t i = 0; i < p->heaps.len && status == WNDL_OK; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        if (heap->contents.len != 0 && heap->scan_end == WNDL_SCAN_DONE &&
            wndl_heap_chosen(p, heap, choice))
            status = add_heap(c, &stacks, heap, err);
    }
    wndl_stack_texts_free(&stacks);
    return status;
}

void wndl_heap_contents_free(struct wndl_heap_contents *c)
{
    wndl_arena_free(&c->arena);
}
