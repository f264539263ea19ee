/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_places.h"

#include "analyze/names/extents.h"
#include "analyze/vm/vm_code.h"
#include "analyze/vm/vm_code_map.h"
#include "base/search.h"
#include "model/graph_stack.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct wndl_vm_places *places;
    struct wndl_callgraph *g;
    const struct wndl_symbol_sources *sources;
    struct wndl_mem *mem;
};

/* ---- addresses */

void wndl_vm_places_init(
    struct wndl_vm_places *places, struct wndl_callgraph *g)
{
    wndl_vec_init(&places->addresses, &g->arena, sizeof(struct wndl_vm_place));
    wndl_vec_init(&places->places, &g->arena, sizeof(uint32_t));
}

bool wndl_vm_places_add(struct wndl_vm_places *places, uint64_t ip)
{
    struct wndl_vm_place *to = wndl_vec_push(&places->addresses);
    if (to != NULL)
        *to = (struct wndl_vm_place){.ip = ip};
    return to != NULL;
}

static bool add_addresses(
    struct wndl_vm_places *places, const uint64_t *ips, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!wndl_vm_places_add(places, ips[i]))
            return false;
    return true;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct wndl_vm_place *x = a, *y = b;
    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void keep_distinct(struct wndl_vec *addresses)
{
    size_t kept = 0;
    struct wndl_vm_place *list = addresses->data;
    for (size_t i = 0; i < addresses->len; i++)
        if (kept == 0 || list[kept - 1].ip != list[i].ip)
            list[kept++] = list[i];
    addresses->len = kept;
}

static bool collect_addresses(
    struct wndl_vm_places *places, const struct wndl_vm *vm)
{
    for (size_t i = 0; i < vm->ran.len; i++) {
        const struct wndl_vm_ran *ran = wndl_vec_at(&vm->ran, i);
        if (!wndl_vm_places_add(places, ran->ip))
            return false;
    }
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (!add_addresses(places, row->ips, row->ip_count))
            return false;
    }
    return true;
}

const struct wndl_vm_place *wndl_vm_place_at(
    const struct wndl_vm_places *places, uint64_t ip)
{
    const struct wndl_vm_place *list = places->addresses.data;
    size_t index =
        wndl_search_up_to(&list->ip, sizeof *list, places->addresses.len, ip);
    return &list[index - 1];
}

uint32_t wndl_vm_place_innermost(
    const struct wndl_vm_places *places, uint64_t ip)
{
    const struct wndl_vm_place *at = wndl_vm_place_at(places, ip);
    return *(const uint32_t *)wndl_vec_at(
        &places->places, at->first + at->count - 1);
}

/* ---- places */

static bool add_place(struct work *w, struct wndl_vm_place *address,
    const struct wndl_graph_frame *frame)
{
    uint32_t *to = wndl_vec_push(&w->places->places);
    if (to == NULL || !wndl_graph_place_of(w->g, frame, to))
        return false;
    if (address->count++ == 0)
        address->first = (uint32_t)(w->places->places.len - 1);
    return true;
}

/* "libc.so.6+0x1234" by the start of the function, else "???". */
static void unnamed_text(const struct wndl_extents *extents, uint64_t rva,
    const char *path, char text[PATH_MAX + 32])
{
    wndl_rva start;
    const char *slash = strrchr(path, '/');
    if (extents != NULL && wndl_extents_find(extents, (wndl_rva){rva}, &start))
        snprintf(text, PATH_MAX + 32, "%s+0x%" PRIx64,
            slash == NULL ? path : slash + 1, start.v);
    else
        snprintf(text, PATH_MAX + 32, "???");
}

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static bool add_unnamed(struct work *w, struct wndl_vm_place *address,
    const struct wndl_extents *extents, uint64_t rva, const char *path)
{
    char text[PATH_MAX + 32];
    unnamed_text(extents, rva, path, text);
    const struct wndl_graph_frame frame = {
        .name = bytes_of(text),
        .object = bytes_of(path),
    };
    return add_place(w, address, &frame);
}

/* Frames of an answer are innermost first; those of a graph outermost. */
static bool add_named(struct work *w, struct wndl_vm_place *address,
    const struct wndl_symbols *answer, const char *path)
{
    for (size_t i = answer->count; i-- > 0;) {
        const struct wndl_symbol_frame *from = &answer->frames[i];
        const struct wndl_graph_frame frame = {
            .name = bytes_of(from->function),
            .file = bytes_of(from->file),
            .object = bytes_of(path),
            .line = from->line,
        };
        if (from->function[0] != '\0' && !add_place(w, address, &frame))
            return false;
    }
    return true;
}

/* ---- code of files */

/* Addresses in a row, and the code that they are in. */
struct stretch {
    struct wndl_vm_place *list;
    size_t count;
    const struct wndl_vm_code *code;
    uint64_t to_rva;
};

static bool look_up(struct work *w, const struct stretch *s)
{
    struct wndl_symbolizer *symbols =
        wndl_vm_code_open(s->code, w->sources, w->mem);
    if (symbols == NULL)
        return true;
    uint64_t *rvas = wndl_mem_zalloc(w->mem, s->count * sizeof *rvas);
    struct wndl_symbols *answers =
        wndl_mem_zalloc(w->mem, s->count * sizeof *answers);
    bool whole = rvas != NULL && answers != NULL;
    for (size_t i = 0; whole && i < s->count; i++)
        rvas[i] = s->list[i].ip + s->to_rva;
    whole = whole && wndl_symbolizer_lookup_batch(
                         symbols, rvas, s->count, answers, NULL) != WNDL_NOMEM;
    for (size_t i = 0; whole && i < s->count; i++)
        whole = add_named(w, &s->list[i], &answers[i], s->code->path);
    wndl_mem_free(w->mem, rvas);
    wndl_mem_free(w->mem, answers);
    wndl_symbolizer_close(symbols);
    return whole;
}

static bool name_by_extents(struct work *w, const struct stretch *s)
{
    struct wndl_extents extents;
    bool whole = true;
    wndl_extents_open(&extents, s->code->path, w->mem);
    for (size_t i = 0; whole && i < s->count; i++)
        if (s->list[i].count == 0)
            whole = add_unnamed(w, &s->list[i], &extents,
                s->list[i].ip + s->to_rva, s->code->path);
    wndl_extents_close(&extents);
    return whole;
}

static bool name_rest(
    struct work *w, struct wndl_vm_place *list, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].count == 0 &&
            !add_unnamed(w, &list[i], NULL, list[i].ip, path))
            return false;
    return true;
}

/* The number of addresses below `end`. */
static size_t count_below(const struct wndl_vec *addresses, uint64_t end)
{
    const struct wndl_vm_place *list = addresses->data;
    return end == 0 ? 0
                    : wndl_search_up_to(
                          &list->ip, sizeof *list, addresses->len, end - 1);
}

static bool name_piece(struct work *w, const struct wndl_vm_code *code,
    const struct wndl_vm_piece *piece)
{
    struct wndl_vm_place *list = w->places->addresses.data;
    struct wndl_vm_code_place place;
    const size_t from = count_below(&w->places->addresses, piece->start);
    const size_t to = count_below(&w->places->addresses, piece->end);
    if (from == to)
        return true;
    struct stretch s = {list + from, to - from, code, 0};
    if (!wndl_vm_code_place(code, w->mem, &place))
        return name_rest(w, s.list, s.count, code->path);
    s.to_rva = place.to_rva;
    return look_up(w, &s) && name_by_extents(w, &s);
}

static bool name_pieces(struct work *w, const struct wndl_vec *codes)
{
    struct wndl_vm_code_map map;
    if (!wndl_vm_code_map_fill(&map, &w->g->arena, codes))
        return false;
    for (size_t i = 0; i < map.pieces.len; i++) {
        const struct wndl_vm_piece *piece = wndl_vec_at(&map.pieces, i);
        if (!name_piece(w, wndl_vec_at(codes, piece->code), piece))
            return false;
    }
    return name_rest(
        w, w->places->addresses.data, w->places->addresses.len, "");
}

enum wndl_status wndl_vm_places_name(struct wndl_vm_places *places,
    struct wndl_callgraph *g, const struct wndl_vec *codes,
    const struct wndl_symbol_sources *sources)
{
    struct work w = {places, g, sources, g->arena.mem};
    struct wndl_vec *addresses = &places->addresses;
    if (addresses->len != 0)
        qsort(addresses->data, addresses->len, addresses->element,
            compare_addresses);
    keep_distinct(addresses);
    return name_pieces(&w, codes) ? WNDL_OK : WNDL_NOMEM;
}

enum wndl_status wndl_vm_find_places(struct wndl_vm_places *places,
    struct wndl_callgraph *g, const struct wndl_vm *vm,
    const struct wndl_symbol_sources *sources)
{
    wndl_vm_places_init(places, g);
    return collect_addresses(places, vm)
               ? wndl_vm_places_name(places, g, &vm->code, sources)
               : WNDL_NOMEM;
}
