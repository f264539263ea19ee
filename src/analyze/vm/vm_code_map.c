/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_code_map.h"

#include "base/search.h"

#include <stdlib.h>

/*
 * The addresses are cut at every border of code. Span i is
 * [borders[i], borders[i + 1]); it belongs to the code of index owners[i] - 1.
 */
struct spans {
    uint64_t *borders;
    uint32_t *owners;
    uint32_t *next; /* span i is owned, unless next[i] == i: then try next[i] */
    size_t count;
};

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static size_t keep_distinct(uint64_t *sorted, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || sorted[kept - 1] != sorted[i])
            sorted[kept++] = sorted[i];
    return kept;
}

static bool cut_at_borders(
    struct spans *s, struct wndl_arena *arena, const struct wndl_vec *codes)
{
    const size_t most = 2 * codes->len;
    s->borders = wndl_arena_calloc(arena, most, sizeof *s->borders);
    s->owners = wndl_arena_calloc(arena, most, sizeof *s->owners);
    s->next = wndl_arena_calloc(arena, most, sizeof *s->next);
    if (s->borders == NULL || s->owners == NULL || s->next == NULL)
        return false;
    for (size_t i = 0; i < codes->len; i++) {
        const struct wndl_vm_code *code = wndl_vec_at(codes, i);
        s->borders[2 * i] = code->start;
        s->borders[2 * i + 1] = code->end;
    }
    qsort(s->borders, most, sizeof *s->borders, compare_numbers);
    s->count = keep_distinct(s->borders, most);
    for (uint32_t i = 0; i < s->count; i++)
        s->next[i] = i;
    return true;
}

/* The first span from `i` on that nobody owns; the last one is no span. */
static uint32_t free_span(struct spans *s, uint32_t i)
{
    while (s->next[i] != i) {
        s->next[i] = s->next[s->next[i]];
        i = s->next[i];
    }
    return i;
}

static void own_spans(
    struct spans *s, const struct wndl_vm_code *code, uint32_t index)
{
    const size_t first = wndl_search_up_to(
        s->borders, sizeof *s->borders, s->count, code->start);
    for (uint32_t i = free_span(s, (uint32_t)first - 1);
         s->borders[i] < code->end; i = free_span(s, i)) {
        s->owners[i] = index + 1;
        s->next[i] = i + 1;
    }
}

static bool add_pieces(struct wndl_vm_code_map *map, const struct spans *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->owners[i] == 0)
            continue;
        if (i != 0 && s->owners[i - 1] == s->owners[i]) {
            struct wndl_vm_piece *last =
                wndl_vec_at(&map->pieces, map->pieces.len - 1);
            last->end = s->borders[i + 1];
            continue;
        }
        struct wndl_vm_piece *piece = wndl_vec_push(&map->pieces);
        if (piece == NULL)
            return false;
        *piece = (struct wndl_vm_piece){
            s->borders[i], s->borders[i + 1], s->owners[i] - 1};
    }
    return true;
}

bool wndl_vm_code_map_fill(struct wndl_vm_code_map *map,
    struct wndl_arena *arena, const struct wndl_vec *codes)
{
    struct spans s = {0};
    wndl_vec_init(&map->pieces, arena, sizeof(struct wndl_vm_piece));
    if (codes->len == 0)
        return true;
    if (!cut_at_borders(&s, arena, codes))
        return false;
    for (size_t i = codes->len; i-- > 0;)
        own_spans(&s, wndl_vec_at(codes, i), (uint32_t)i);
    return add_pieces(map, &s);
}

const struct wndl_vm_piece *wndl_vm_code_map_find(
    const struct wndl_vm_code_map *map, uint64_t ip)
{
    const struct wndl_vm_piece *list = map->pieces.data;
    if (map->pieces.len == 0)
        return NULL;
    size_t count =
        wndl_search_up_to(&list->start, sizeof *list, map->pieces.len, ip);
    return count == 0 || ip >= list[count - 1].end ? NULL : &list[count - 1];
}
