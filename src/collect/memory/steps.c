/* SPDX-License-Identifier: MIT */
#include "collect/memory/steps.h"

#include "os/maps.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading */

static struct wndl_step_range *add_range(struct wndl_step_map *map)
{
    if (map->count == map->room) {
        const size_t room = map->room == 0 ? 64 : 2 * map->room;
        struct wndl_step_range *more =
            realloc(map->ranges, room * sizeof *more);
        if (more == NULL)
            return NULL;
        map->ranges = more;
        map->room = room;
    }
    return &map->ranges[map->count++];
}

static void copy_name(char *to, size_t size, struct wndl_bytes path)
{
    const uint8_t *slash =
        path.size == 0 ? NULL : memrchr(path.data, '/', path.size);
    if (slash != NULL)
        path = wndl_bytes_slice(path, (uint64_t)(slash + 1 - path.data),
            path.size - (size_t)(slash + 1 - path.data));
    const size_t used = path.size < size - 1 ? path.size : size - 1;
    if (used != 0)
        memcpy(to, path.data, used);
    to[used] = '\0';
}

struct reading {
    struct wndl_step_map *map;
    bool no_memory;
};

static bool add_mapping(void *context, const struct wndl_mapping *m)
{
    struct reading *r = context;
    if (!m->readable && !m->writable && !m->executable)
        return true;
    struct wndl_step_range *range = add_range(r->map);
    r->no_memory = range == NULL;
    if (range == NULL)
        return false;
    range->start = m->start;
    range->end = m->end;
    range->is_code = m->executable && m->inode == 0;
    copy_name(range->name, sizeof range->name, m->path);
    return true;
}

bool wndl_steps_read(struct wndl_step_map *map, const char *path)
{
    uint8_t room[PATH_MAX + 512];
    struct reading reading = {map, false};
    map->count = 0;
    return wndl_maps_each(path, (struct wndl_bytes){room, sizeof room},
               add_mapping, &reading) &&
           !reading.no_memory;
}

void wndl_steps_free(struct wndl_step_map *map)
{
    free(map->ranges);
    *map = (struct wndl_step_map){0};
}

/* ---- comparing */

struct comparison {
    uint64_t above;
    void (*visit)(void *context, const struct wndl_step_range *range);
    void *context;
};

static void visit_part(const struct comparison *c,
    const struct wndl_step_range *of, uint64_t start, uint64_t end)
{
    struct wndl_step_range part = *of;
    if (start >= end || end - start < c->above)
        return;
    part.start = start;
    part.end = end;
    c->visit(c->context, &part);
}

/* The parts of `range` that no range of its kind in `other`, from `at`, has. */
static void visit_uncovered(const struct comparison *c,
    const struct wndl_step_range *range, const struct wndl_step_map *other,
    size_t at)
{
    uint64_t start = range->start;
    for (; at < other->count && other->ranges[at].start < range->end; at++) {
        const struct wndl_step_range *covers = &other->ranges[at];
        if (covers->is_code != range->is_code || covers->end <= start)
            continue;
        visit_part(c, range, start, covers->start);
        start = covers->end;
    }
    visit_part(c, range, start, range->end);
}

void wndl_steps_each_more(const struct wndl_step_map *map,
    const struct wndl_step_map *other, uint64_t above,
    void (*visit)(void *context, const struct wndl_step_range *range),
    void *context)
{
    const struct comparison c = {above, visit, context};
    size_t at = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct wndl_step_range *range = &map->ranges[i];
        while (at < other->count && other->ranges[at].end <= range->start)
            at++;
        visit_uncovered(&c, range, other, at);
    }
}
