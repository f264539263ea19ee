/* SPDX-License-Identifier: MIT */
/*
 * The places in a piece of code where answers change, for listings of all
 * answers.
 */
#include "symbolize/core/symbolizer_impl.h"
#include "symbolize/symbolizer.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static int compare_places(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

/* In order, each once, and as rvas. */
static void sort_places(
    const struct wndl_symbolizer *s, struct wndl_vec *places)
{
    uint64_t *list = places->data;
    size_t kept = 0;
    if (places->len > 1)
        qsort(list, places->len, sizeof *list, compare_places);
    for (size_t i = 0; i < places->len; i++)
        if (kept == 0 || list[kept - 1] != list[i])
            list[kept++] = list[i];
    places->len = kept;
    for (size_t i = 0; i < kept; i++)
        list[i] = wndl_symbolizer_rva(s, (wndl_svma){list[i]}).v;
}

/* The first place is where the range begins. */
static enum wndl_status find_places(struct wndl_symbolizer *s,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    places->len = 0;
    enum wndl_status status = wndl_symbolizer_need_open(s);
    if (status == WNDL_OK &&
        !wndl_symbolizer_add_place(places, range, range.start.v))
        status = WNDL_NOMEM;
    for (size_t i = 0; i < s->source_count && status == WNDL_OK; i++)
        if (s->sources[i]->changes != NULL)
            status = s->sources[i]->changes(s, range, places);
    if (status == WNDL_OK)
        sort_places(s, places);
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
            section.size > WNDL_MOST_STUBS ||
            section.name.size < sizeof name - 1 ||
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
    enum wndl_status status = find_places(s, svmas, rvas);
    wndl_symbolizer_unlock(s);
    return status;
}
