/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

static bool append(
    struct wndl_intern *intern, struct wndl_bytes s, uint32_t older)
{
    if (intern->strings.len >= UINT32_MAX)
        return false;
    char *copy = wndl_arena_copy(intern->arena, s.data, s.size);
    if (copy == NULL || !wndl_vec_reserve(&intern->strings, 1) ||
        !wndl_vec_reserve(&intern->next, 1))
        return false;
    struct wndl_bytes *string = wndl_vec_push(&intern->strings);
    *string = (struct wndl_bytes){(const uint8_t *)copy, s.size};
    uint32_t *next = wndl_vec_push(&intern->next);
    *next = older;
    return true;
}

bool wndl_intern_init(struct wndl_intern *intern, struct wndl_arena *arena)
{
    *intern = (struct wndl_intern){.arena = arena};
    wndl_vec_init(&intern->strings, arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&intern->next, arena, sizeof(uint32_t));
    wndl_map_init(&intern->heads, arena);
    return append(intern, (struct wndl_bytes){(const uint8_t *)"", 0}, 0);
}

bool wndl_intern_add(
    struct wndl_intern *intern, struct wndl_bytes s, uint32_t *id)
{
    *id = 0;
    if (s.size == 0)
        return true;
    uint64_t *head =
        wndl_map_put(&intern->heads, wndl_hash_bytes(s.data, s.size));
    if (head == NULL)
        return false;
    for (uint32_t i = (uint32_t)*head; i != 0;
         i = *(uint32_t *)wndl_vec_at(&intern->next, i)) {
        if (wndl_bytes_equal(wndl_intern_get(intern, i), s)) {
            *id = i;
            return true;
        }
    }
    uint32_t fresh = wndl_intern_count(intern);
    if (!append(intern, s, (uint32_t)*head))
        return false;
    *head = fresh;
    *id = fresh;
    return true;
}
