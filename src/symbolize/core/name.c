/* SPDX-License-Identifier: MIT */
/* name: names as people are shown them. */
#include "symbolize/core/symbolizer_impl.h"

#include <string.h>

const char *wndl_symbolizer_name(
    struct wndl_symbolizer *s, struct wndl_bytes name, uint16_t language)
{
    if (name.size == 0)
        return "";
    return s->no_demangle ? (const char *)name.data
                          : wndl_demangle_in(&s->demangler, name, language);
}

const char *wndl_symbolizer_mark(
    struct wndl_symbolizer *s, const char *name, const char *mark)
{
    size_t size = strlen(name), mark_size = strlen(mark) + 1;
    char *marked = wndl_arena_alloc(&s->arena, size + mark_size);
    if (marked == NULL)
        return NULL;
    memcpy(marked, name, size);
    memcpy(marked + size, mark, mark_size);
    return marked;
}
