/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_sites.h"

#include "analyze/heap/alloc_fn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 1024 };

static void format_place(
    const struct wndl_callgraph *g, uint32_t index, char text[PLACE_SIZE])
{
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, place->function);
    const char *name = wndl_intern_text(&g->strings, f->name);
    uint32_t file = place->file == 0 ? f->file : place->file;
    if (file == 0)
        snprintf(text, PLACE_SIZE, "%s (in %s)", name,
            wndl_intern_text(&g->strings, f->object));
    else
        snprintf(text, PLACE_SIZE, "%s (%s:%u)", name,
            wndl_intern_text(&g->strings, file), place->line);
}

bool wndl_vm_site_text(struct wndl_callgraph *g, uint32_t place, uint32_t *id)
{
    char text[PLACE_SIZE];
    format_place(g, place, text);
    return wndl_callgraph_text(g, text, id);
}

/* Whether the place passes a request on to the allocator. */
static bool is_allocator(const struct wndl_callgraph *g, uint32_t place)
{
    char text[PLACE_SIZE];
    const struct wndl_callgraph_function *f = wndl_callgraph_function_at(
        g, wndl_callgraph_place_at(g, place)->function);
    format_place(g, place, text);
    return strstr(wndl_intern_text(&g->strings, f->object), "vgpreload_") !=
               NULL ||
           strcmp(wndl_intern_text(&g->strings, f->name),
               "wndl_heap_on_alloc") == 0 ||
           wndl_heap_alloc_fn(
               (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

struct wndl_vm_site_at wndl_vm_site_place(const struct wndl_vm_places *places,
    const struct wndl_callgraph *g, struct wndl_vm_stack_ips stack, uint32_t up)
{
    struct wndl_vm_site_at site = {0};
    bool is_found = false;
    for (uint32_t i = 0; i < stack.count; i++) {
        const struct wndl_vm_place *at = wndl_vm_place_at(places, stack.ips[i]);
        for (uint32_t j = at->count; j-- > 0;) {
            site.ip = at->ip;
            site.place =
                *(const uint32_t *)wndl_vec_at(&places->places, at->first + j);
            is_found = is_found || !is_allocator(g, site.place);
            if (is_found && up-- == 0)
                return site;
        }
    }
    return site;
}

static void add_site(struct wndl_vm_site *to, const struct wndl_vm_row *from)
{
    to->blocks += from->blocks;
    to->bytes += from->bytes;
    wndl_vm_counts_add(&to->counts, &from->counts);
}

static uint64_t faults_of(const struct wndl_vm_site *site)
{
    return wndl_vm_counts_first(&site->counts) +
           wndl_vm_counts_paging(&site->counts);
}

static int compare_sites(const void *a, const void *b)
{
    const struct wndl_vm_site *x = a, *y = b;
    if (faults_of(x) != faults_of(y))
        return faults_of(x) > faults_of(y) ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* `index` leads from the text's id to the site's number above 0. */
static bool add_row(struct wndl_vec *sites, struct wndl_map *index,
    struct wndl_callgraph *g, uint32_t text, const struct wndl_vm_row *row)
{
    uint64_t *number = wndl_map_put(index, text);
    if (number == NULL)
        return false;
    if (*number == 0) {
        struct wndl_vm_site *site = wndl_vec_push(sites);
        if (site == NULL)
            return false;
        *site =
            (struct wndl_vm_site){.text = wndl_intern_text(&g->strings, text)};
        *number = sites->len;
    }
    add_site(wndl_vec_at(sites, *number - 1), row);
    return true;
}

enum wndl_status wndl_vm_sites_find(struct wndl_vec *sites,
    const struct wndl_vm_places *places, struct wndl_callgraph *g,
    const struct wndl_vm *vm, uint32_t memory)
{
    struct wndl_map index;
    wndl_map_init(&index, &g->arena);
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        uint32_t text;
        if (row->kind != WNDL_VM_SITE || row->memory != memory)
            continue;
        if (!wndl_vm_site_text(g,
                wndl_vm_site_place(places, g,
                    (struct wndl_vm_stack_ips){row->ips, row->ip_count}, 0)
                    .place,
                &text) ||
            !add_row(sites, &index, g, text, row))
            return WNDL_NOMEM;
    }
    if (sites->len != 0)
        qsort(sites->data, sites->len, sites->element, compare_sites);
    return WNDL_OK;
}
