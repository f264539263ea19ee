/* SPDX-License-Identifier: MIT */
/* One address: the kept answer, or that of the sources of names. */
#include "symbolize/core/symbolizer_impl.h"

static bool has_file(const struct wndl_symbols *answer)
{
    return answer->count != 0 && answer->frames[0].file[0] != '\0';
}

/*
 * A program may have a PDB file for some of its code and DWARF for the rest:
 * the answer with lines is the best.
 */
static enum wndl_status ask_sources(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    struct wndl_symbols first = {0};
    for (size_t i = 0; i < s->source_count; i++) {
        *answer = (struct wndl_symbols){0};
        enum wndl_status status = s->sources[i]->resolve(s, arena, rva, answer);
        if (status != WNDL_OK || has_file(answer))
            return status;
        if (first.count == 0)
            first = *answer;
    }
    *answer = first;
    return WNDL_OK;
}

enum wndl_status wndl_symbolizer_resolve(struct wndl_symbolizer *s,
    struct wndl_arena *arena, uint64_t rva, struct wndl_symbols *answer)
{
    *answer = (struct wndl_symbols){0};
    enum wndl_status status = wndl_symbolizer_recall(s, arena, rva, answer);
    return status == WNDL_NOT_FOUND ? ask_sources(s, arena, rva, answer)
                                    : status;
}
