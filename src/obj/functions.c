/* SPDX-License-Identifier: MIT */
/*
 * functions: function symbols in the order of their addresses, and a flat
 * list of which one covers what, so that a lookup is one binary search.
 */
#include "obj/object_impl.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/*
 * By address; then typed before untyped, long before short. What is still
 * equal is an alias: the last in the table is taken, as llvm-symbolizer does.
 * Local symbols come first in a table, so they are the last choice.
 */
static int compare_candidates(const void *left, const void *right)
{
    const struct wndl_candidate *a = left;
    const struct wndl_candidate *b = right;
    int by = compare(a->symbol.addr.v, b->symbol.addr.v);
    if (by == 0)
        by = compare(a->symbol.kind, b->symbol.kind);
    if (by == 0)
        by = compare(b->symbol.size, a->symbol.size);
    return by != 0 ? by : compare(b->order, a->order);
}

static uint64_t end_of(const struct wndl_symbol *symbol)
{
    uint64_t end = symbol->addr.v + symbol->size;
    return end < symbol->addr.v ? UINT64_MAX : end;
}

/* Untyped labels inside a typed function are dropped. */
static void drop_inner_labels(struct wndl_vec *candidates)
{
    struct wndl_candidate *all = candidates->data;
    size_t kept = 0;
    uint64_t typed_end = 0;
    for (size_t i = 0; i < candidates->len; i++) {
        const struct wndl_symbol *symbol = &all[i].symbol;
        bool typed = symbol->kind == WNDL_SYMBOL_FUNC;
        if (typed && end_of(symbol) > typed_end)
            typed_end = end_of(symbol);
        if (typed || symbol->addr.v >= typed_end)
            all[kept++] = all[i];
    }
    candidates->len = kept;
}

/* Makes `limit` the end: a function without a size ends where the next one
 * starts, at most where its section does. */
static void settle_ends(struct wndl_vec *candidates)
{
    struct wndl_candidate *all = candidates->data;
    uint64_t next = UINT64_MAX; /* the lowest start above the current one */
    for (size_t i = candidates->len; i-- > 0;) {
        uint64_t start = all[i].symbol.addr.v;
        bool last_of_start =
            i + 1 < candidates->len && all[i + 1].symbol.addr.v != start;
        if (last_of_start)
            next = all[i + 1].symbol.addr.v;
        if (all[i].symbol.size != 0)
            all[i].limit = end_of(&all[i].symbol);
        else if (all[i].limit > next)
            all[i].limit = next;
    }
}

/*
 * The sweep over starts. `open` are the functions that began at or before the
 * current address, the one with the highest start on top; those that ended
 * are popped when they surface.
 */
struct sweep {
    const struct wndl_candidate *all;
    size_t count;
    uint32_t *open;
    size_t depth;
    struct wndl_functions *out;
};

static void emit(struct sweep *sweep, uint64_t start, uint32_t function)
{
    struct wndl_functions *out = sweep->out;
    struct wndl_cover *last =
        out->cover_count == 0 ? NULL : &out->covers[out->cover_count - 1];
    if (last != NULL && last->function == function)
        return;
    if (last != NULL && last->start == start) {
        last->function = function;
        return;
    }
    out->covers[out->cover_count++] = (struct wndl_cover){start, function};
}

/* Emits what covers [at, next) once nothing new starts in between. */
static void close_until(struct sweep *sweep, uint64_t at, uint64_t next)
{
    while (at < next) {
        while (sweep->depth > 0 &&
               sweep->all[sweep->open[sweep->depth - 1]].limit <= at)
            sweep->depth--;
        if (sweep->depth == 0) {
            emit(sweep, at, WNDL_COVER_NONE);
            return;
        }
        uint32_t top = sweep->open[sweep->depth - 1];
        emit(sweep, at, top);
        at = sweep->all[top].limit;
    }
}

static void sweep_all(struct sweep *sweep)
{
    size_t i = 0;
    while (i < sweep->count) {
        uint64_t at = sweep->all[i].symbol.addr.v;
        size_t end = i;
        while (end < sweep->count && sweep->all[end].symbol.addr.v == at)
            end++;
        /* The first of equal starts is the one wanted: it goes on top. */
        for (size_t j = end; j > i; j--)
            sweep->open[sweep->depth++] = (uint32_t)(j - 1);
        uint64_t next =
            end < sweep->count ? sweep->all[end].symbol.addr.v : UINT64_MAX;
        close_until(sweep, at, next);
        i = end;
    }
}

static bool build_covers(
    struct wndl_object *object, const struct wndl_vec *candidates)
{
    struct wndl_functions *out = &object->functions;
    size_t count = candidates->len;
    /* Each start and each end begins at most one stretch. */
    out->covers =
        wndl_arena_calloc(&object->arena, count * 2 + 1, sizeof *out->covers);
    uint32_t *open =
        wndl_arena_calloc(candidates->arena, count + 1, sizeof *open);
    if (out->covers == NULL || open == NULL)
        return false;
    struct sweep sweep = {candidates->data, count, open, 0, out};
    sweep_all(&sweep);
    return true;
}

bool wndl_functions_build(
    struct wndl_object *object, struct wndl_vec *candidates)
{
    struct wndl_functions *out = &object->functions;
    if (candidates->len != 0)
        qsort(candidates->data, candidates->len, candidates->element,
            compare_candidates);
    drop_inner_labels(candidates);
    settle_ends(candidates);
    out->functions = wndl_arena_calloc(
        &object->arena, candidates->len, sizeof *out->functions);
    if (out->functions == NULL)
        return false;
    const struct wndl_candidate *all = candidates->data;
    for (size_t i = 0; i < candidates->len; i++)
        out->functions[i] = all[i].symbol;
    out->function_count = candidates->len;
    return build_covers(object, candidates);
}

const struct wndl_symbol *wndl_functions_find(
    const struct wndl_functions *functions, wndl_svma addr)
{
    size_t low = 0;
    size_t high = functions->cover_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->covers[middle].start <= addr.v)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    uint32_t function = functions->covers[low - 1].function;
    return function == WNDL_COVER_NONE ? NULL : &functions->functions[function];
}
