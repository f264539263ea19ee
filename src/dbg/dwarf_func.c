/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf_internal.h"

static const char *const SECTION = ".debug_info";

/* A walk over the DIEs of a unit, or of one function in it. */
struct walk {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *unit;
    struct wndl_cursor c;
    int depth; /* of the next DIE below the one the walk began at */
    bool skim; /* go past functions and types by DW_AT_sibling */
    bool has_skipped;
    struct wndl_vec *funcs;
    /* What an inlined call at each depth is in: another one, or NO_PARENT. */
    uint32_t parents[WNDL_DW_DEPTH_LIMIT + 2];
};

static void start_walk(struct walk *w, struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t die)
{
    w->d = d;
    w->unit = unit;
    w->c = wndl_dw_cursor_at(d, unit, die);
    w->depth = 0;
    w->has_skipped = false;
    d->ranges.len = 0;
}

static enum wndl_status descend(struct walk *w, const struct wndl_dw_die *die)
{
    if (!die->abbrev->children)
        return WNDL_OK;
    if (w->depth >= WNDL_DW_DEPTH_LIMIT)
        return wndl_dw_damage(
            w->d, SECTION, die->offset, "DIEs are nested too deep");
    w->depth++;
    return WNDL_OK;
}

static enum wndl_status note_func(struct walk *w, const struct wndl_dw_die *die)
{
    struct wndl_dwarf *d = w->d;
    size_t first = d->ranges.len;
    size_t id = w->funcs->len;
    if (id >= WNDL_DW_NO_PARENT)
        return wndl_dw_damage(d, SECTION, die->offset, "too many functions");
    enum wndl_status status = wndl_dw_add_ranges(d, w->unit, die, (uint32_t)id);
    if (status != WNDL_OK || d->ranges.len == first)
        return status;
    struct wndl_dw_func *func = wndl_vec_push(w->funcs);
    if (func == NULL)
        return WNDL_NOMEM;
    func->die = die->offset;
    func->start = wndl_dw_lowest(d, first);
    return WNDL_OK;
}

static enum wndl_status step_over_func(struct walk *w, struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_attrs(w->d, w->unit, &w->c, die);
    if (status == WNDL_OK)
        status = note_func(w, die);
    if (status != WNDL_OK)
        return status;
    if (!w->skim || !wndl_dw_has(die, WNDL_DW_SIBLING))
        return descend(w, die);
    w->has_skipped = true;
    return wndl_dw_go_to_sibling(
        w->d, &w->c, die, die->slots[WNDL_DW_SIBLING].u);
}

static enum wndl_status step_over_other(
    struct walk *w, const struct wndl_dw_die *die)
{
    bool skipped = w->skim && die->abbrev->kind == WNDL_DW_DIE_OTHER;
    enum wndl_status status =
        wndl_dw_skip_die(w->d, w->unit, &w->c, die, &skipped);
    if (status != WNDL_OK)
        return status;
    w->has_skipped |= skipped;
    return skipped ? WNDL_OK : descend(w, die);
}

/* One DIE of a unit, looking for functions. */
static enum wndl_status unit_step(struct walk *w)
{
    struct wndl_dw_die die;
    enum wndl_status status = wndl_dw_read_code(w->d, w->unit, &w->c, &die);
    if (status != WNDL_OK)
        return status;
    if (die.abbrev == NULL) {
        w->depth--;
        return WNDL_OK;
    }
    return die.abbrev->kind == WNDL_DW_DIE_FUNCTION ? step_over_func(w, &die)
                                                    : step_over_other(w, &die);
}

/*
 * A unit may end without the codes 0 that close its DIEs; one cut short does
 * not get here, its length tells.
 */
static enum wndl_status walk_unit(struct walk *w)
{
    enum wndl_status status;
    do
        status = unit_step(w);
    while (status == WNDL_OK && w->depth > 0 && wndl_cursor_left(&w->c) > 0);
    return status;
}

static enum wndl_status load_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, bool skim)
{
    struct wndl_vec list;
    struct walk w = {.skim = skim, .funcs = &d->new_funcs};
    d->new_funcs.len = 0;
    start_walk(&w, d, unit, unit->dies);
    enum wndl_status status = walk_unit(&w);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_cover cover;
    status = wndl_dw_make_cover(d, &d->ranges, false, &cover);
    if (status != WNDL_OK)
        return status;
    if (!wndl_dw_keep(&d->new_funcs, &list))
        return WNDL_NOMEM;
    unit->funcs = (struct wndl_dw_funcs){
        list, cover, w.has_skipped ? WNDL_DW_FUNCS_SKIMMED : WNDL_DW_FUNCS_ALL};
    return WNDL_OK;
}

enum wndl_status wndl_dw_load_all_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->funcs.state == WNDL_DW_FUNCS_ALL)
        return WNDL_OK;
    enum wndl_status status = wndl_dw_load_unit(d, unit);
    return status == WNDL_OK ? load_funcs(d, unit, false) : status;
}

static struct wndl_dw_func *func_at(
    const struct wndl_dw_unit *unit, uint64_t address)
{
    const struct wndl_dw_range *segment =
        wndl_dw_cover_find(&unit->funcs.cover, address);
    return segment == NULL ? NULL : wndl_vec_at(&unit->funcs.list, segment->id);
}

/*
 * Most functions are children of the unit or of a namespace. Only when none
 * of those is at the address are types and functions searched for more.
 */
enum wndl_status wndl_dw_find_func(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_func **func)
{
    enum wndl_status status = wndl_dw_load_unit(d, unit);
    if (status == WNDL_OK && unit->funcs.state == WNDL_DW_FUNCS_UNREAD)
        status = load_funcs(d, unit, true);
    if (status != WNDL_OK)
        return status;
    *func = func_at(unit, address);
    if (*func == NULL && unit->funcs.state == WNDL_DW_FUNCS_SKIMMED) {
        status = load_funcs(d, unit, false);
        if (status != WNDL_OK)
            return status;
        *func = func_at(unit, address);
    }
    return *func == NULL ? WNDL_NOT_FOUND : WNDL_OK;
}

static uint32_t number_of(
    const struct wndl_dw_die *die, enum wndl_dw_slot slot, uint32_t unknown)
{
    if (!wndl_dw_has(die, slot) || die->slots[slot].kind != WNDL_DW_NUMBER ||
        die->slots[slot].u > UINT32_MAX)
        return unknown;
    return (uint32_t)die->slots[slot].u;
}

static uint64_t naming_die(const struct wndl_dw_die *die)
{
    bool refers = wndl_dw_has(die, WNDL_DW_ORIGIN) &&
                  die->slots[WNDL_DW_ORIGIN].kind == WNDL_DW_REFERENCE;
    return refers ? die->slots[WNDL_DW_ORIGIN].u : die->offset;
}

/* Adds an inlined call as the owner of what is inside of it. */
static enum wndl_status note_inlined(
    struct walk *w, const struct wndl_dw_die *die)
{
    struct wndl_vec *list = &w->d->inlined;
    size_t first = w->d->ranges.len;
    size_t id = list->len;
    if (id >= WNDL_DW_NO_PARENT)
        return wndl_dw_damage(w->d, SECTION, die->offset, "too many calls");
    enum wndl_status status =
        wndl_dw_add_ranges(w->d, w->unit, die, (uint32_t)id);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_inlined *inlined = wndl_vec_push(list);
    if (inlined == NULL)
        return WNDL_NOMEM;
    *inlined = (struct wndl_dw_inlined){
        .named_by = naming_die(die),
        .start = wndl_dw_lowest(w->d, first),
        .parent = w->parents[w->depth],
        .call_file = number_of(die, WNDL_DW_CALL_FILE, UINT32_MAX),
        .call_line = number_of(die, WNDL_DW_CALL_LINE, 0),
        .call_column = number_of(die, WNDL_DW_CALL_COLUMN, 0),
    };
    w->parents[w->depth + 1] = (uint32_t)id;
    return WNDL_OK;
}

static enum wndl_status step_over_inlined(
    struct walk *w, struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_attrs(w->d, w->unit, &w->c, die);
    if (status == WNDL_OK)
        status = note_inlined(w, die);
    return status == WNDL_OK ? descend(w, die) : status;
}

/*
 * One DIE of a function, looking for inlined calls. Those of a function in
 * the function come along where they cannot be skipped, but nobody will ask
 * for them here: their addresses belong to that one.
 */
static enum wndl_status func_step(struct walk *w)
{
    struct wndl_dw_die die;
    enum wndl_status status = wndl_dw_read_code(w->d, w->unit, &w->c, &die);
    if (status != WNDL_OK)
        return status;
    if (die.abbrev == NULL) {
        w->depth--;
        return WNDL_OK;
    }
    unsigned kind = die.abbrev->kind;
    w->parents[w->depth + 1] =
        kind == WNDL_DW_DIE_FUNCTION ? WNDL_DW_NO_PARENT : w->parents[w->depth];
    if (kind == WNDL_DW_DIE_INLINED)
        return step_over_inlined(w, &die);
    bool skipped = kind == WNDL_DW_DIE_OTHER || kind == WNDL_DW_DIE_FUNCTION;
    status = wndl_dw_skip_die(w->d, w->unit, &w->c, &die, &skipped);
    return status != WNDL_OK || skipped ? status : descend(w, &die);
}

static enum wndl_status walk_func(struct walk *w, uint64_t offset)
{
    struct wndl_dw_die die = {0};
    bool skipped = false;
    enum wndl_status status = wndl_dw_read_code(w->d, w->unit, &w->c, &die);
    if (status == WNDL_OK && die.abbrev == NULL)
        status = wndl_dw_damage(w->d, SECTION, offset, "no DIE");
    if (status == WNDL_OK)
        status = wndl_dw_skip_die(w->d, w->unit, &w->c, &die, &skipped);
    if (status == WNDL_OK)
        status = descend(w, &die);
    while (status == WNDL_OK && w->depth > 0 && wndl_cursor_left(&w->c) > 0)
        status = func_step(w);
    return status;
}

static enum wndl_status keep_inlines(
    struct wndl_dwarf *d, struct wndl_dw_inlines *inlines)
{
    struct wndl_vec list;
    if (!wndl_dw_keep(&d->inlined, &list))
        return WNDL_NOMEM;
    inlines->list = list.data;
    return wndl_dw_make_cover(d, &d->ranges, false, &inlines->cover);
}

enum wndl_status wndl_dw_load_inlines(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_func *func)
{
    if (func->inlines != NULL)
        return WNDL_OK;
    struct walk w = {0};
    start_walk(&w, d, unit, func->die);
    w.parents[1] = WNDL_DW_NO_PARENT;
    d->inlined.len = 0;
    enum wndl_status status = walk_func(&w, func->die);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_inlines *inlines =
        wndl_arena_alloc(&d->arena, sizeof *inlines);
    if (inlines == NULL)
        return WNDL_NOMEM;
    status = keep_inlines(d, inlines);
    if (status == WNDL_OK)
        func->inlines = inlines;
    return status;
}
