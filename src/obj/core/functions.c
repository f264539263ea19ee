/* SPDX-License-Identifier: MIT */
/*
 * functions: function symbols in the order of their addresses, and a flat list
 * of the one that covers each address, so that a lookup is one binary search.
 * It is often made for a few lookups only, so it needs little memory and reads
 * no names.
 */
#include "base/search.h"
#include "obj/core/object_impl.h"

#include <stdlib.h>
#include <string.h>

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t size_of(const struct wndl_function *f)
{
    return f->has_size ? f->end - f->start : 0;
}

/*
 * Order at one address: typed before untyped, long before short. Equal ones are
 * aliases: the last in the table is used, as llvm-symbolizer does. Local
 * symbols come first in a table, so they are the last choice.
 */
static int compare_rivals(const void *left, const void *right)
{
    const struct wndl_function *a = left;
    const struct wndl_function *b = right;
    int by = compare_u64(a->kind, b->kind);
    if (by == 0)
        by = compare_u64(size_of(b), size_of(a));
    return by != 0 ? by : compare_u64(b->order, a->order);
}

/*
 * Sorts by digits of addresses, and skips digits that are the same in all
 * functions.
 */
enum { DIGIT = 11, DIGITS = 1 << DIGIT };

static unsigned digit_of(const struct wndl_function *f, unsigned shift)
{
    return (unsigned)(f->start >> shift) & (DIGITS - 1);
}

static void sort_by_digit(const struct wndl_function *from, size_t count,
    unsigned shift, struct wndl_function *to)
{
    size_t at[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        at[digit_of(&from[i], shift)]++;
    size_t sum = 0;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        size_t here = at[digit];
        at[digit] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[at[digit_of(&from[i], shift)]++] = from[i];
}

/* Sorts by address into `to`; the contents of `from` are lost. */
static void sort_by_start(
    struct wndl_function *from, size_t count, struct wndl_function *to)
{
    struct wndl_function *in = from, *out = to;
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++)
        differ |= from[i].start ^ from[0].start;
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(in, count, shift, out);
        struct wndl_function *sorted = out;
        out = in;
        in = sorted;
    }
    if (in != to && count != 0)
        memcpy(to, in, count * sizeof *to);
}

static void sort_rivals(struct wndl_function *list, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && list[end].start == list[i].start)
            end++;
        if (end - i > 1)
            qsort(&list[i], end - i, sizeof *list, compare_rivals);
    }
}

/*
 * Drops untyped labels inside a typed function. Returns the number that stay.
 */
static size_t drop_inner_labels(struct wndl_function *list, size_t count)
{
    size_t kept = 0;
    uint64_t typed_end = 0;
    for (size_t i = 0; i < count; i++) {
        bool typed = list[i].kind == WNDL_SYMBOL_FUNC;
        uint64_t end = list[i].has_size ? list[i].end : list[i].start;
        if (typed && end > typed_end)
            typed_end = end;
        if (typed || list[i].start >= typed_end)
            list[kept++] = list[i];
    }
    return kept;
}

/* A function without a size ends where the next one starts, at most where its
 * section does. */
static void settle_ends(struct wndl_function *list, size_t count)
{
    uint64_t next = UINT64_MAX; /* the lowest start above the current one */
    for (size_t i = count; i-- > 0;) {
        if (i + 1 < count && list[i + 1].start != list[i].start)
            next = list[i + 1].start;
        if (!list[i].has_size && list[i].end > next)
            list[i].end = next;
    }
}

/*
 * The sweep over starts. `open` are the functions that began at or before the
 * current address, the one with the highest start on top; those that ended
 * are popped when they surface.
 */
struct sweep {
    const struct wndl_function *all;
    size_t count;
    uint32_t *open;
    size_t depth;
    struct wndl_vec covers; /* struct wndl_cover */
};

static bool emit(struct sweep *sweep, uint64_t start, uint32_t function)
{
    struct wndl_vec *covers = &sweep->covers;
    struct wndl_cover *last =
        covers->len == 0 ? NULL : wndl_vec_at(covers, covers->len - 1);
    if (last != NULL && last->function == function)
        return true;
    if (last == NULL || last->start != start)
        last = wndl_vec_push(covers);
    if (last != NULL)
        *last = (struct wndl_cover){start, function};
    return last != NULL;
}

/* Emits the covers of [at, next), where nothing new starts. */
static bool close_until(struct sweep *sweep, uint64_t at, uint64_t next)
{
    while (at < next) {
        while (sweep->depth > 0 &&
               sweep->all[sweep->open[sweep->depth - 1]].end <= at)
            sweep->depth--;
        if (sweep->depth == 0)
            return true;
        uint32_t top = sweep->open[sweep->depth - 1];
        if (!emit(sweep, at, top))
            return false;
        at = sweep->all[top].end;
    }
    return true;
}

static bool sweep_all(struct sweep *sweep)
{
    size_t i = 0;
    while (i < sweep->count) {
        uint64_t at = sweep->all[i].start;
        size_t end = i;
        while (end < sweep->count && sweep->all[end].start == at)
            end++;
        /* The first of equal starts is the best one: it goes on top. */
        for (size_t j = end; j > i; j--)
            sweep->open[sweep->depth++] = (uint32_t)(j - 1);
        uint64_t next = end < sweep->count ? sweep->all[end].start : UINT64_MAX;
        if (!close_until(sweep, at, next))
            return false;
        i = end;
    }
    return true;
}

static bool build_covers(struct wndl_object *object, struct wndl_arena *scratch)
{
    struct wndl_functions *out = &object->functions;
    struct sweep sweep = {.all = out->list, .count = out->count};
    sweep.open = wndl_arena_calloc(scratch, out->count + 1, sizeof *sweep.open);
    wndl_vec_init(&sweep.covers, &object->arena, sizeof(struct wndl_cover));
    if (sweep.open == NULL || !sweep_all(&sweep))
        return false;
    out->covers = sweep.covers.data;
    out->cover_count = sweep.covers.len;
    return true;
}

bool wndl_functions_build(struct wndl_object *object, struct wndl_vec *read)
{
    struct wndl_functions *out = &object->functions;
    out->list = wndl_arena_calloc(&object->arena, read->len, sizeof *out->list);
    if (out->list == NULL)
        return false;
    sort_by_start(read->data, read->len, out->list);
    sort_rivals(out->list, read->len);
    out->count = drop_inner_labels(out->list, read->len);
    settle_ends(out->list, out->count);
    return build_covers(object, read->arena);
}

static struct wndl_symbol symbol_of(const struct wndl_function *f)
{
    return (struct wndl_symbol){
        .name = wndl_object_ended_name(f->name),
        .addr = {f->start},
        .size = size_of(f),
        .kind = f->kind,
        .binding = f->binding,
        .has_end = f->has_size && !f->is_open,
    };
}

bool wndl_functions_find(const struct wndl_functions *functions, wndl_svma addr,
    struct wndl_symbol *symbol)
{
    const void *starts = functions->covers;
    size_t at = wndl_search_up_to(
        starts, sizeof *functions->covers, functions->cover_count, addr.v);
    if (at == 0)
        return false;
    const struct wndl_function *found =
        &functions->list[functions->covers[at - 1].function];
    if (addr.v >= found->end)
        return false;
    *symbol = symbol_of(found);
    return symbol->name.size != 0; /* it is when it is too long */
}

bool wndl_functions_spell_out(struct wndl_object *object)
{
    struct wndl_functions *functions = &object->functions;
    if (functions->symbols != NULL)
        return true;
    struct wndl_symbol *symbols =
        wndl_arena_calloc(&object->arena, functions->count, sizeof *symbols);
    if (symbols == NULL)
        return false;
    for (size_t i = 0; i < functions->count; i++)
        symbols[i] = symbol_of(&functions->list[i]);
    functions->symbols = symbols;
    return true;
}
