/* SPDX-License-Identifier: MIT */
#include "model/heap_records.h"

bool wndl_heap_list_init(struct wndl_heap_list *list, struct wndl_mem *mem)
{
    *list = (struct wndl_heap_list){.mode = WNDL_HEAP_MODE_LIVE};
    wndl_arena_init(&list->arena, mem);
    wndl_vec_init(&list->frames, &list->arena, sizeof(struct wndl_heap_frame));
    wndl_vec_init(&list->blocks, &list->arena, sizeof(struct wndl_heap_blocks));
    wndl_map_init(&list->frame_index, &list->arena);
    if (wndl_vec_push(&list->frames) != NULL &&
        wndl_intern_init(&list->strings, &list->arena))
        return true;
    wndl_heap_list_free(list);
    return false;
}

void wndl_heap_list_free(struct wndl_heap_list *list)
{
    wndl_arena_free(&list->arena);
}

bool wndl_heap_list_frame(struct wndl_heap_list *list, uint32_t caller,
    struct wndl_bytes text, uint32_t *frame)
{
    uint32_t id;
    return wndl_intern_add(&list->strings, text, &id) &&
           wndl_heap_list_frame_of(list, caller, id, frame);
}

bool wndl_heap_list_frame_of(
    struct wndl_heap_list *list, uint32_t caller, uint32_t id, uint32_t *frame)
{
    uint64_t *found =
        wndl_map_put(&list->frame_index, (uint64_t)caller << 32 | id);
    if (found == NULL || list->frames.len >= UINT32_MAX)
        return false;
    if (*found == 0) { /* frame 0, which is nobody's caller: so it is new */
        struct wndl_heap_frame *fresh = wndl_vec_push(&list->frames);
        if (fresh == NULL)
            return false;
        *fresh = (struct wndl_heap_frame){caller, id};
        *found = list->frames.len - 1;
    }
    *frame = (uint32_t)*found;
    return true;
}

bool wndl_heap_list_add(
    struct wndl_heap_list *list, const struct wndl_heap_blocks *blocks)
{
    struct wndl_heap_blocks *slot = wndl_vec_push(&list->blocks);
    if (slot == NULL)
        return false;
    *slot = *blocks;
    return true;
}
