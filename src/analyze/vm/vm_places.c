/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_places.h"

#include "analyze/vm/vm_code.h"
#include "base/search.h"
#include "model/graph_stack.h"

#include <stdlib.h>
#include <string.h>

struct work {
    struct wndl_vm_places *places;
    struct wndl_callgraph *g;
    const struct wndl_symbol_sources *sources;
    struct wndl_mem *mem;
};

/* ---- addresses */

static bool add_address(struct wndl_vec *addresses, uint64_t ip)
{
    struct wndl_vm_place *to = wndl_vec_push(addresses);
    if (to != NULL)
        *to = (struct wndl_vm_place){.ip = ip};
    return to != NULL;
}

static bool add_addresses(
    struct wndl_vec *addresses, const uint64_t *ips, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!add_address(addresses, ips[i]))
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
    struct wndl_vec *addresses, const struct wndl_vm *vm)
{
    for (size_t i = 0; i < vm->ran.len; i++) {
        const struct wndl_vm_ran *ran = wndl_vec_at(&vm->ran, i);
        if (!add_address(addresses, ran->ip))
            return false;
    }
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (!add_addresses(addresses, row->ips, row->ip_count))
            return false;
    }
    if (addresses->len != 0)
        qsort(addresses->data, addresses->len, addresses->element,
            compare_addresses);
    keep_distinct(addresses);
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

static bool add_unnamed(
    struct work *w, struct wndl_vm_place *address, const char *path)
{
    static const uint8_t unnamed[] = "???";
    const struct wndl_graph_frame frame = {
        .name = {unnamed, 3},
        .object = {(const uint8_t *)path, strlen(path)},
    };
    return add_place(w, address, &frame);
}

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
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

static bool look_up(struct work *w, struct wndl_vm_place *list, size_t count,
    const struct wndl_vm_code *code)
{
    uint64_t bias;
    struct wndl_symbolizer *symbols =
        wndl_vm_code_open(code, w->sources, w->mem, &bias);
    if (symbols == NULL)
        return true;
    uint64_t *rvas = wndl_mem_zalloc(w->mem, count * sizeof *rvas);
    struct wndl_symbols *answers =
        wndl_mem_zalloc(w->mem, count * sizeof *answers);
    bool whole = rvas != NULL && answers != NULL;
    for (size_t i = 0; whole && i < count; i++)
        rvas[i] = list[i].ip + bias;
    whole = whole && wndl_symbolizer_lookup_batch(
                         symbols, rvas, count, answers, NULL) != WNDL_NOMEM;
    for (size_t i = 0; whole && i < count; i++)
        whole = add_named(w, &list[i], &answers[i], code->path);
    wndl_mem_free(w->mem, rvas);
    wndl_mem_free(w->mem, answers);
    wndl_symbolizer_close(symbols);
    return whole;
}

static bool name_rest(
    struct work *w, struct wndl_vm_place *list, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].count == 0 && !add_unnamed(w, &list[i], path))
            return false;
    return true;
}

/* Code that was mapped later replaces earlier code at its addresses. */
static bool name_code(struct work *w, const struct wndl_vm_code *code)
{
    struct wndl_vm_place *list = w->places->addresses.data;
    const size_t all = w->places->addresses.len;
    size_t from = code->start == 0 ? 0
                                   : wndl_search_up_to(&list->ip, sizeof *list,
                                         all, code->start - 1);
    size_t to = code->end == 0 ? 0
                               : wndl_search_up_to(&list->ip, sizeof *list, all,
                                     code->end - 1);
    while (from < to && list[from].count != 0)
        from++;
    if (from >= to)
        return true;
    return look_up(w, list + from, to - from, code) &&
           name_rest(w, list + from, to - from, code->path);
}

enum wndl_status wndl_vm_find_places(struct wndl_vm_places *places,
    struct wndl_callgraph *g, const struct wndl_vm *vm,
    const struct wndl_symbol_sources *sources)
{
    struct work w = {places, g, sources, g->arena.mem};
    wndl_vec_init(&places->addresses, &g->arena, sizeof(struct wndl_vm_place));
    wndl_vec_init(&places->places, &g->arena, sizeof(uint32_t));
    if (!collect_addresses(&places->addresses, vm))
        return WNDL_NOMEM;
    for (size_t i = vm->code.len; i-- > 0;)
        if (!name_code(&w, wndl_vec_at(&vm->code, i)))
            return WNDL_NOMEM;
    return name_rest(&w, places->addresses.data, places->addresses.len, "")
               ? WNDL_OK
               : WNDL_NOMEM;
}
