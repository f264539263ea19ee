/* SPDX-License-Identifier: MIT */
/* source: the operations on all sources of a symbolizer. */
#include "symbolize/core/symbolizer_impl.h"

enum wndl_status wndl_symbolizer_need_open(struct wndl_symbolizer *s)
{
    enum wndl_status status = WNDL_OK;
    if (!s->is_deferred)
        return WNDL_OK;
    for (size_t i = 0; i < s->source_count && status == WNDL_OK; i++)
        if (s->sources[i]->open != NULL)
            status = s->sources[i]->open(s);
    s->is_deferred = status != WNDL_OK;
    return status;
}

void wndl_symbolizer_add_source(
    struct wndl_symbolizer *s, const struct wndl_name_source *source)
{
    s->sources[s->source_count++] = source;
}

bool wndl_symbolizer_add_place(
    struct wndl_vec *places, struct wndl_dwarf_range within, uint64_t address)
{
    if (address < within.start.v || address >= within.end.v)
        return true;
    uint64_t *place = wndl_vec_push(places);
    if (place != NULL)
        *place = address;
    return place != NULL;
}
