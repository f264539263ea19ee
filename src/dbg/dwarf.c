/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf_internal.h"

#include "base/status.h"

#include <string.h>

enum wndl_status wndl_dw_damage(struct wndl_dwarf *d, const char *section,
    uint64_t offset, const char *what)
{
    return wndl_fail_at(&d->detail, WNDL_MALFORMED, section, offset, what);
}

void wndl_dw_count_damage(struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (unit->is_counted)
        return;
    unit->is_counted = true;
    d->stats.units_damaged++;
    if (d->stats.first_damage.status == WNDL_OK)
        d->stats.first_damage = d->detail;
}

enum wndl_status wndl_dw_settle(
    struct wndl_dwarf *d, struct wndl_dw_unit *unit, enum wndl_status status)
{
    if (status == WNDL_OK || status == WNDL_NOT_FOUND || status == WNDL_NOMEM)
        return status;
    wndl_dw_count_damage(d, unit);
    unit->root_state = WNDL_DW_UNIT_LOST;
    return WNDL_NOT_FOUND;
}

bool wndl_dw_keep(const struct wndl_vec *from, struct wndl_vec *to)
{
    wndl_vec_init(to, from->arena, from->element);
    if (from->len == 0)
        return true;
    to->data = wndl_arena_calloc(from->arena, from->len, from->element);
    if (to->data == NULL)
        return false;
    memcpy(to->data, from->data, from->len * from->element);
    to->len = to->cap = from->len;
    return true;
}

static void init_containers(struct wndl_dwarf *d)
{
    struct wndl_arena *arena = &d->arena;
    wndl_vec_init(&d->units, arena, sizeof(struct wndl_dw_unit));
    wndl_vec_init(&d->names, arena, sizeof(struct wndl_dw_names));
    wndl_vec_init(&d->paths, arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&d->unit_ranges, arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d->ranges, arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d->heap, arena, sizeof(uint32_t));
    wndl_vec_init(&d->inlined, arena, sizeof(struct wndl_dw_inlined));
    wndl_vec_init(&d->frames, arena, sizeof(struct wndl_dwarf_frame));
    wndl_vec_init(&d->new_funcs, arena, sizeof(struct wndl_dw_func));
    wndl_vec_init(&d->new_rows, arena, sizeof(struct wndl_dw_row));
    wndl_vec_init(&d->new_sequences, arena, sizeof(struct wndl_dw_sequence));
    wndl_vec_init(&d->segments, arena, sizeof(struct wndl_dw_range));
    wndl_map_init(&d->abbrevs, arena);
    wndl_map_init(&d->lines, arena);
    wndl_map_init(&d->name_of, arena);
    wndl_map_init(&d->path_of, arena);
    wndl_dw_abbrevs_init(&d->new_abbrevs, arena);
    d->last_root_abbrevs = UINT64_MAX;
}

/* Each list, table and program may be read some times over, not without end;
 * no list entry takes less than two bytes. */
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
    if (sections->info.size == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no .debug_info");
    struct wndl_dwarf *d = wndl_mem_zalloc(mem, sizeof *d);
    if (d == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    d->in = *sections;
    d->mem = mem;
    wndl_arena_init(&d->arena, mem);
    init_containers(d);
    init_budget(d);
    enum wndl_status status = wndl_dw_read_headers(d);
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

void wndl_dwarf_close(struct wndl_dwarf *dwarf)
{
    if (dwarf == NULL)
        return;
    wndl_arena_free(&dwarf->arena);
    wndl_mem_free(dwarf->mem, dwarf);
}

/* A place in the source. */
struct place {
    uint32_t file;
    uint32_t line;
    uint32_t column;
    bool is_known;
};

/* Names and place of a new frame. Damage of paths costs only the path. */
static enum wndl_status add_frame(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t named_by, struct place place)
{
    struct wndl_dw_names names = {
        {(const uint8_t *)"", 0}, {(const uint8_t *)"", 0}};
    struct wndl_bytes path = names.name;
    enum wndl_status status = WNDL_OK;
    if (named_by != 0)
        status = wndl_dw_names_of(d, named_by, &names);
    if (status == WNDL_OK && place.is_known)
        status = wndl_dw_path(d, unit, place.file, &path);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK && status != WNDL_NOT_FOUND)
        wndl_dw_count_damage(d, unit);
    struct wndl_dwarf_frame *frame = wndl_vec_push(&d->frames);
    if (frame == NULL)
        return WNDL_NOMEM;
    *frame = (struct wndl_dwarf_frame){
        .name = names.name,
        .linkage_name = names.linkage_name,
        .file = path,
        .line = place.line,
        .column = place.column,
    };
    return WNDL_OK;
}

static struct wndl_dwarf_frame *last_frame(struct wndl_dwarf *d)
{
    return wndl_vec_at(&d->frames, d->frames.len - 1);
}

/* The inlined calls around `address`, innermost first, and the function. */
static enum wndl_status add_func_frames(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, const struct wndl_dw_func *func,
    const struct wndl_dw_range *innermost, struct place place)
{
    uint32_t id = innermost == NULL ? WNDL_DW_NO_PARENT : innermost->id;
    while (id != WNDL_DW_NO_PARENT) {
        const struct wndl_dw_inlined *call = &func->inlines->list[id];
        enum wndl_status status = add_frame(d, unit, call->named_by, place);
        if (status != WNDL_OK)
            return status;
        last_frame(d)->inlined = true;
        last_frame(d)->function_start = (wndl_svma){call->start};
        place = (struct place){
            call->call_file, call->call_line, call->call_column, true};
        id = call->parent;
    }
    enum wndl_status status = add_frame(d, unit, func->die, place);
    if (status == WNDL_OK)
        last_frame(d)->function_start = (wndl_svma){func->start};
    return status;
}

/* d->frames for `address`, which `unit` is said to cover. */
static enum wndl_status fill_frames(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, bool only_func)
{
    struct wndl_dw_func *func = NULL;
    struct wndl_dw_row row;
    enum wndl_status in_func = wndl_dw_find_func(d, unit, address, &func);
    if (in_func != WNDL_OK && (in_func != WNDL_NOT_FOUND || only_func))
        return in_func;
    if (in_func == WNDL_OK)
        in_func = wndl_dw_load_inlines(d, unit, func);
    if (in_func != WNDL_OK && in_func != WNDL_NOT_FOUND)
        return in_func;
    enum wndl_status in_line = wndl_dw_find_row(d, unit, address, &row);
    if (in_line != WNDL_OK && in_line != WNDL_NOT_FOUND)
        return in_line;
    if (in_func != WNDL_OK && in_line != WNDL_OK)
        return WNDL_NOT_FOUND;
    struct place place = {0};
    if (in_line == WNDL_OK)
        place = (struct place){row.file, row.line, row.column, true};
    if (func == NULL)
        return add_frame(d, unit, 0, place);
    return add_func_frames(d, unit, func,
        wndl_dw_cover_find(&func->inlines->cover, address), place);
}

static enum wndl_status look_in_unit(struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, uint64_t address, bool only_func)
{
    d->frames.len = 0;
    if (unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_dw_settle(d, unit, fill_frames(d, unit, address, only_func));
    /* Reading names may have shown that this very unit is damaged. */
    if (status == WNDL_OK && unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    return status;
}

static enum wndl_status look_up(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dw_unit *unit;
    enum wndl_status status = wndl_dw_hinted_unit(d, address, &unit);
    if (status == WNDL_OK)
        status = look_in_unit(d, unit, address, true);
    if (status != WNDL_NOT_FOUND)
        return status;
    status = wndl_dw_find_unit(d, address, &unit);
    return status == WNDL_OK ? look_in_unit(d, unit, address, false) : status;
}

enum wndl_status wndl_dwarf_lookup(struct wndl_dwarf *dwarf, wndl_svma addr,
    struct wndl_dwarf_frames *frames, struct wndl_error *err)
{
    enum wndl_status status = look_up(dwarf, addr.v);
    if (status == WNDL_NOT_FOUND)
        return wndl_fail(err, status, "no unit covers the address");
    if (status != WNDL_OK)
        return wndl_fail(err, status, "out of memory");
    *frames = (struct wndl_dwarf_frames){dwarf->frames.data, dwarf->frames.len};
    return WNDL_OK;
}

void wndl_dwarf_get_stats(
    const struct wndl_dwarf *dwarf, struct wndl_dwarf_stats *stats)
{
    *stats = dwarf->stats;
}
