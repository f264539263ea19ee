/* SPDX-License-Identifier: MIT */
/* All functions of a binary: those of DWARF under the names that lookups give
 * them, and symbols. */
#include "symbolize/sources/binary.h"

static bool set_name(struct wndl_symbolizer *s,
    struct wndl_symbol_function *function, struct wndl_bytes name)
{
    function->mangled = name.size == 0 ? "" : (const char *)name.data;
    function->function = wndl_symbolizer_name(s, name, function->language);
    return function->function != NULL;
}

/*
 * The symbol at the start of a range, the shortest if there are several: the
 * cold part is named after the hot one.
 */
static enum wndl_status better_name(struct wndl_symbolizer *s,
    const struct wndl_dwarf_function *from, struct wndl_bytes *name)
{
    bool found = false;
    for (size_t i = 0; i < from->range_count; i++) {
        struct wndl_symbol symbol;
        wndl_svma start = from->ranges[i].start;
        enum wndl_status status = wndl_binary_symbol(s, start, &symbol);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK || symbol.addr.v != start.v ||
            !wndl_binary_symbol_is_sure(&symbol))
            continue;
        if (!found || symbol.name.size < name->size)
            *name = symbol.name;
        found = true;
    }
    return WNDL_OK;
}

static enum wndl_status add_function(
    void *context, const struct wndl_dwarf_function *from)
{
    struct wndl_listing *l = context;
    struct wndl_symbol_range *ranges;
    struct wndl_symbol_function *function =
        wndl_listing_push(l, from->range_count, &ranges);
    if (function == NULL)
        return WNDL_NOMEM;
    for (size_t i = 0; i < from->range_count; i++) {
        struct wndl_symbol_range *slot = wndl_vec_push(&l->taken);
        if (slot == NULL)
            return WNDL_NOMEM;
        ranges[i].rva = wndl_symbolizer_rva(l->s, from->ranges[i].start).v;
        ranges[i].size = from->ranges[i].end.v - from->ranges[i].start.v;
        *slot = ranges[i];
    }
    struct wndl_bytes name =
        from->linkage_name.size != 0 ? from->linkage_name : from->name;
    function->language = from->language;
    enum wndl_status status = better_name(l->s, from, &name);
    if (status == WNDL_OK && !set_name(l->s, function, name))
        status = WNDL_NOMEM;
    return status;
}

/*
 * Adds a symbol that lookups answer with: of several at an address, only one.
 */
static enum wndl_status add_symbol(
    struct wndl_listing *l, const struct wndl_symbol *symbol)
{
    struct wndl_symbol best;
    uint64_t rva = wndl_symbolizer_rva(l->s, symbol->addr).v;
    if (wndl_listing_is_taken(l, rva))
        return WNDL_OK;
    enum wndl_status status = wndl_binary_symbol(l->s, symbol->addr, &best);
    if (status != WNDL_OK || best.addr.v != symbol->addr.v)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    struct wndl_symbol_range *range;
    struct wndl_symbol_function *function = wndl_listing_push(l, 1, &range);
    if (function == NULL || !set_name(l->s, function, best.name))
        return WNDL_NOMEM;
    *range = (struct wndl_symbol_range){rva, best.size};
    return WNDL_OK;
}

enum wndl_status wndl_binary_list_symbols(struct wndl_listing *l)
{
    const struct wndl_symbol *symbols;
    size_t count;
    enum wndl_status status =
        wndl_object_functions(l->s->symbols, &symbols, &count, NULL);
    if (status == WNDL_NOMEM)
        return status;
    status = WNDL_OK;
    for (size_t i = 0; i < count && status == WNDL_OK; i++)
        if (i == 0 || symbols[i].addr.v != symbols[i - 1].addr.v)
            status = add_symbol(l, &symbols[i]);
    return status;
}

enum wndl_status wndl_binary_list(struct wndl_listing *l)
{
    struct wndl_dwarf *dwarf = l->s->dwarf;
    size_t units = 0;
    enum wndl_status status =
        dwarf == NULL ? WNDL_OK : wndl_dwarf_unit_count(dwarf, &units);
    for (size_t i = 0; i < units && status == WNDL_OK; i++)
        status = wndl_dwarf_visit_functions(dwarf, i, add_function, l);
    if (status == WNDL_OK && l->s->map != NULL)
        status = wndl_debug_map_visit_functions(l->s->map, add_function, l);
    if (status == WNDL_OK && l->s->go != NULL)
        status = wndl_go_table_visit_functions(l->s->go, add_function, l);
    return status;
}
