/* SPDX-License-Identifier: MIT */
/*
 * The debug map: stabs that list, for each object file that was linked, the
 * functions from it and their addresses. Variables (N_STSYM, N_GSYM) are
 * skipped.
 */
#include "base/map.h"
#include "obj/macho/impl.h"

#include <elf.h>
#include <stdlib.h>

enum { STAB_FUN = 0x24, STAB_SO = 0x64, STAB_OSO = 0x66 };

struct mapping {
    const struct wndl_object *object;
    struct wndl_vec sources;        /* struct wndl_macho_source */
    struct wndl_vec linked;         /* struct wndl_macho_linked */
    bool in_source;                 /* N_OSO came, its N_SO did not end */
    struct wndl_macho_linked *open; /* the last N_FUN, without a size yet */
};

static bool add_source(struct mapping *m, const struct wndl_nlist *stab)
{
    struct wndl_macho_source *source = wndl_vec_push(&m->sources);
    if (source == NULL)
        return false;
    source->path = stab->name;
    source->modified = stab->value;
    m->in_source = true;
    return true;
}

/* A function with a name, then one without a name that has its size. */
static bool add_function(struct mapping *m, const struct wndl_nlist *stab)
{
    if (stab->name.size == 0) {
        if (m->open != NULL)
            m->open->end = m->open->start + stab->value;
        m->open = NULL;
        return true;
    }
    m->open = NULL;
    if (!m->in_source)
        return true;
    struct wndl_macho_linked *linked = wndl_vec_push(&m->linked);
    if (linked == NULL)
        return false;
    linked->start = stab->value;
    linked->name = stab->name;
    linked->source = (uint32_t)m->sources.len - 1;
    m->open = linked;
    return true;
}

static bool add_stab(struct mapping *m, const struct wndl_nlist *stab)
{
    switch (stab->type) {
    case STAB_SO:
        m->in_source = m->in_source && stab->name.size != 0;
        m->open = NULL;
        return true;
    case STAB_OSO:
        return add_source(m, stab);
    case STAB_FUN:
        return add_function(m, stab);
    default:
        return true;
    }
}

static int compare_linked(const void *left, const void *right)
{
    const struct wndl_macho_linked *a = left;
    const struct wndl_macho_linked *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

/* A function without a size, or with too large a one, reaches to the next. */
static void settle_ends(struct mapping *m)
{
    struct wndl_macho_linked *list = m->linked.data;
    if (m->linked.len > 1)
        qsort(list, m->linked.len, sizeof *list, compare_linked);
    uint64_t next = UINT64_MAX;
    for (size_t i = m->linked.len; i-- > 0;) {
        if (i + 1 < m->linked.len && list[i + 1].start != list[i].start)
            next = list[i + 1].start;
        if (list[i].end <= list[i].start || list[i].end > next)
            list[i].end = next;
    }
}

enum wndl_status wndl_macho_read_map(const struct wndl_object *object,
    struct wndl_arena *arena, struct wndl_macho_map *map,
    struct wndl_error *err)
{
    struct mapping m = {.object = object};
    struct wndl_nlists table;
    *map = (struct wndl_macho_map){0};
    wndl_vec_init(&m.sources, arena, sizeof(struct wndl_macho_source));
    wndl_vec_init(&m.linked, arena, sizeof(struct wndl_macho_linked));
    enum wndl_status status =
        object->macho == NULL || object->macho->kind == WNDL_MACHO_OBJECT
            ? wndl_fail(err, WNDL_NOT_FOUND, "no debug map")
            : wndl_nlists_open(object, &table, err);
    if (status != WNDL_OK)
        return status;
    for (uint64_t i = 0; i < table.count; i++) {
        struct wndl_nlist stab = wndl_nlists_at(&table, i);
        if ((stab.type & WNDL_NLIST_STAB) != 0 && !add_stab(&m, &stab))
            return wndl_fail(err, WNDL_NOMEM, "no memory for the debug map");
    }
    if (m.sources.len == 0 || m.linked.len == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no debug map");
    settle_ends(&m);
    *map = (struct wndl_macho_map){
        .sources = m.sources.data,
        .source_count = m.sources.len,
        .linked = m.linked.data,
        .linked_count = m.linked.len,
    };
    return WNDL_OK;
}

enum wndl_status wndl_macho_read_names(const struct wndl_object *object,
    struct wndl_map *addresses, struct wndl_error *err)
{
    struct wndl_nlists table;
    enum wndl_status status = wndl_nlists_open(object, &table, err);
    for (uint64_t i = 0; status == WNDL_OK && i < table.count; i++) {
        struct wndl_nlist symbol = wndl_nlists_at(&table, i);
        if (symbol.name.size == 0 ||
            wndl_macho_code_of(object, &symbol) == NULL)
            continue;
        uint64_t *address = wndl_map_put(
            addresses, wndl_hash_bytes(symbol.name.data, symbol.name.size));
        if (address == NULL)
            return wndl_fail(err, WNDL_NOMEM, "no memory for the debug map");
        *address = symbol.value;
    }
    return status;
}
