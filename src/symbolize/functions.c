/* SPDX-License-Identifier: MIT */
/*
 * All functions: those of DWARF under the names that lookups give them, then
 * those symbols that are in none of their ranges; or those of a Breakpad file.
 */
#include "symbolize/symbolizer_impl.h"

#include <stdlib.h>
#include <string.h>

struct listing {
    struct wndl_symbolizer *s;
    struct wndl_vec functions; /* struct wndl_symbol_function */
    struct wndl_vec taken;     /* struct wndl_symbol_range: DWARF's, sorted */
};

static struct wndl_symbol_function *push(struct listing *l, size_t ranges)
{
    struct wndl_symbol_function *function = wndl_vec_push(&l->functions);
    if (function == NULL)
        return NULL;
    function->ranges = wndl_arena_calloc(
        &l->s->arena, ranges, sizeof(struct wndl_symbol_range));
    function->range_count = ranges;
    return function->ranges == NULL ? NULL : function;
}

static bool set_name(struct wndl_symbolizer *s,
    struct wndl_symbol_function *function, struct wndl_bytes name)
{
    function->mangled = name.size == 0 ? "" : (const char *)name.data;
    function->function = wndl_symbolizer_name(s, name);
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
        enum wndl_status status = wndl_symbolizer_symbol(s, start, &symbol);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK || symbol.addr.v != start.v ||
            !wndl_symbolizer_symbol_is_sure(&symbol))
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
    struct listing *l = context;
    struct wndl_symbol_function *function = push(l, from->range_count);
    if (function == NULL)
        return WNDL_NOMEM;
    struct wndl_symbol_range *ranges =
        (struct wndl_symbol_range *)function->ranges;
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

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_symbol_range *a = left;
    const struct wndl_symbol_range *b = right;
    return (a->rva > b->rva) - (a->rva < b->rva);
}

/* Sorted, and those that touch or overlap made one. */
static void merge(struct wndl_vec *taken)
{
    struct wndl_symbol_range *ranges = taken->data;
    size_t kept = 0;
    if (taken->len > 1)
        qsort(ranges, taken->len, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < taken->len; i++) {
        struct wndl_symbol_range *last = &ranges[kept - (kept > 0)];
        uint64_t from_last = ranges[i].rva - last->rva;
        if (kept == 0 || from_last > last->size)
            ranges[kept++] = ranges[i];
        else if (from_last + ranges[i].size > last->size)
            last->size = from_last + ranges[i].size;
    }
    taken->len = kept;
}

bool wndl_symbolizer_is_taken(const struct wndl_vec *taken, uint64_t rva)
{
    size_t low = 0;
    size_t high = taken->len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct wndl_symbol_range *range = wndl_vec_at(taken, mid);
        if (rva - range->rva < range->size)
            return true;
        if (range->rva < rva)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

/* One that lookups answer with: not every symbol of an address is. */
static enum wndl_status add_symbol(
    struct listing *l, const struct wndl_symbol *symbol)
{
    struct wndl_symbol best;
    uint64_t rva = wndl_symbolizer_rva(l->s, symbol->addr).v;
    if (wndl_symbolizer_is_taken(&l->taken, rva))
        return WNDL_OK;
    enum wndl_status status = wndl_symbolizer_symbol(l->s, symbol->addr, &best);
    if (status != WNDL_OK || best.addr.v != symbol->addr.v)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    struct wndl_symbol_function *function = push(l, 1);
    if (function == NULL || !set_name(l->s, function, best.name))
        return WNDL_NOMEM;
    *(struct wndl_symbol_range *)function->ranges =
        (struct wndl_symbol_range){rva, best.size};
    return WNDL_OK;
}

static enum wndl_status add_symbols(struct listing *l)
{
    const struct wndl_symbol *symbols;
    size_t count;
    enum wndl_status status =
        wndl_symbolizer_list_publics(l->s, &l->functions, &l->taken);
    if (status != WNDL_OK)
        return status;
    if (l->s->symbols == NULL)
        return wndl_symbolizer_list_breakpad(l->s, &l->functions);
    status = wndl_object_functions(l->s->symbols, &symbols, &count, NULL);
    if (status == WNDL_NOMEM)
        return status;
    status = WNDL_OK;
    for (size_t i = 0; i < count && status == WNDL_OK; i++)
        if (i == 0 || symbols[i].addr.v != symbols[i - 1].addr.v)
            status = add_symbol(l, &symbols[i]);
    return status;
}

static enum wndl_status add_dwarf(struct listing *l)
{
    struct wndl_dwarf *dwarf = l->s->dwarf;
    size_t units = 0;
    enum wndl_status status =
        dwarf == NULL ? WNDL_OK : wndl_dwarf_unit_count(dwarf, &units);
    for (size_t i = 0; i < units && status == WNDL_OK; i++)
        status = wndl_dwarf_visit_functions(dwarf, i, add_function, l);
    if (status == WNDL_OK && l->s->map != NULL)
        status = wndl_debug_map_visit_functions(l->s->map, add_function, l);
    if (status == WNDL_OK)
        status = wndl_symbolizer_list_pdb(l->s, &l->functions, &l->taken);
    merge(&l->taken);
    return status;
}

static int compare_functions(const void *left, const void *right)
{
    const struct wndl_symbol_function *a = left;
    const struct wndl_symbol_function *b = right;
    int order = compare_ranges(a->ranges, b->ranges);
    return order != 0 ? order : strcmp(a->mangled, b->mangled);
}

/* Sorts. Two units may both have the one copy that the linker kept. */
static void put_in_order(struct wndl_vec *functions)
{
    struct wndl_symbol_function *list = functions->data;
    size_t kept = 0;
    if (functions->len > 1)
        qsort(list, functions->len, sizeof *list, compare_functions);
    for (size_t i = 0; i < functions->len; i++)
        if (kept == 0 || compare_functions(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    functions->len = kept;
}

enum wndl_status wndl_symbolizer_need_functions(struct wndl_symbolizer *s)
{
    struct wndl_arena scratch;
    struct listing l = {.s = s};
    if (s->has_functions)
        return WNDL_OK;
    if (wndl_symbolizer_need_dwarf(s) != WNDL_OK)
        return WNDL_NOMEM;
    wndl_arena_init(&scratch, s->mem);
    wndl_vec_init(&l.taken, &scratch, sizeof(struct wndl_symbol_range));
    wndl_vec_init(&l.functions, &s->arena, sizeof(struct wndl_symbol_function));
    enum wndl_status status = add_dwarf(&l);
    if (status == WNDL_OK)
        status = add_symbols(&l);
    wndl_arena_free(&scratch);
    if (status != WNDL_OK)
        return status;
    put_in_order(&l.functions);
    s->functions = l.functions.data;
    s->function_count = l.functions.len;
    s->has_functions = true;
    return WNDL_OK;
}

enum wndl_status wndl_symbolizer_functions(struct wndl_symbolizer *s,
    const struct wndl_symbol_function **functions, size_t *count,
    struct wndl_error *err)
{
    wndl_symbolizer_lock(s);
    enum wndl_status status = wndl_symbolizer_need_functions(s);
    *functions = status == WNDL_OK ? s->functions : NULL;
    *count = status == WNDL_OK ? s->function_count : 0;
    wndl_symbolizer_unlock(s);
    return status == WNDL_OK ? status : wndl_symbolizer_no_memory(err);
}
