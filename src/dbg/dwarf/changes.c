/* SPDX-License-Identifier: MIT */
/*
 * For listings of a whole function: the places where a row of the line table,
 * an inlined call or another function begins or ends. All units that a lookup
 * would ask are asked, whichever of them would answer.
 */
#include "dbg/dwarf/internal.h"

/* The search, and the list of its results. */
struct search {
    uint64_t start;
    uint64_t end;
    struct wndl_vec *places;
};

static enum wndl_status add_place(const struct search *s, uint64_t address)
{
    if (address <= s->start || address >= s->end)
        return WNDL_OK;
    uint64_t *place = wndl_vec_push(s->places);
    if (place == NULL)
        return WNDL_NOMEM;
    *place = address;
    return WNDL_OK;
}

static enum wndl_status add_both(
    const struct search *s, const struct wndl_dw_range *range)
{
    enum wndl_status status = add_place(s, range->start);
    return status == WNDL_OK ? add_place(s, range->end) : status;
}

static enum wndl_status add_calls(const struct search *s, struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func)
{
    enum wndl_status status = wndl_dw_load_inlines(d, unit, func);
    if (status != WNDL_OK)
        return status;
    const struct wndl_dw_inlines *inlines = func->inlines;
    for (size_t i = 0; i < inlines->range_count && status == WNDL_OK; i++)
        status = add_both(s, &inlines->ranges[i]);
    return status;
}

static enum wndl_status add_funcs(
    const struct search *s, struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    enum wndl_status status = wndl_dw_load_all_funcs(d, unit);
    const struct wndl_dw_cover *cover = &unit->funcs.cover;
    size_t i = status == WNDL_OK ? wndl_dw_cover_after(cover, s->start) : 0;
    for (; status == WNDL_OK && i < cover->count; i++) {
        const struct wndl_dw_range *segment = &cover->segments[i];
        if (segment->start >= s->end)
            break;
        status = add_both(s, segment);
        if (status == WNDL_OK)
            status = add_calls(
                s, d, unit, wndl_vec_at(&unit->funcs.list, segment->id));
    }
    return status;
}

static enum wndl_status add_rows(
    const struct search *s, struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    struct wndl_dw_row row;
    uint64_t at = s->start;
    while (at < s->end) {
        enum wndl_status status =
            wndl_dw_find_row_until(d, unit, at, &row, &at);
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            return status;
        status = add_place(s, at);
        if (status != WNDL_OK)
            return status;
    }
    return WNDL_OK;
}

/* A unit that is lost changes nothing. */
static enum wndl_status look_in_unit(
    const struct search *s, struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    struct wndl_dwarf *in = d;
    struct wndl_dw_unit *code = unit;
    if (unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_OK;
    enum wndl_status status =
        wndl_dw_lose_if_damaged(d, unit, wndl_dw_find_code(&in, &code));
    if (status == WNDL_OK)
        status = wndl_dw_lose_if_damaged(in, code, add_funcs(s, in, code));
    if (status == WNDL_OK)
        status = wndl_dw_lose_if_damaged(d, unit, add_rows(s, d, unit));
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

enum wndl_status wndl_dwarf_changes(struct wndl_dwarf *dwarf,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    const struct search s = {range.start.v, range.end.v, places};
    struct wndl_dw_unit *hinted;
    struct wndl_dw_unit *unit;
    enum wndl_status status =
        wndl_dw_hinted_unit(dwarf, range.start.v, &hinted);
    if (status == WNDL_OK)
        status = look_in_unit(&s, dwarf, hinted);
    else
        hinted = NULL;
    if (status == WNDL_NOMEM)
        return status;
    status = wndl_dw_find_unit(dwarf, range.start.v, true, &unit);
    if (status == WNDL_OK && unit != hinted)
        status = look_in_unit(&s, dwarf, unit);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}
