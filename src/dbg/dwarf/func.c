/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

#include <string.h>

static const char *const SECTION = ".debug_info";

/* A walk over the DIEs of a unit, or of one function in it. */
struct walk {
    struct wndl_dwarf *d;
    const struct wndl_dw_unit *unit;
    struct wndl_cursor c;
    uint64_t depth;   /* of the next DIE below the start of the walk */
    uint64_t deepest; /* the first inlined call that is too deep, or 0 */
    bool skim;        /* go past functions and types by DW_AT_sibling */
    uint32_t jumped;  /* bit per kind: skip these DIEs and their children */
    uint32_t stepped; /* bit per kind: skip these DIEs alone */
    bool has_skipped;
    struct wndl_vec *funcs;
    uint64_t func;        /* its DIE */
    uint32_t innermost;   /* the last wanted call with a range at *only */
    const uint64_t *only; /* the address of the wanted calls; NULL: all */
    /*
     * The owner of an inlined call at each depth: another one, NO_PARENT, or
     * ELSEWHERE if it is not wanted. Not used below the limit.
     */
    uint32_t parents[WNDL_DW_DEPTH_LIMIT + 2];
};

enum { ELSEWHERE = WNDL_DW_NO_PARENT - 1 };

static inline uint32_t *parent_at(struct walk *w, uint64_t depth)
{
    enum { LAST = WNDL_DW_DEPTH_LIMIT + 1 };
    return &w->parents[depth < LAST ? depth : LAST];
}

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

/*
 * Reads a code of one or two bytes. Larger ones, and one that is cut off, fail.
 */
static inline uint32_t small_code(struct wndl_cursor *c)
{
    uint32_t code = wndl_cursor_u8(c);
    if (code < 0x80)
        return code;
    uint32_t high = wndl_cursor_u8(c);
    c->failed |= high >= 0x80;
    return (code & 0x7f) | high << 7;
}

/* Moves to the sibling, whose 4-byte reference is at a known place. */
static inline void jump(const struct walk *w, struct wndl_cursor *c,
    const struct wndl_dw_abbrev *abbrev)
{
    wndl_cursor_skip(c, abbrev->sibling_at);
    uint64_t to = w->unit->offset + wndl_cursor_u32(c);
    uint64_t here = wndl_cursor_offset(c);
    if (to < here)
        c->failed = true;
    else
        wndl_cursor_skip(c, to - here);
}

/* Skips one DIE. False if it must be read, or is not of a simple form. */
static inline bool hurry_past(
    struct walk *w, struct wndl_cursor *c, const struct wndl_dw_abbrev *abbrev)
{
    uint32_t kind = 1u << abbrev->kind;
    if ((w->jumped & kind) != 0 && abbrev->sibling_form == WNDL_DW_REF4 &&
        abbrev->sibling_at != WNDL_DW_VARIES) {
        w->has_skipped = true;
        jump(w, c, abbrev);
        return !c->failed;
    }
    if ((w->stepped & kind) == 0 || abbrev->fixed_size == WNDL_DW_VARIES)
        return false;
    wndl_cursor_skip(c, abbrev->fixed_size);
    if (!abbrev->children)
        return !c->failed;
    *parent_at(w, w->depth + 1) = *parent_at(w, w->depth);
    w->depth++;
    return !c->failed;
}

/*
 * Skips DIEs without reading them, as long as that is simple. The full reader
 * continues where this stops, for example at damage. Large units spend most of
 * their time in this loop.
 */
static void hurry(struct walk *w)
{
    const struct wndl_dw_abbrevs *table = w->unit->abbrevs;
    const struct wndl_dw_abbrev *abbrevs = table->list.data;
    size_t count = table->sparse ? 0 : table->list.len;
    struct wndl_cursor c = w->c;
    while (w->depth > 0) {
        struct wndl_cursor next = c;
        uint64_t depth = w->depth;
        uint32_t code = small_code(&next);
        if (next.failed || code > count)
            break;
        if (code == 0) {
            w->depth--;
        } else if (!hurry_past(w, &next, &abbrevs[code - 1])) {
            w->depth = depth;
            break;
        }
        c = next;
    }
    w->c = c;
}

static void descend(struct walk *w, const struct wndl_dw_die *die)
{
    w->depth += die->abbrev->children;
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
    enum wndl_status status = wndl_dw_read_place(w->d, w->unit, &w->c, die);
    if (status == WNDL_OK)
        status = note_func(w, die);
    if (status != WNDL_OK)
        return status;
    if (!w->skim || !wndl_dw_has(die, WNDL_DW_SIBLING)) {
        descend(w, die);
        return WNDL_OK;
    }
    w->has_skipped = true;
    return wndl_dw_go_to_sibling(
        w->d, &w->c, die, die->slots[WNDL_DW_SIBLING].u);
}

static enum wndl_status step_over_other(
    struct walk *w, const struct wndl_dw_die *die)
{
    bool skipped = (w->jumped >> die->abbrev->kind & 1) != 0;
    enum wndl_status status =
        wndl_dw_skip_die(w->d, w->unit, &w->c, die, &skipped);
    if (status != WNDL_OK)
        return status;
    w->has_skipped |= skipped;
    if (!skipped)
        descend(w, die);
    return WNDL_OK;
}

/* Reads one DIE of a unit, in search of functions. */
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
 * A unit may lack the codes 0 at its end that close its DIEs. One that is cut
 * short has been refused already, because of its length.
 */
static enum wndl_status walk_unit(struct walk *w)
{
    enum wndl_status status;
    do {
        status = unit_step(w);
        if (status == WNDL_OK)
            hurry(w);
    } while (status == WNDL_OK && w->depth > 0 && wndl_cursor_left(&w->c) > 0);
    return status;
}

enum wndl_status wndl_dw_read_funcs(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, bool skim, struct wndl_dw_funcs *funcs)
{
    struct wndl_vec list;
    struct walk w = {.skim = skim, .funcs = &d->new_funcs};
    d->new_funcs.len = 0;
    w.jumped =
        skim ? 1u << WNDL_DW_DIE_OTHER | 1u << WNDL_DW_DIE_DECLARATION : 0;
    w.stepped = ~(1u << WNDL_DW_DIE_FUNCTION);
    start_walk(&w, d, unit, unit->dies);
    enum wndl_status status = walk_unit(&w);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_cover cover;
    status = wndl_dw_make_cover(d, &d->ranges, false, &cover);
    if (status != WNDL_OK)
        return status;
    if (!wndl_dw_copy_vec(&d->new_funcs, &list))
        return WNDL_NOMEM;
    wndl_dw_release_pages_after(d, unit->end - unit->offset);
    *funcs = (struct wndl_dw_funcs){
        list, cover, w.has_skipped ? WNDL_DW_FUNCS_SKIMMED : WNDL_DW_FUNCS_ALL};
    return WNDL_OK;
}

enum wndl_status wndl_dw_load_all_funcs(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->funcs.state == WNDL_DW_FUNCS_ALL)
        return WNDL_OK;
    enum wndl_status status = wndl_dw_load_unit(d, unit);
    return status == WNDL_OK ? wndl_dw_read_funcs(d, unit, false, &unit->funcs)
                             : status;
}

static struct wndl_dw_func *func_at(
    const struct wndl_dw_unit *unit, uint64_t address)
{
    const struct wndl_dw_range *segment =
        wndl_dw_cover_find(&unit->funcs.cover, address);
    return segment == NULL ? NULL : wndl_vec_at(&unit->funcs.list, segment->id);
}

/*
 * Most functions are children of the unit or of a namespace. Types and
 * functions are searched only if none of those is at the address.
 */
enum wndl_status wndl_dw_find_func(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, struct wndl_dw_func **func)
{
    enum wndl_status status = wndl_dw_load_unit(d, unit);
    if (status == WNDL_OK && unit->funcs.state == WNDL_DW_FUNCS_UNREAD)
        status = wndl_dw_read_funcs(d, unit, true, &unit->funcs);
    if (status != WNDL_OK)
        return status;
    *func = func_at(unit, address);
    if (*func == NULL && unit->funcs.state == WNDL_DW_FUNCS_SKIMMED) {
        status = wndl_dw_read_funcs(d, unit, false, &unit->funcs);
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

/* Whether one of d->ranges from `first` on holds `address`. */
static bool holds(const struct wndl_dwarf *d, size_t first, uint64_t address)
{
    const struct wndl_dw_range *ranges = d->ranges.data;
    for (size_t i = first; i < d->ranges.len; i++)
        if (address >= ranges[i].start && address < ranges[i].end)
            return true;
    return false;
}

/*
 * Adds an inlined call as the owner of the DIEs inside it, or notes that it is
 * elsewhere.
 */
static enum wndl_status note_inlined(
    struct walk *w, const struct wndl_dw_die *die)
{
    struct wndl_vec *list = &w->d->calls;
    size_t first = w->d->ranges.len;
    size_t id = list->len;
    uint32_t *own = parent_at(w, w->depth + 1);
    if (id >= ELSEWHERE || die->offset - w->func > UINT32_MAX)
        return wndl_dw_damage(w->d, SECTION, die->offset, "too many calls");
    enum wndl_status status =
        wndl_dw_add_ranges(w->d, w->unit, die, (uint32_t)id);
    if (status != WNDL_OK)
        return status;
    bool held = w->only != NULL && holds(w->d, first, *w->only);
    if (w->only != NULL && !held && w->d->ranges.len > first) {
        w->d->ranges.len = first;
        *own = ELSEWHERE;
        return WNDL_OK;
    }
    if (held)
        w->innermost = (uint32_t)id;
    struct wndl_dw_call *call = wndl_vec_push(list);
    if (call == NULL)
        return WNDL_NOMEM;
    *call = (struct wndl_dw_call){
        (uint32_t)(die->offset - w->func), *parent_at(w, w->depth)};
    *own = (uint32_t)id;
    return WNDL_OK;
}

static enum wndl_status step_over_inlined(
    struct walk *w, struct wndl_dw_die *die)
{
    enum wndl_status status = wndl_dw_read_place(w->d, w->unit, &w->c, die);
    bool deep = w->depth > WNDL_DW_DEPTH_LIMIT;
    if (deep && w->deepest == 0)
        w->deepest = die->offset;
    if (status == WNDL_OK && !deep && *parent_at(w, w->depth) != ELSEWHERE)
        status = note_inlined(w, die);
    if (status != WNDL_OK)
        return status;
    bool skipped = *parent_at(w, w->depth + 1) == ELSEWHERE &&
                   wndl_dw_has(die, WNDL_DW_SIBLING);
    if (!skipped) {
        descend(w, die);
        return WNDL_OK;
    }
    return wndl_dw_go_to_sibling(
        w->d, &w->c, die, die->slots[WNDL_DW_SIBLING].u);
}

/*
 * Reads one DIE of a function, in search of inlined calls. Calls of a nested
 * function are added too where they cannot be skipped; no lookup finds them
 * here, since their addresses belong to that function.
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
    bool is_function =
        kind == WNDL_DW_DIE_FUNCTION || kind == WNDL_DW_DIE_DECLARATION;
    *parent_at(w, w->depth + 1) =
        is_function ? WNDL_DW_NO_PARENT : *parent_at(w, w->depth);
    if (kind == WNDL_DW_DIE_INLINED)
        return step_over_inlined(w, &die);
    bool skipped = (w->jumped >> kind & 1) != 0;
    status = wndl_dw_skip_die(w->d, w->unit, &w->c, &die, &skipped);
    if (status == WNDL_OK && !skipped)
        descend(w, &die);
    return status;
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
        descend(w, &die);
    while (status == WNDL_OK && w->depth > 0 && wndl_cursor_left(&w->c) > 0) {
        status = func_step(w);
        if (status == WNDL_OK)
            hurry(w);
    }
    return status;
}

static enum wndl_status keep_inlines(
    struct wndl_dwarf *d, struct wndl_dw_inlines *inlines)
{
    struct wndl_vec list;
    struct wndl_vec ranges;
    if (!wndl_dw_copy_vec(&d->calls, &list) ||
        !wndl_dw_copy_vec(&d->ranges, &ranges))
        return WNDL_NOMEM;
    inlines->list = list.data;
    inlines->ranges = ranges.data;
    inlines->range_count = ranges.len;
    return WNDL_OK;
}

/* Walks `func` for the wanted calls; adds to d->calls and d->ranges. */
static enum wndl_status read_inlined(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_func *func,
    const uint64_t *only, uint32_t *innermost)
{
    struct walk w = {
        .jumped = 1u << WNDL_DW_DIE_OTHER | 1u << WNDL_DW_DIE_DECLARATION |
                  1u << WNDL_DW_DIE_FUNCTION,
        .stepped = ~(1u << WNDL_DW_DIE_INLINED | 1u << WNDL_DW_DIE_FUNCTION |
                     1u << WNDL_DW_DIE_DECLARATION),
        .func = func->die,
        .innermost = WNDL_DW_NO_PARENT,
        .only = only,
    };
    start_walk(&w, d, unit, func->die);
    w.parents[1] = WNDL_DW_NO_PARENT;
    d->calls.len = 0;
    wndl_dw_release_pages_after(d, WNDL_DW_PAGE_COST);
    enum wndl_status status = walk_func(&w, func->die);
    *innermost = w.innermost;
    if (status != WNDL_OK || w.deepest == 0)
        return status;
    (void)!wndl_dw_damage(d, SECTION, w.deepest,
        "inlined calls are nested too deep; the innermost are left out");
    wndl_dw_count_damage(d, unit);
    return WNDL_OK;
}

enum wndl_status wndl_dw_load_inlines(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, struct wndl_dw_func *func)
{
    uint32_t innermost;
    if (func->inlines != NULL)
        return WNDL_OK;
    enum wndl_status status = read_inlined(d, unit, func, NULL, &innermost);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_inlines *inlines =
        wndl_arena_alloc(d->arena, sizeof *inlines);
    if (inlines == NULL)
        return WNDL_NOMEM;
    status = keep_inlines(d, inlines);
    if (status == WNDL_OK)
        func->inlines = inlines;
    return status;
}

/* The number of ranges of calls up to `id`. */
static size_t ranges_upto(const struct wndl_dw_inlines *inlines, uint32_t id)
{
    size_t low = 0;
    size_t high = inlines->range_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (inlines->ranges[mid].id <= id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Whether a range of call `id` holds `address`, or it has none. */
static bool call_holds(
    const struct wndl_dw_inlines *inlines, uint32_t id, uint64_t address)
{
    size_t end = ranges_upto(inlines, id);
    size_t i = end;
    for (; i > 0 && inlines->ranges[i - 1].id == id; i--)
        if (address >= inlines->ranges[i - 1].start &&
            address < inlines->ranges[i - 1].end)
            return true;
    return i == end;
}

/* The outermost parent of call `id` that does not hold `address`, or
 * NO_PARENT. */
static uint32_t outside_of(
    const struct wndl_dw_inlines *inlines, uint32_t id, uint64_t address)
{
    uint32_t outermost = WNDL_DW_NO_PARENT;
    while ((id = inlines->list[id].parent) != WNDL_DW_NO_PARENT)
        if (!call_holds(inlines, id, address))
            outermost = id;
    return outermost;
}

static enum wndl_status make_cover(
    struct wndl_dwarf *d, struct wndl_dw_inlines *inlines)
{
    d->ranges.len = 0;
    if (inlines->range_count == 0)
        return WNDL_OK;
    if (!wndl_vec_reserve(&d->ranges, inlines->range_count))
        return WNDL_NOMEM;
    memcpy(d->ranges.data, inlines->ranges,
        inlines->range_count * sizeof *inlines->ranges);
    d->ranges.len = inlines->range_count;
    return wndl_dw_make_cover(d, &d->ranges, false, &inlines->cover);
}

/*
 * The number of ranges up to the last one that may belong to the innermost
 * call.
 */
static size_t upto(const struct wndl_dw_inlines *inlines, uint64_t address)
{
    if (inlines->cover.count == 0)
        return inlines->range_count;
    const struct wndl_dw_range *found =
        wndl_dw_cover_find(&inlines->cover, address);
    return found == NULL ? 0 : ranges_upto(inlines, found->id);
}

/*
 * The calls inside a call that does not cover the address follow it, and are
 * skipped with it.
 */
static uint32_t search(const struct wndl_dw_inlines *inlines, uint64_t address)
{
    for (size_t i = upto(inlines, address); i > 0; i--) {
        const struct wndl_dw_range *range = &inlines->ranges[i - 1];
        if (address < range->start || address >= range->end)
            continue;
        uint32_t outside = outside_of(inlines, range->id, address);
        if (outside == WNDL_DW_NO_PARENT)
            return range->id;
        i = ranges_upto(inlines, outside) + 1;
    }
    return WNDL_DW_NO_PARENT;
}

/* The lowest start of the ranges of call `id`; UINT64_MAX if none. */
static uint64_t lowest_of(const struct wndl_dw_inlines *inlines, uint32_t id)
{
    uint64_t lowest = UINT64_MAX;
    for (size_t i = ranges_upto(inlines, id);
         i > 0 && inlines->ranges[i - 1].id == id; i--)
        if (inlines->ranges[i - 1].start < lowest)
            lowest = inlines->ranges[i - 1].start;
    return lowest;
}

/* Adds call `id` to d->chain. */
static enum wndl_status read_call(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t func,
    const struct wndl_dw_inlines *inlines, uint32_t id)
{
    struct wndl_dw_die die;
    struct wndl_cursor c =
        wndl_dw_cursor_at(d, unit, func + inlines->list[id].die);
    enum wndl_status status = wndl_dw_read_die(d, unit, &c, &die);
    if (status != WNDL_OK)
        return status;
    struct wndl_dw_inlined *inlined = wndl_vec_push(&d->chain);
    if (inlined == NULL)
        return WNDL_NOMEM;
    *inlined = (struct wndl_dw_inlined){
        .named_by = naming_die(&die),
        .start = lowest_of(inlines, id),
        .call_file = number_of(&die, WNDL_DW_CALL_FILE, UINT32_MAX),
        .call_line = number_of(&die, WNDL_DW_CALL_LINE, 0),
        .call_column = number_of(&die, WNDL_DW_CALL_COLUMN, 0),
    };
    return WNDL_OK;
}

/* Reads the calls from the innermost one outwards into d->chain. */
static enum wndl_status read_chain(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t func,
    const struct wndl_dw_inlines *inlines, uint32_t innermost)
{
    enum wndl_status status = WNDL_OK;
    for (uint32_t id = innermost; id != WNDL_DW_NO_PARENT && status == WNDL_OK;
         id = inlines->list[id].parent)
        status = read_call(d, unit, func, inlines, id);
    return status;
}

/* Finds the calls by a walk that reads only the DIEs that it needs. */
static enum wndl_status find_alone(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_func *func,
    uint64_t address)
{
    uint32_t innermost;
    enum wndl_status status = read_inlined(d, unit, func, &address, &innermost);
    struct wndl_dw_inlines inlines = {
        d->calls.data, d->ranges.data, d->ranges.len, {NULL, 0}};
    return status == WNDL_OK
               ? read_chain(d, unit, func->die, &inlines, innermost)
               : status;
}

/*
 * A function with few lookups should cost little. The first lookups walk only
 * the DIEs that cover the address; then all calls are read and searched in
 * order; then they are sorted for faster searches.
 */
enum { SINGLE_WALKS = 2, BEFORE_COVER = 10 };

enum wndl_status wndl_dw_find_inlined(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, struct wndl_dw_func *func, uint64_t address,
    struct wndl_dw_chain *chain)
{
    enum wndl_status status = WNDL_OK;
    bool alone = func->inlines == NULL && func->searches < SINGLE_WALKS;
    if (func->searches <= BEFORE_COVER)
        func->searches++;
    d->chain.len = 0;
    if (!alone)
        status = wndl_dw_load_inlines(d, unit, func);
    if (!alone && status == WNDL_OK && func->searches == BEFORE_COVER)
        status = make_cover(d, func->inlines);
    if (alone)
        status = find_alone(d, unit, func, address);
    else if (status == WNDL_OK)
        status = read_chain(
            d, unit, func->die, func->inlines, search(func->inlines, address));
    *chain = (struct wndl_dw_chain){d->chain.data, d->chain.len};
    return status;
}
