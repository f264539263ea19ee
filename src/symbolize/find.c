/* SPDX-License-Identifier: MIT */
/*
 * From a name to the functions that have it. There are two tables, each made
 * when a name is in no earlier one. The first, of the names in the symbol
 * table, costs little; the second needs all debug information and a demangled
 * name for each.
 */
#include "symbolize/core/symbolizer_impl.h"

#include <stdlib.h>
#include <string.h>

struct named {
    const char *name;
    struct wndl_symbol_range range;
};

/* Entries of a table that is being made. */
struct making {
    struct wndl_symbolizer *s;
    struct wndl_vec entries; /* struct named */
};

static bool add_name(
    struct making *m, const char *name, uint64_t rva, uint64_t size)
{
    if (name[0] == '\0')
        return true;
    struct named *entry = wndl_vec_push(&m->entries);
    if (entry == NULL)
        return false;
    *entry = (struct named){name, {rva, size}};
    return true;
}

static enum wndl_status add_symbols(struct making *m, bool demangled)
{
    const struct wndl_symbol *symbols;
    size_t count;
    struct wndl_error err = {0};
    if (m->s->symbols == NULL)
        return WNDL_OK;
    if (wndl_object_functions(m->s->symbols, &symbols, &count, &err) ==
        WNDL_NOMEM)
        return WNDL_NOMEM;
    for (size_t i = 0; i < count; i++) {
        struct wndl_bytes mangled = symbols[i].name;
        const char *name = mangled.size == 0 ? "" : (const char *)mangled.data;
        if (demangled)
            name = wndl_demangle(&m->s->demangler, mangled);
        uint64_t rva = wndl_symbolizer_rva(m->s, symbols[i].addr).v;
        if (name == NULL || !add_name(m, name, rva, symbols[i].size))
            return WNDL_NOMEM;
    }
    return WNDL_OK;
}

static enum wndl_status add_functions(struct making *m)
{
    enum wndl_status status = wndl_symbolizer_need_functions(m->s);
    if (status != WNDL_OK)
        return status;
    for (size_t i = 0; i < m->s->function_count; i++) {
        const struct wndl_symbol_function *f = &m->s->functions[i];
        struct wndl_symbol_range at = f->ranges[0];
        struct wndl_bytes mangled = {
            (const uint8_t *)f->mangled, strlen(f->mangled)};
        const char *demangled =
            wndl_demangle_in(&m->s->demangler, mangled, f->language);
        if (demangled == NULL || !add_name(m, f->mangled, at.rva, at.size) ||
            !add_name(m, demangled, at.rva, at.size))
            return WNDL_NOMEM;
    }
    return WNDL_OK;
}

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    return (a->range.rva > b->range.rva) - (a->range.rva < b->range.rva);
}

/* Keeps each pair of name and address once. */
static size_t without_doubles(struct named *entries, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_names(&entries[kept - 1], &entries[i]) != 0)
            entries[kept++] = entries[i];
    return kept;
}

static enum wndl_status keep_table(
    struct making *m, struct wndl_name_table *table)
{
    struct named *entries = m->entries.data;
    if (m->entries.len > 1)
        qsort(entries, m->entries.len, sizeof *entries, compare_names);
    size_t count = without_doubles(entries, m->entries.len);
    struct wndl_arena *arena = &m->s->arena;
    table->names = wndl_arena_calloc(arena, count, sizeof *table->names);
    table->ranges = wndl_arena_calloc(arena, count, sizeof *table->ranges);
    if (table->names == NULL || table->ranges == NULL)
        return WNDL_NOMEM;
    for (size_t i = 0; i < count; i++) {
        table->names[i] = entries[i].name;
        table->ranges[i] = entries[i].range;
    }
    table->count = count;
    table->is_made = true;
    return WNDL_OK;
}

static enum wndl_status make_table(struct wndl_symbolizer *s, unsigned which)
{
    struct wndl_arena scratch;
    struct making m = {.s = s};
    if (s->names[which].is_made)
        return WNDL_OK;
    wndl_arena_init(&scratch, s->mem);
    wndl_vec_init(&m.entries, &scratch, sizeof(struct named));
    enum wndl_status status = add_symbols(&m, which == WNDL_NAMES_OTHER);
    if (status == WNDL_OK && which == WNDL_NAMES_OTHER)
        status = add_functions(&m);
    if (status == WNDL_OK)
        status = keep_table(&m, &s->names[which]);
    wndl_arena_free(&scratch);
    return status;
}

/* The number of functions from *first on with this name. */
static size_t find_in(
    const struct wndl_name_table *table, const char *name, size_t *first)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(table->names[mid], name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    size_t count = 0;
    while (low + count < table->count &&
           strcmp(table->names[low + count], name) == 0)
        count++;
    *first = low;
    return count;
}

static enum wndl_status find_functions(struct wndl_symbolizer *s,
    const char *name, const struct wndl_symbol_range **found, size_t *count)
{
    for (unsigned which = 0; which < WNDL_NAME_TABLES; which++) {
        enum wndl_status status = make_table(s, which);
        if (status != WNDL_OK)
            return status;
        size_t first;
        *count = find_in(&s->names[which], name, &first);
        *found = s->names[which].ranges + first;
        if (*count != 0)
            return WNDL_OK;
    }
    return WNDL_NOT_FOUND;
}

enum wndl_status wndl_symbolizer_find(struct wndl_symbolizer *s,
    const char *name, const struct wndl_symbol_range **found, size_t *count,
    struct wndl_error *err)
{
    *count = 0;
    wndl_symbolizer_lock(s);
    enum wndl_status status = find_functions(s, name, found, count);
    wndl_symbolizer_unlock(s);
    if (status == WNDL_OK)
        return status;
    *found = NULL;
    if (status == WNDL_NOMEM)
        return wndl_symbolizer_no_memory(err);
    wndl_symbolizer_forget(err);
    return wndl_fail(err, WNDL_NOT_FOUND, "no function of that name");
}
