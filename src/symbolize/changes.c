/* SPDX-License-Identifier: MIT */
/* Where in a piece of code answers change, for those who want them all. */
#include "symbolize/symbolizer_impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* No linkage table is larger. */
enum { MOST_STUBS = 16 << 20 };

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* In order, each once, and as rvas. */
static void settle(const struct wndl_symbolizer *s, struct wndl_vec *places)
{
    uint64_t *list = places->data;
    size_t kept = 0;
    if (places->len > 1)
        qsort(list, places->len, sizeof *list, compare);
    for (size_t i = 0; i < places->len; i++)
        if (kept == 0 || list[kept - 1] != list[i])
            list[kept++] = list[i];
    places->len = kept;
    for (size_t i = 0; i < kept; i++)
        list[i] = wndl_symbolizer_rva(s, (wndl_svma){list[i]}).v;
}

static bool add(
    struct wndl_vec *places, struct wndl_dwarf_range within, uint64_t address)
{
    if (address < within.start.v || address >= within.end.v)
        return true;
    uint64_t *place = wndl_vec_push(places);
    if (place != NULL)
        *place = address;
    return place != NULL;
}

/* Functions are named after symbols. One that starts before the range may end
 * in it: at most the one before. */
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
        if (!add(places, range, symbols[i].addr.v) ||
            !add(places, range, symbols[i].addr.v + symbols[i].size))
            return WNDL_NOMEM;
    return WNDL_OK;
}

/* A range of stubs is nothing else. */
static enum wndl_status add_stubs(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    struct wndl_symbol stub;
    uint64_t at = range.start.v;
    while (at < range.end.v && at - range.start.v < MOST_STUBS) {
        enum wndl_status status =
            wndl_object_find_plt(s->binary, (wndl_svma){at}, &stub, NULL);
        if (status != WNDL_OK)
            return status == WNDL_NOMEM ? status : WNDL_OK;
        uint64_t end = stub.addr.v + stub.size;
        if (!add(places, range, end))
            return WNDL_NOMEM;
        at = end > at ? end : range.end.v;
    }
    return WNDL_OK;
}

/* It counts from the image base. */
static enum wndl_status add_pdb(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    size_t before = places->len;
    enum wndl_status status =
        wndl_pdb_changes(s->pdb, wndl_symbolizer_rva(s, range.start).v,
            wndl_symbolizer_rva(s, range.end).v, places);
    for (size_t i = before; i < places->len; i++) {
        uint64_t *place = wndl_vec_at(places, i);
        *place = wndl_symbolizer_svma(s, *place).v;
    }
    return status;
}

static enum wndl_status find(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    places->len = 0;
    enum wndl_status status = wndl_symbolizer_need_dwarf(s);
    if (status == WNDL_OK && !add(places, range, range.start.v))
        status = WNDL_NOMEM;
    if (status == WNDL_OK && s->pdb != NULL)
        status = add_pdb(s, range, places);
    if (status == WNDL_OK && s->symbols != NULL)
        status = add_symbols(s, range, places);
    if (status == WNDL_OK && s->dwarf != NULL)
        status = wndl_dwarf_changes(s->dwarf, range, places);
    if (status == WNDL_OK && s->map != NULL)
        status = wndl_debug_map_changes(s->map, range, places);
    if (status == WNDL_OK && s->binary != NULL)
        status = add_stubs(s, range, places);
    if (status == WNDL_OK)
        settle(s, places);
    return status;
}

bool wndl_symbolizer_add_stubs(
    const struct wndl_symbolizer *s, struct wndl_vec *ranges)
{
    static const char name[] = ".plt";
    size_t count = s->binary == NULL ? 0 : wndl_object_section_count(s->binary);
    for (size_t i = 0; i < count; i++) {
        struct wndl_section section = wndl_object_section(s->binary, i);
        if ((section.flags & SHF_EXECINSTR) == 0 || section.size == 0 ||
            section.size > MOST_STUBS || section.name.size < sizeof name - 1 ||
            memcmp(section.name.data, name, sizeof name - 1) != 0)
            continue;
        struct wndl_symbol_range *range = wndl_vec_push(ranges);
        if (range == NULL)
            return false;
        range->rva = wndl_symbolizer_rva(s, section.addr).v;
        range->size = section.size;
    }
    return true;
}

enum wndl_status wndl_symbolizer_changes(struct wndl_symbolizer *s,
    const struct wndl_symbol_range *range, struct wndl_vec *rvas)
{
    wndl_svma start = wndl_symbolizer_svma(s, range->rva);
    struct wndl_dwarf_range svmas = {start, {start.v + range->size}};
    wndl_symbolizer_lock(s);
    enum wndl_status status = find(s, svmas, rvas);
    wndl_symbolizer_unlock(s);
    return status;
}
