/* SPDX-License-Identifier: MIT */
/* The places where a binary's answers change: by symbols, DWARF and stubs. */
#include "symbolize/sources/binary.h"

/*
 * Functions are named after symbols. A symbol that starts before the range may
 * end in it: at most the one before.
 */
static enum wndl_status add_symbols(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    const struct wndl_symbol *symbols;
    size_t high;
    enum wndl_status status =
        wndl_object_functions(s->symbols, &symbols, &high, NULL);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    size_t count = high;
    size_t low = 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (symbols[mid].addr.v < range.start.v)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low - (low > 0);
         i < count && symbols[i].addr.v < range.end.v; i++)
        if (!wndl_symbolizer_add_place(places, range, symbols[i].addr.v) ||
            !wndl_symbolizer_add_place(
                places, range, symbols[i].addr.v + symbols[i].size))
            return WNDL_NOMEM;
    return WNDL_OK;
}

/* A range of stubs is nothing else. */
static enum wndl_status add_stubs(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    struct wndl_symbol stub;
    uint64_t at = range.start.v;
    while (at < range.end.v && at - range.start.v < WNDL_MOST_STUBS) {
        enum wndl_status status =
            wndl_object_find_plt(s->binary, (wndl_svma){at}, &stub, NULL);
        if (status != WNDL_OK)
            return status == WNDL_NOMEM ? status : WNDL_OK;
        uint64_t end = stub.addr.v + stub.size;
        if (!wndl_symbolizer_add_place(places, range, end))
            return WNDL_NOMEM;
        at = end > at ? end : range.end.v;
    }
    return WNDL_OK;
}

enum wndl_status wndl_binary_changes(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    enum wndl_status status = add_symbols(s, range, places);
    if (status == WNDL_OK && s->dwarf != NULL)
        status = wndl_dwarf_changes(s->dwarf, range, places);
    if (status == WNDL_OK && s->map != NULL)
        status = wndl_debug_map_changes(s->map, range, places);
    if (status == WNDL_OK && s->go != NULL)
        status = wndl_go_table_changes(s->go, range, places);
    return status == WNDL_OK ? add_stubs(s, range, places) : status;
}
