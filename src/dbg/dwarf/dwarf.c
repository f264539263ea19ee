/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

static void init_containers(struct wndl_dwarf *d)
{
    struct wndl_arena *arena = d->arena;
    wndl_vec_init(&d->units, arena, sizeof(struct wndl_dw_unit *));
    wndl_vec_init(&d->hinted, arena, sizeof(uint64_t));
    wndl_vec_init(&d->names, arena, sizeof(struct wndl_dw_names));
    wndl_vec_init(&d->paths, arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&d->unit_ranges, arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d->ranges, arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d->heap, arena, sizeof(uint32_t));
    wndl_vec_init(&d->calls, arena, sizeof(struct wndl_dw_call));
    wndl_vec_init(&d->chain, arena, sizeof(struct wndl_dw_inlined));
    wndl_vec_init(&d->helpers, arena, sizeof(struct wndl_dwarf *));
    wndl_vec_init(&d->frames, arena, sizeof(struct wndl_dwarf_frame));
    wndl_vec_init(&d->new_funcs, arena, sizeof(struct wndl_dw_func));
    wndl_vec_init(&d->new_marks, arena, sizeof(struct wndl_dw_mark));
    wndl_vec_init(&d->new_sequences, arena, sizeof(struct wndl_dw_sequence));
    wndl_vec_init(&d->segments, arena, sizeof(struct wndl_dw_range));
    wndl_map_init(&d->abbrevs, arena);
    wndl_map_init(&d->lines, arena);
    wndl_map_init(&d->name_of, arena);
    wndl_map_init(&d->path_of, arena);
    wndl_dw_abbrevs_init(&d->new_abbrevs, arena);
    d->last_root_abbrevs = UINT64_MAX;
}

static void init(struct wndl_dwarf *d, struct wndl_mem *mem)
{
    d->mem = mem;
    d->open = wndl_dw_open;
    d->release_after = WNDL_DW_RELEASE_AFTER;
    wndl_arena_init(&d->own_arena, mem);
    wndl_shared_mem_init(&d->helpers_mem, mem);
}

/*
 * Each list, table and program may be read several times, but not without end;
 * a list entry takes at least two bytes.
 */
static void init_budget(struct wndl_dwarf *d)
{
    const struct wndl_dwarf_sections *in = &d->in;
    d->budget = (struct wndl_dw_budget){
        .abbrev_bytes = 16 * (uint64_t)in->abbrev.size,
        .root_bytes = 2 * (uint64_t)in->abbrev.size,
        .range_entries =
            4 * ((uint64_t)in->ranges.size + (uint64_t)in->rnglists.size),
        .line_bytes = 4 * (uint64_t)in->line.size,
    };
}

enum wndl_status wndl_dwarf_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, struct wndl_dwarf **out, struct wndl_error *err)
{
    return wndl_dw_open(sections, mem, NULL, out, err);
}

enum wndl_status wndl_dw_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, const struct wndl_dw_referrer *referrer,
    struct wndl_dwarf **out, struct wndl_error *err)
{
    wndl_error_set_file(err, sections->path);
    if (sections->info.size == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no .debug_info");
    struct wndl_dwarf *d = wndl_mem_zalloc(mem, sizeof *d);
    if (d == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    d->in = *sections;
    init(d, mem);
    d->arena = referrer == NULL ? &d->own_arena : referrer->d->arena;
    d->skeleton = referrer == NULL ? NULL : referrer->skeleton;
    init_containers(d);
    init_budget(d);
    enum wndl_status status = sections->aranges.size == 0
                                  ? wndl_dw_load_headers(d)
                                  : wndl_dw_check_first(d);
    if (status == WNDL_OK) {
        *out = d;
        return WNDL_OK;
    }
    if (status == WNDL_NOMEM)
        (void)wndl_fail(err, status, "out of memory");
    else
        (void)wndl_fail_at(
            err, status, d->detail.section, d->detail.offset, d->detail.what);
    wndl_dwarf_close(d);
    return status;
}

struct wndl_dwarf *wndl_dw_new_helper(struct wndl_dwarf *d)
{
    struct wndl_dwarf *helper = wndl_mem_zalloc(d->mem, sizeof *helper);
    if (helper == NULL)
        return NULL;
    init(helper, d->mem);
    wndl_arena_init(&helper->own_arena, &d->helpers_mem.mem);
    helper->arena = &helper->own_arena;
    init_containers(helper);
    helper->next_other = d->others;
    d->others = helper;
    return helper;
}

void wndl_dwarf_close(struct wndl_dwarf *dwarf)
{
    if (dwarf == NULL)
        return;
    while (dwarf->others != NULL) {
        struct wndl_dwarf *other = dwarf->others;
        dwarf->others = other->next_other;
        wndl_dwarf_close(other);
    }
    wndl_arena_free(&dwarf->own_arena);
    pthread_mutex_destroy(&dwarf->helpers_mem.lock);
    wndl_mem_free(dwarf->mem, dwarf);
}

/* A place in the source. */
struct place {
    uint32_t file;
    uint32_t line;
    uint32_t column;
    bool is_known;
};

/*
 * The units of an address: `unit` of `d` has its line, and `code` of `in` its
 * function. They differ when the functions are in a .dwo file.
 */
struct spot {
    struct wndl_dwarf *d;
    struct wndl_dw_unit *unit;
    struct wndl_dwarf *in;
    struct wndl_dw_unit *code;
    uint64_t address;
    struct wndl_dw_chain chain; /* of inlined calls */
};

/*
 * Fills in names and place of a new frame. Damage of paths loses only the path.
 */
static enum wndl_status add_frame(
    const struct spot *spot, uint64_t named_by, struct place place)
{
    struct wndl_dwarf *d = spot->d;
    struct wndl_dw_names names = {{(const uint8_t *)"", 0},
        {(const uint8_t *)"", 0}, spot->code->language};
    struct wndl_bytes path = names.name;
    enum wndl_status status = WNDL_OK;
    if (named_by != 0)
        status = wndl_dw_names_of(spot->in, named_by, &names);
    if (status == WNDL_OK && place.is_known)
        status = wndl_dw_path(d, spot->unit, place.file, &path);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK && status != WNDL_NOT_FOUND)
        wndl_dw_count_damage(d, spot->unit);
    struct wndl_dwarf_frame *frame = wndl_vec_push(&d->frames);
    if (frame == NULL)
        return WNDL_NOMEM;
    *frame = (struct wndl_dwarf_frame){
        .name = names.name,
        .linkage_name = names.linkage_name,
        .file = path,
        .line = place.line,
        .column = place.column,
        .language = names.language,
    };
    return WNDL_OK;
}

static struct wndl_dwarf_frame *last_frame(struct wndl_dwarf *d)
{
    return wndl_vec_at(&d->frames, d->frames.len - 1);
}

/* The inlined calls around `address`, innermost first, and the function. */
static enum wndl_status add_func_frames(const struct spot *spot,
    const struct wndl_dw_func *func, struct place place)
{
    struct wndl_dwarf *d = spot->d;
    for (size_t i = 0; i < spot->chain.count; i++) {
        const struct wndl_dw_inlined *call = &spot->chain.calls[i];
        enum wndl_status status = add_frame(spot, call->named_by, place);
        if (status != WNDL_OK)
            return status;
        last_frame(d)->inlined = true;
        last_frame(d)->function_start = (wndl_svma){call->start};
        place = (struct place){
            call->call_file, call->call_line, call->call_column, true};
    }
    enum wndl_status status = add_frame(spot, func->die, place);
    if (status == WNDL_OK)
        last_frame(d)->function_start = (wndl_svma){func->start};
    return status;
}

/* The function, with its inlined calls. A damaged .dwo file has none. */
static enum wndl_status find_func(struct spot *spot, struct wndl_dw_func **func)
{
    enum wndl_status status =
        wndl_dw_find_func(spot->in, spot->code, spot->address, func);
    if (status == WNDL_OK)
        status = wndl_dw_find_inlined(
            spot->in, spot->code, *func, spot->address, &spot->chain);
    if (spot->in != spot->d)
        status = wndl_dw_lose_if_damaged(spot->in, spot->code, status);
    return status;
}

/*
 * Fills d->frames for an address that the unit should cover. If that is only a
 * hint, a unit with functions must have one there.
 */
static enum wndl_status fill_frames(struct spot *spot, bool is_hint)
{
    struct wndl_dw_func *func = NULL;
    struct wndl_dw_row row;
    enum wndl_status status = wndl_dw_find_code(&spot->in, &spot->code);
    if (status != WNDL_OK)
        return status;
    enum wndl_status in_func = find_func(spot, &func);
    if (in_func != WNDL_OK && in_func != WNDL_NOT_FOUND)
        return in_func;
    if (in_func != WNDL_OK && is_hint && spot->code->funcs.list.len != 0)
        return in_func;
    enum wndl_status in_line =
        wndl_dw_find_row(spot->d, spot->unit, spot->address, &row);
    if (in_line != WNDL_OK && in_line != WNDL_NOT_FOUND)
        return in_line;
    if (in_func != WNDL_OK && in_line != WNDL_OK)
        return WNDL_NOT_FOUND;
    struct place place = {0};
    if (in_line == WNDL_OK)
        place = (struct place){row.file, row.line, row.column, true};
    if (in_func != WNDL_OK)
        return add_frame(spot, 0, place);
    return add_func_frames(spot, func, place);
}

static enum wndl_status look_in_unit(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, bool is_hint)
{
    d->frames.len = 0;
    if (unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    struct spot spot = {d, unit, d, unit, address, {NULL, 0}};
    enum wndl_status status =
        wndl_dw_lose_if_damaged(d, unit, fill_frames(&spot, is_hint));
    if (status != WNDL_OK || spot.code->root_state != WNDL_DW_UNIT_LOST)
        return status;
    /* Reading names has shown that the function's unit is damaged. */
    if (spot.in == d)
        return WNDL_NOT_FOUND;
    unit->split->dwarf = NULL;
    return look_in_unit(d, unit, address, is_hint);
}

/* The most units that one address is looked up in. */
enum { MOST_CLAIMANTS = 16 };

/* A unit may claim code of others, in which it then has neither a function nor
 * a line. */
static enum wndl_status look_in_others(
    struct wndl_dwarf *d, const struct wndl_dw_unit *but, uint64_t address)
{
    struct wndl_dw_unit *unit;
    size_t from = 0;
    enum wndl_status status = WNDL_NOT_FOUND;
    for (unsigned i = 0; i < MOST_CLAIMANTS && status == WNDL_NOT_FOUND &&
                         wndl_dw_next_claimant(d, address, &from, &unit);
         i++)
        if (unit != but)
            status = look_in_unit(d, unit, address, false);
    return status;
}

static enum wndl_status look_up(
    struct wndl_dwarf *d, uint64_t address, bool is_code)
{
    struct wndl_dw_unit *unit;
    enum wndl_status status = wndl_dw_hinted_unit(d, address, &unit);
    if (status == WNDL_OK)
        status = look_in_unit(d, unit, address, true);
    if (status != WNDL_NOT_FOUND)
        return status;
    status = wndl_dw_find_unit(d, address, is_code, &unit);
    if (status != WNDL_OK)
        return status;
    status = look_in_unit(d, unit, address, false);
    return status == WNDL_NOT_FOUND ? look_in_others(d, unit, address) : status;
}

static enum wndl_status answer(struct wndl_dwarf *dwarf,
    enum wndl_status status, struct wndl_dwarf_frames *frames,
    struct wndl_error *err)
{
    if (status == WNDL_NOT_FOUND)
        return wndl_fail(err, status, "no unit covers the address");
    if (status != WNDL_OK)
        return wndl_fail(err, status, "out of memory");
    *frames = (struct wndl_dwarf_frames){dwarf->frames.data, dwarf->frames.len};
    return WNDL_OK;
}

enum wndl_status wndl_dwarf_lookup(struct wndl_dwarf *dwarf, wndl_svma addr,
    struct wndl_dwarf_frames *frames, struct wndl_error *err)
{
    return answer(dwarf, look_up(dwarf, addr.v, true), frames, err);
}

enum wndl_status wndl_dwarf_lookup_unlikely(struct wndl_dwarf *dwarf,
    wndl_svma addr, struct wndl_dwarf_frames *frames, struct wndl_error *err)
{
    return answer(dwarf, look_up(dwarf, addr.v, false), frames, err);
}

static void add_stats(
    struct wndl_dwarf_stats *sum, const struct wndl_dwarf_stats *more)
{
    sum->units += more->units;
    sum->units_damaged += more->units_damaged;
    sum->units_skipped += more->units_skipped;
    if (sum->first_damage.status == WNDL_OK)
        sum->first_damage = more->first_damage;
}

void wndl_dwarf_get_stats(
    const struct wndl_dwarf *dwarf, struct wndl_dwarf_stats *stats)
{
    *stats = dwarf->stats;
    for (const struct wndl_dwarf *other = dwarf->others; other != NULL;
         other = other->next_other)
        add_stats(stats, &other->stats);
}
