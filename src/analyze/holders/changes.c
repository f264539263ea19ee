/* SPDX-License-Identifier: MIT */
#include "analyze/holders/changes.h"

#include <stdlib.h>
#include <string.h>

enum { EARLIER, LATER };

/* Rows of both sides by place, an id of the changes' strings. */
struct joining {
    struct wndl_holder_changes *c;
    struct wndl_vec *table; /* struct wndl_holder_change */
    struct wndl_map known;  /* by place: index in the table, + 1 */
};

static struct wndl_holder_change *change_of(
    struct joining *j, struct wndl_bytes place)
{
    uint32_t id;
    if (!wndl_intern_add(&j->c->strings, place, &id))
        return NULL;
    uint64_t *known = wndl_map_put(&j->known, id);
    if (known == NULL)
        return NULL;
    if (*known != 0)
        return wndl_vec_at(j->table, *known - 1);
    struct wndl_holder_change *added = wndl_vec_push(j->table);
    if (added == NULL)
        return NULL;
    *added = (struct wndl_holder_change){.place = id};
    *known = j->table->len;
    return added;
}

static bool add_side(struct joining *j, const struct wndl_heap_holders *h,
    const struct wndl_vec *rows, int side)
{
    const struct wndl_heap_retained *all = rows->data;
    for (size_t i = 0; i < rows->len; i++) {
        struct wndl_holder_change *change =
            change_of(j, wndl_intern_get(&h->strings, all[i].place));
        if (change == NULL)
            return false;
        change->retained[side] = all[i].retained;
        change->blocks[side] = all[i].blocks;
    }
    return true;
}

/* ---- the order */

static uint64_t size_of_change(const struct wndl_holder_change *change)
{
    const uint64_t *retained = change->retained;
    return retained[LATER] > retained[EARLIER]
               ? retained[LATER] - retained[EARLIER]
               : retained[EARLIER] - retained[LATER];
}

static int compare(const void *a, const void *b)
{
    const struct wndl_holder_change *x = a, *y = b;
    const uint64_t of_x = size_of_change(x), of_y = size_of_change(y);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Places and roots that did not change are left out. */
static void sort_changes(struct wndl_vec *table)
{
    struct wndl_holder_change *all = table->data;
    size_t kept = 0;
    for (size_t i = 0; i < table->len; i++) {
        if (size_of_change(&all[i]) != 0 ||
            all[i].blocks[EARLIER] != all[i].blocks[LATER])
            all[kept++] = all[i];
    }
    table->len = kept;
    if (kept != 0)
        qsort(all, kept, sizeof *all, compare);
}

static bool join(struct wndl_holder_changes *c, struct wndl_vec *table,
    const struct wndl_heap_holders *const sides[2],
    const struct wndl_vec *const rows[2])
{
    struct joining j = {.c = c, .table = table};
    struct wndl_arena scratch;
    wndl_arena_init(&scratch, c->arena.mem);
    wndl_map_init(&j.known, &scratch);
    wndl_vec_init(table, &c->arena, sizeof(struct wndl_holder_change));
    const bool is_joined =
        add_side(&j, sides[EARLIER], rows[EARLIER], EARLIER) &&
        add_side(&j, sides[LATER], rows[LATER], LATER);
    wndl_arena_free(&scratch);
    if (is_joined)
        sort_changes(table);
    return is_joined;
}

bool wndl_holder_changes_fill(struct wndl_holder_changes *changes,
    const struct wndl_heap_holders *earlier,
    const struct wndl_heap_holders *later, struct wndl_mem *mem)
{
    const struct wndl_heap_holders *const sides[] = {earlier, later};
    const struct wndl_vec *const places[] = {
        &earlier->by_place, &later->by_place};
    const struct wndl_vec *const roots[] = {&earlier->by_root, &later->by_root};
    *changes = (struct wndl_holder_changes){
        .bytes = {earlier->bytes, later->bytes},
        .blocks = {earlier->graph.block_count, later->graph.block_count},
    };
    wndl_arena_init(&changes->arena, mem);
    return wndl_intern_init(&changes->strings, &changes->arena) &&
           join(changes, &changes->by_place, sides, places) &&
           join(changes, &changes->by_root, sides, roots);
}

void wndl_holder_changes_free(struct wndl_holder_changes *changes)
{
    wndl_arena_free(&changes->arena);
}
