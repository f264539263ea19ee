/* SPDX-License-Identifier: MIT */
/*
 * A unit's cover is sorted by address and has each function's code in one or
 * more segments; here it is sorted by function.
 */
#include "dbg/dwarf/internal.h"

#include <stdlib.h>

struct visit {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *unit;
    struct wndl_vec segments; /* struct wndl_dw_range, by id, then start */
    struct wndl_vec ranges;   /* struct wndl_dwarf_range, of one function */
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function);
    void *context;
};

static int compare(const void *left, const void *right)
{
    const struct wndl_dw_range *a = left;
    const struct wndl_dw_range *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static bool sort_segments(struct visit *v)
{
    const struct wndl_dw_cover *cover = &v->unit->funcs.cover;
    for (size_t i = 0; i < cover->count; i++) {
        struct wndl_dw_range *slot = wndl_vec_push(&v->segments);
        if (slot == NULL)
            return false;
        *slot = cover->segments[i];
    }
    if (cover->count != 0)
        qsort(v->segments.data, v->segments.len, v->segments.element, compare);
    return true;
}

/* Adjacent ranges become one: a nested function may have cut them. */
static bool add_range(struct wndl_vec *ranges, const struct wndl_dw_range *from)
{
    struct wndl_dwarf_range *last =
        ranges->len == 0 ? NULL : wndl_vec_at(ranges, ranges->len - 1);
    if (last != NULL && last->end.v == from->start) {
        last->end.v = from->end;
        return true;
    }
    struct wndl_dwarf_range *slot = wndl_vec_push(ranges);
    if (slot == NULL)
        return false;
    *slot = (struct wndl_dwarf_range){{from->start}, {from->end}};
    return true;
}

static enum wndl_status visit_one(struct visit *v, uint32_t id)
{
    const struct wndl_dw_func *func = wndl_vec_at(&v->unit->funcs.list, id);
    struct wndl_dw_names names;
    enum wndl_status status = wndl_dw_names_of(v->d, func->die, &names);
    if (status != WNDL_OK)
        return status;
    struct wndl_dwarf_function function = {
        .name = names.name,
        .linkage_name = names.linkage_name,
        .ranges = v->ranges.data,
        .range_count = v->ranges.len,
        .language = names.language,
    };
    return v->visit(v->context, &function);
}

static enum wndl_status visit_all(struct visit *v)
{
    const struct wndl_dw_range *segments = v->segments.data;
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < v->segments.len && status == WNDL_OK; i++) {
        if (i == 0 || segments[i].id != segments[i - 1].id)
            v->ranges.len = 0;
        if (!add_range(&v->ranges, &segments[i]))
            return WNDL_NOMEM;
        if (i + 1 == v->segments.len || segments[i].id != segments[i + 1].id)
            status = visit_one(v, segments[i].id);
    }
    return status;
}

enum wndl_status wndl_dwarf_unit_count(struct wndl_dwarf *dwarf, size_t *count)
{
    enum wndl_status status = wndl_dw_load_headers(dwarf);
    *count = dwarf->units.len;
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

enum wndl_status wndl_dwarf_visit_functions(struct wndl_dwarf *dwarf,
    size_t index,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context)
{
    struct wndl_dw_unit *unit = wndl_dw_unit_at(dwarf, index);
    struct wndl_arena scratch;
    if (unit->is_partial || unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_OK;
    enum wndl_status status = wndl_dw_find_code(&dwarf, &unit);
    if (status == WNDL_OK)
        status = wndl_dw_lose_if_damaged(
            dwarf, unit, wndl_dw_load_all_funcs(dwarf, unit));
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND ? WNDL_OK : status;
    struct visit v = {
        .d = dwarf, .unit = unit, .visit = visit, .context = context};
    wndl_arena_init(&scratch, dwarf->mem);
    wndl_vec_init(&v.segments, &scratch, sizeof(struct wndl_dw_range));
    wndl_vec_init(&v.ranges, &scratch, sizeof(struct wndl_dwarf_range));
    status = sort_segments(&v) ? visit_all(&v) : WNDL_NOMEM;
    wndl_arena_free(&scratch);
    return status;
}
