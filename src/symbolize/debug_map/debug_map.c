/* SPDX-License-Identifier: MIT */
#include "symbolize/debug_map/debug_map.h"

#include "base/search.h"

#include "symbolize/debug_map/impl.h"

#include <stdlib.h>
#include <string.h>

static bool sort_by_source(struct wndl_debug_map *map)
{
    const struct wndl_macho_map *m = &map->linked;
    struct wndl_arena *arena = &map->arena;
    map->by_source =
        wndl_arena_calloc(arena, m->linked_count, sizeof *map->by_source);
    map->first_of =
        wndl_arena_calloc(arena, m->source_count + 2, sizeof *map->first_of);
    if (map->by_source == NULL || map->first_of == NULL)
        return false;
    for (size_t i = 0; i < m->linked_count; i++)
        map->first_of[m->linked[i].source + 2]++;
    for (size_t i = 2; i < m->source_count + 2; i++)
        map->first_of[i] += map->first_of[i - 1];
    for (size_t i = 0; i < m->linked_count; i++)
        map->by_source[map->first_of[m->linked[i].source + 1]++] = (uint32_t)i;
    return true;
}

enum wndl_status wndl_debug_map_open(const struct wndl_object *binary,
    const char *const *dirs, struct wndl_mem *mem, struct wndl_debug_map **out)
{
    struct wndl_error err = {0};
    *out = NULL;
    struct wndl_debug_map *map = wndl_mem_zalloc(mem, sizeof *map);
    if (map == NULL)
        return WNDL_NOMEM;
    map->mem = mem;
    map->has_arch = wndl_macho_arch_of(binary, map->arch);
    map->binary_path = wndl_object_path(binary);
    wndl_arena_init(&map->arena, mem);
    map->dirs = dirs == NULL ? NULL : wndl_debug_dirs_copy(&map->arena, dirs);
    wndl_vec_init(&map->frames, &map->arena, sizeof(struct wndl_dwarf_frame));
    enum wndl_status status =
        wndl_macho_read_map(binary, &map->arena, &map->linked, &err);
    wndl_map_init(&map->by_path, &map->arena);
    wndl_map_init(&map->namesakes, &map->arena);
    wndl_map_init(&map->by_bytes, &map->arena);
    if (status == WNDL_OK) {
        map->sources = wndl_arena_calloc(
            &map->arena, map->linked.source_count, sizeof *map->sources);
        bool has_memory = map->sources != NULL && sort_by_source(map) &&
                          (dirs == NULL || map->dirs != NULL);
        status = !has_memory ? WNDL_NOMEM : WNDL_OK;
    }
    if (status == WNDL_OK) {
        *out = map;
        return status;
    }
    wndl_debug_map_close(map);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

void wndl_debug_map_close(struct wndl_debug_map *map)
{
    if (map == NULL)
        return;
    wndl_debug_map_objects_close(map);
    wndl_arena_free(&map->arena);
    wndl_mem_free(map->mem, map);
}

/*
 * The last of `count` elements of `size` bytes that begins at or before `addr`.
 * Each element starts with its address, and they are sorted by it.
 */
static const void *last_up_to(
    const void *list, size_t count, size_t size, uint64_t addr)
{
    size_t at = wndl_search_up_to(list, size, count, addr);
    return at == 0 ? NULL : (const uint8_t *)list + (at - 1) * size;
}

/* The piece of code at `addr`, the last of equal ones, or NULL. */
static const struct wndl_macho_linked *linked_at(
    const struct wndl_debug_map *map, uint64_t addr)
{
    const struct wndl_macho_linked *last = last_up_to(map->linked.linked,
        map->linked.linked_count, sizeof *map->linked.linked, addr);
    return last == NULL || addr >= last->end ? NULL : last;
}

uint32_t wndl_debug_map_unit(const struct wndl_debug_map *map, wndl_svma addr)
{
    const struct wndl_macho_linked *linked = linked_at(map, addr.v);
    return linked == NULL ? UINT32_MAX : linked->source;
}

/* Opens the object and finds the piece's address in it. NOT_FOUND, NOMEM. */
static enum wndl_status place_of(struct wndl_debug_map *map,
    const struct wndl_macho_linked *linked,
    struct wndl_debug_map_object **object, uint64_t *start)
{
    enum wndl_status status =
        wndl_debug_map_object_need(map, linked->source, object);
    if (status != WNDL_OK)
        return status;
    const uint64_t *known = wndl_map_get(&(*object)->names,
        wndl_hash_bytes(linked->name.data, linked->name.size));
    if (known == NULL)
        return WNDL_NOT_FOUND;
    *start = *known;
    return WNDL_OK;
}

/* Names and lines stay as in the object; the starts of functions are moved. */
static enum wndl_status move_frames(
    struct wndl_debug_map *map, uint64_t by, struct wndl_dwarf_frames *frames)
{
    map->frames.len = 0;
    for (size_t i = 0; i < frames->count; i++) {
        struct wndl_dwarf_frame *frame = wndl_vec_push(&map->frames);
        if (frame == NULL)
            return WNDL_NOMEM;
        *frame = frames->frames[i];
        frame->function_start.v += by;
    }
    frames->frames = map->frames.data;
    return WNDL_OK;
}

/*
 * An answer with only a line is for the padding between two functions, which
 * dSYM files do not have either; unless it is from an assembler, which has no
 * functions.
 */
static bool is_filling(const struct wndl_dwarf_frames *frames)
{
    enum { ASSEMBLER = 0x8001 }; /* DW_LANG_Mips_Assembler */
    return frames->count == 1 && frames->frames[0].language != ASSEMBLER &&
           frames->frames[0].name.size == 0 &&
           frames->frames[0].linkage_name.size == 0;
}

enum wndl_status wndl_debug_map_lookup(struct wndl_debug_map *map,
    wndl_svma addr, struct wndl_dwarf_frames *frames)
{
    struct wndl_debug_map_object *object;
    uint64_t start;
    const struct wndl_macho_linked *linked = linked_at(map, addr.v);
    *frames = (struct wndl_dwarf_frames){0};
    if (linked == NULL)
        return WNDL_NOT_FOUND;
    enum wndl_status status = place_of(map, linked, &object, &start);
    if (status != WNDL_OK)
        return status;
    wndl_svma there = {addr.v - linked->start + start};
    status = wndl_dwarf_lookup(object->dwarf, there, frames, NULL);
    if (status == WNDL_OK && is_filling(frames))
        status = WNDL_NOT_FOUND;
    return status == WNDL_OK ? move_frames(map, linked->start - start, frames)
                             : status;
}

/* ---- all functions of an object */

/* The place of a piece in its object. */
struct placed {
    uint64_t start;
    const struct wndl_macho_linked *linked;
};

struct visiting {
    struct wndl_vec placed; /* struct placed: of the object, by start */
    struct wndl_vec ranges; /* struct wndl_dwarf_range */
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function);
    void *context;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_dwarf_range *a = left;
    const struct wndl_dwarf_range *b = right;
    return (a->start.v > b->start.v) - (a->start.v < b->start.v);
}

/* The piece with that address of the object; NULL: it was not linked. */
static const struct placed *placed_at(
    const struct visiting *v, uint64_t address)
{
    const struct placed *found = last_up_to(
        v->placed.data, v->placed.len, sizeof(struct placed), address);
    if (found == NULL)
        return NULL;
    uint64_t size = found->linked->end - found->linked->start;
    return address - found->start < size ? found : NULL;
}

/* Passes on the linked parts of a function, at their linked addresses. */
static enum wndl_status move_function(
    void *context, const struct wndl_dwarf_function *function)
{
    struct visiting *v = context;
    v->ranges.len = 0;
    for (size_t i = 0; i < function->range_count; i++) {
        struct wndl_dwarf_range range = function->ranges[i];
        const struct placed *at = placed_at(v, range.start.v);
        if (at == NULL)
            continue;
        struct wndl_dwarf_range *moved = wndl_vec_push(&v->ranges);
        if (moved == NULL)
            return WNDL_NOMEM;
        uint64_t by = at->linked->start - at->start;
        moved->start.v = range.start.v + by;
        moved->end.v = range.end.v + by;
        if (moved->end.v > at->linked->end)
            moved->end.v = at->linked->end;
    }
    if (v->ranges.len == 0)
        return WNDL_OK;
    qsort(v->ranges.data, v->ranges.len, sizeof(struct wndl_dwarf_range),
        compare_ranges);
    struct wndl_dwarf_function moved = *function;
    moved.ranges = v->ranges.data;
    moved.range_count = v->ranges.len;
    return v->visit(v->context, &moved);
}

static enum wndl_status visit_object(
    const struct wndl_debug_map_object *object, struct visiting *v)
{
    size_t units = 0;
    if (v->placed.len == 0)
        return WNDL_OK;
    qsort(v->placed.data, v->placed.len, sizeof(struct placed), compare_placed);
    enum wndl_status status = wndl_dwarf_unit_count(object->dwarf, &units);
    for (size_t i = 0; i < units && status == WNDL_OK; i++)
        status = wndl_dwarf_visit_functions(object->dwarf, i, move_function, v);
    return status;
}

static enum wndl_status visit_source(
    struct wndl_debug_map *map, uint32_t source, struct visiting *v)
{
    struct wndl_debug_map_object *object = NULL;
    v->placed.len = 0;
    for (uint32_t i = map->first_of[source]; i < map->first_of[source + 1];
         i++) {
        struct placed placed = {.linked = wndl_debug_map_linked_of(map, i)};
        enum wndl_status status =
            place_of(map, placed.linked, &object, &placed.start);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            continue;
        struct placed *slot = wndl_vec_push(&v->placed);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = placed;
    }
    return visit_object(object, v);
}

enum wndl_status wndl_debug_map_visit_functions(struct wndl_debug_map *map,
    enum wndl_status (*visit)(
        void *context, const struct wndl_dwarf_function *function),
    void *context)
{
    struct wndl_arena scratch;
    struct visiting v = {.visit = visit, .context = context};
    enum wndl_status status = WNDL_OK;
    wndl_arena_init(&scratch, map->mem);
    wndl_vec_init(&v.placed, &scratch, sizeof(struct placed));
    wndl_vec_init(&v.ranges, &scratch, sizeof(struct wndl_dwarf_range));
    for (uint32_t i = 0; i < map->linked.source_count && status == WNDL_OK; i++)
        status = visit_source(map, i, &v);
    wndl_arena_free(&scratch);
    return status;
}

/* ---- where answers change */

static bool add_place(
    struct wndl_vec *places, struct wndl_dwarf_range range, uint64_t address)
{
    if (address < range.start.v || address >= range.end.v)
        return true;
    uint64_t *place = wndl_vec_push(places);
    if (place != NULL)
        *place = address;
    return place != NULL;
}

static enum wndl_status changes_in(struct wndl_debug_map *map,
    const struct wndl_macho_linked *linked, struct wndl_dwarf_range range,
    struct wndl_vec *places)
{
    struct wndl_debug_map_object *object;
    uint64_t start;
    if (!add_place(places, range, linked->start) ||
        !add_place(places, range, linked->end))
        return WNDL_NOMEM;
    enum wndl_status status = place_of(map, linked, &object, &start);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    uint64_t by = linked->start - start;
    if (range.start.v < linked->start)
        range.start.v = linked->start;
    if (range.end.v > linked->end)
        range.end.v = linked->end;
    size_t first = places->len;
    struct wndl_dwarf_range there = {{range.start.v - by}, {range.end.v - by}};
    status = wndl_dwarf_changes(object->dwarf, there, places);
    for (size_t i = first; i < places->len; i++)
        *(uint64_t *)wndl_vec_at(places, i) += by;
    return status;
}

enum wndl_status wndl_debug_map_changes(struct wndl_debug_map *map,
    struct wndl_dwarf_range range, struct wndl_vec *places)
{
    uint64_t at = range.start.v;
    enum wndl_status status = WNDL_OK;
    const struct wndl_macho_linked *list = map->linked.linked;
    const struct wndl_macho_linked *end = list + map->linked.linked_count;
    const struct wndl_macho_linked *linked =
        last_up_to(list, map->linked.linked_count, sizeof *list, at);
    if (linked == NULL)
        linked = list;
    else if (linked->end <= at)
        linked++;
    for (; linked < end && linked->start < range.end.v && status == WNDL_OK;
         linked++)
        status = changes_in(map, linked, range, places);
    return status;
}

void wndl_debug_map_get_stats(
    const struct wndl_debug_map *map, struct wndl_dwarf_stats *stats)
{
    *stats = (struct wndl_dwarf_stats){
        .files_missing = map->files_missing,
        .first_missing = map->first_missing,
    };
    for (const struct wndl_debug_map_object *o = map->objects; o != NULL;
         o = o->next) {
        struct wndl_dwarf_stats one = {0};
        if (o->dwarf == NULL)
            continue;
        wndl_dwarf_get_stats(o->dwarf, &one);
        stats->units += one.units;
        stats->units_damaged += one.units_damaged;
        stats->units_skipped += one.units_skipped;
        stats->files_missing += one.files_missing;
        if (stats->first_damage.status == WNDL_OK)
            stats->first_damage = one.first_damage;
        if (stats->first_missing.status == WNDL_OK)
            stats->first_missing = one.first_missing;
    }
}
