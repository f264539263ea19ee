/* SPDX-License-Identifier: MIT */
#include "analyze/holders/places.h"

#include "analyze/heap/alloc_fn.h"
#include "analyze/heap/own_frames.h"
#include "analyze/heap/stack_texts.h"
#include "base/buf.h"
#include "model/profile.h"

#include <inttypes.h>
#include <string.h>

/* State that all places of a heap share. */
struct placing {
    struct wndl_heap_places *places;
    struct wndl_heap_holders *h;
    const struct wndl_process_heap *heap;
    struct wndl_heap_list list;
    struct wndl_stack_texts stacks;
    struct wndl_own_frames own;
};

/* ---- blocks */

/* Containers allocate for whoever uses them. */
static bool is_of_library(struct wndl_bytes text)
{
    static const char *const spaces[] = {"std::", "__gnu_cxx::"};
    size_t size = 0;
    while (size < text.size && text.data[size] != '<' && text.data[size] != '(')
        size++;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        const uint8_t *at =
            memmem(text.data, size, spaces[i], strlen(spaces[i]));
        if (at != NULL && (at == text.data || at[-1] == ' '))
            return true;
    }
    return false;
}

static struct wndl_bytes text_of_frame(
    const struct wndl_heap_list *list, uint32_t frame)
{
    return wndl_intern_get(
        &list->strings, wndl_heap_frame_at(list, frame)->text);
}

/*
 * The innermost frame that does not only allocate, or serve as a container;
 * where all are wrappers, the innermost one that is not known by its name; else
 * the innermost. *inside: how many are inside it.
 */
static struct wndl_bytes text_of_stack(const struct placing *p,
    const struct wndl_alloc_site *site, uint32_t leaf, uint32_t *inside)
{
    const struct wndl_heap_list *list = p->stacks.list;
    struct wndl_own_walk walk = {.s = p->stacks.s, .node = site->node};
    struct wndl_bytes found = text_of_frame(list, leaf);
    bool is_found = false;
    uint32_t function;
    *inside = 0;
    for (uint32_t i = 0; wndl_own_walk_next(&walk, &function); i++) {
        const struct wndl_bytes text = text_of_frame(list, leaf);
        const bool is_wrapper = p->own.is_wrapper[function];
        leaf = wndl_heap_frame_at(list, leaf)->caller;
        if (wndl_heap_alloc_fn(text) || is_of_library(text) ||
            (is_wrapper && is_found))
            continue;
        *inside = i;
        found = text;
        is_found = true;
        if (!is_wrapper)
            break;
    }
    return found;
}

/* The code of a stack that so many calls are inside. */
static struct wndl_heap_code code_of_stack(
    const struct wndl_symbolized *s, uint32_t node, uint32_t inside)
{
    while (node != 0) {
        const struct wndl_node *n = wndl_vec_at(&s->profile->nodes, node);
        const struct wndl_span *span = wndl_vec_at(&s->spans, n->frame);
        if (inside < span->count)
            return (struct wndl_heap_code){
                n->frame, wndl_symbolized_location(s, span, inside)->line};
        inside -= span->count;
        node = n->parent;
    }
    return (struct wndl_heap_code){WNDL_NO_INDEX, 0};
}

static bool place_sites(struct placing *p)
{
    const struct wndl_alloc_site *sites = p->heap->sites.data;
    for (size_t i = 0; i < p->heap->sites.len; i++) {
        uint32_t leaf, inside;
        if (!wndl_stack_texts_of(
                &p->stacks, sites[i].node, sites[i].end, &leaf) ||
            !wndl_intern_add(&p->h->strings,
                text_of_stack(p, &sites[i], leaf, &inside),
                &p->places->of_sites[i]))
            return false;
        p->places->codes[i] = code_of_stack(p->stacks.s, sites[i].node, inside);
    }
    return true;
}

/* Finds the wrappers among all functions that allocated. */
static bool find_wrappers(struct placing *p)
{
    struct wndl_arena scratch;
    struct wndl_vec blocks;
    wndl_arena_init(&scratch, p->h->arena.mem);
    wndl_vec_init(&blocks, &scratch, sizeof(struct wndl_own_blocks));
    bool is_found = true;
    for (size_t i = 0; i < p->heap->sites.len && is_found; i++) {
        const struct wndl_alloc_site *site = wndl_vec_at(&p->heap->sites, i);
        if (site->node == 0)
            continue;
        struct wndl_own_blocks *added = wndl_vec_push(&blocks);
        is_found = added != NULL;
        if (is_found)
            *added = (struct wndl_own_blocks){
                .node = site->node, .requested = site->requested};
    }
    is_found = is_found && wndl_own_frames_init(
                               &p->own, p->stacks.s, &blocks, p->h->arena.mem);
    wndl_arena_free(&scratch);
    return is_found;
}

/* ---- roots */

static void put_data(struct wndl_buf *out, const struct wndl_heap_root *root)
{
    const struct wndl_bytes module = wndl_path_name(root->path);
    if (root->name.size != 0) {
        wndl_buf_byte(out, '`');
        wndl_buf_add(out, root->name.data, root->name.size);
        wndl_buf_text(out, "` of ");
    }
    wndl_buf_add(out, module.data, module.size);
    if (root->name.size == 0)
        wndl_buf_printf(out, " + 0x%" PRIx64, root->svma);
}

/* A thread whose stack pointer is not known may have ended calls there. */
static void put_stack(struct wndl_buf *out, const struct wndl_heap_root *root)
{
    if (root->svma != 0)
        wndl_buf_printf(out, "stack of thread %" PRIu64, root->svma);
    else
        wndl_buf_text(out, "whole stack of a thread");
}

/*
 * The function that uses a part of a stack. A node that is not known leaves the
 * function out. False when memory is out.
 */
static bool put_frame(struct wndl_buf *out, const struct wndl_heap_root *root,
    struct wndl_stack_texts *stacks)
{
    const struct wndl_vec *nodes = &stacks->s->profile->nodes;
    uint32_t node = root->node, leaf;
    put_stack(out, root);
    for (uint32_t i = 0; i < root->callers && node != 0; i++)
        node = ((const struct wndl_node *)wndl_vec_at(nodes, node))->parent;
    if (node == 0)
        return true;
    if (!wndl_stack_texts_of(stacks, node, WNDL_WALK_COMPLETE, &leaf))
        return false;
    const struct wndl_bytes text = wndl_intern_get(
        &stacks->list->strings, wndl_heap_frame_at(stacks->list, leaf)->text);
    wndl_buf_text(out, ", ");
    wndl_buf_add(out, text.data, text.size);
    return true;
}

static bool put_root(struct wndl_buf *out, const struct wndl_heap_root *root,
    struct wndl_stack_texts *stacks)
{
    switch (root->kind) {
    case WNDL_HEAP_ROOT_DATA:
        put_data(out, root);
        break;
    case WNDL_HEAP_ROOT_STACK:
        put_stack(out, root);
        break;
    case WNDL_HEAP_ROOT_FRAME:
        return put_frame(out, root, stacks);
    case WNDL_HEAP_ROOT_REGISTERS:
        wndl_buf_printf(out, "registers of thread %" PRIu64, root->svma);
        break;
    default:
        wndl_buf_text(out, "memory outside the heap");
        break;
    }
    return true;
}

static bool place_roots(struct placing *p)
{
    const struct wndl_heap_graph *g = &p->h->graph;
    struct wndl_buf text;
    wndl_buf_init(&text, p->h->arena.mem);
    bool is_placed = true;
    for (uint32_t i = 0; i < g->root_count && is_placed; i++) {
        wndl_buf_clear(&text);
        is_placed = put_root(&text, &g->roots[i], &p->stacks);
        const struct wndl_bytes bytes = {text.data, text.size};
        is_placed =
            is_placed && !text.failed &&
            wndl_intern_add(&p->h->strings, bytes, &p->places->of_roots[i]);
    }
    wndl_buf_free(&text);
    return is_placed;
}

/* ---- both */

static bool place_all(struct placing *p, const struct wndl_symbolized *s)
{
    bool is_placed = wndl_heap_list_init(&p->list, p->h->arena.mem);
    wndl_arena_init(&p->own.arena, p->h->arena.mem);
    if (is_placed) {
        is_placed = wndl_stack_texts_init(&p->stacks, &p->list, s) &&
                    find_wrappers(p) && place_sites(p) && place_roots(p);
        wndl_stack_texts_free(&p->stacks);
    }
    wndl_own_frames_free(&p->own);
    wndl_heap_list_free(&p->list);
    return is_placed;
}

bool wndl_heap_places_fill(struct wndl_heap_places *places,
    struct wndl_heap_holders *h, const struct wndl_symbolized *s,
    const struct wndl_process_heap *heap)
{
    static const char unknown[] = "(place not known)";
    struct placing placing = {.places = places, .h = h, .heap = heap};
    const struct wndl_bytes text = {
        (const uint8_t *)unknown, sizeof unknown - 1};
    places->of_sites = wndl_arena_calloc(
        &h->arena, heap->sites.len + 1, sizeof *places->of_sites);
    places->of_roots = wndl_arena_calloc(
        &h->arena, (size_t)h->graph.root_count + 1, sizeof *places->of_roots);
    places->codes = wndl_arena_calloc(
        &h->arena, heap->sites.len + 1, sizeof *places->codes);
    return places->of_sites != NULL && places->of_roots != NULL &&
           places->codes != NULL &&
           wndl_intern_add(&h->strings, text, &places->unknown) &&
           place_all(&placing, s);
}
