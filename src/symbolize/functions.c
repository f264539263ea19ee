/* SPDX-License-Identifier: MIT */
/*
 * All functions: first those whose ranges the sources know, under the names
 * that lookups give them, then symbols outside of these.
 */
#include "symbolize/core/symbolizer_impl.h"

#include <stdlib.h>
#include <string.h>

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_symbol_range *a = left;
    const struct wndl_symbol_range *b = right;
    return (a->rva > b->rva) - (a->rva < b->rva);
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

/*
 * Among equal functions the first in the list is kept, which is that of the
 * last source.
 */
static enum wndl_status list_all(struct wndl_listing *l)
{
    struct wndl_symbolizer *s = l->s;
    enum wndl_status status = WNDL_OK;
    for (size_t i = s->source_count; i-- > 0 && status == WNDL_OK;)
        status = s->sources[i]->list(l);
    wndl_listing_merge(l);
    for (size_t i = 0; i < s->source_count && status == WNDL_OK; i++)
        if (s->sources[i]->list_rest != NULL)
            status = s->sources[i]->list_rest(l);
    return status;
}

enum wndl_status wndl_symbolizer_need_functions(struct wndl_symbolizer *s)
{
    struct wndl_arena scratch;
    struct wndl_listing l = {.s = s};
    if (s->has_functions)
        return WNDL_OK;
    if (wndl_symbolizer_need_open(s) != WNDL_OK)
        return WNDL_NOMEM;
    wndl_arena_init(&scratch, s->mem);
    wndl_vec_init(&l.taken, &scratch, sizeof(struct wndl_symbol_range));
    wndl_vec_init(&l.functions, &s->arena, sizeof(struct wndl_symbol_function));
    enum wndl_status status = list_all(&l);
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
