/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_walk.h"

#include "analyze/vm/vm_code.h"

/* The file of some code, opened when one of its addresses is asked for. */
struct wndl_vm_file {
    bool is_open;
    struct wndl_extents extents;
    uint64_t to_rva; /* added to an avma */
};

bool wndl_vm_walks_init(
    struct wndl_vm_walks *w, const struct wndl_vm *vm, struct wndl_mem *mem)
{
    *w = (struct wndl_vm_walks){.vm = vm};
    wndl_arena_init(&w->arena, mem);
    wndl_map_init(&w->outermost, &w->arena);
    w->files = wndl_arena_calloc(&w->arena, vm->code.len + 1, sizeof *w->files);
    return w->files != NULL &&
           wndl_vm_code_map_fill(&w->map, &w->arena, &vm->code);
}

void wndl_vm_walks_free(struct wndl_vm_walks *w)
{
    for (size_t i = 0; w->files != NULL && i < w->vm->code.len; i++)
        if (w->files[i].is_open)
            wndl_extents_close(&w->files[i].extents);
    wndl_arena_free(&w->arena);
}

static const struct wndl_vm_file *open_file(
    struct wndl_vm_walks *w, uint32_t index)
{
    struct wndl_vm_file *file = &w->files[index];
    const struct wndl_vm_code *code = wndl_vec_at(&w->vm->code, index);
    struct wndl_vm_code_place place;
    if (file->is_open)
        return file;
    file->is_open = true;
    if (!wndl_vm_code_place(code, w->arena.mem, &place))
        return file;
    file->to_rva = place.to_rva;
    wndl_extents_open(&file->extents, code->path, w->arena.mem);
    return file;
}

/* An address in no file's code has no CFI that says so. */
static bool find_out(struct wndl_vm_walks *w, uint64_t ip)
{
    const struct wndl_vm_piece *piece = wndl_vm_code_map_find(&w->map, ip);
    if (piece == NULL)
        return false;
    const struct wndl_vm_file *file = open_file(w, piece->code);
    return wndl_extents_is_outermost(
        &file->extents, (wndl_rva){ip + file->to_rva});
}

static bool is_outermost(struct wndl_vm_walks *w, uint64_t ip)
{
    uint64_t *known = wndl_map_put(&w->outermost, ip);
    if (known == NULL) {
        w->failed = true;
        return false;
    }
    if (*known == 0)
        *known = find_out(w, ip) ? 2 : 1;
    return *known == 2;
}

uint32_t wndl_vm_walk_count(struct wndl_vm_walks *w, const uint64_t *ips,
    uint32_t count, bool cut, enum wndl_walk_end *end)
{
    *end = WNDL_END_COMPLETE;
    for (uint32_t i = 0; i < count; i++)
        if (is_outermost(w, ips[i]))
            return i + 1;
    *end = cut ? WNDL_END_TRUNCATED : WNDL_END_NO_RULE;
    while (count > 1 && wndl_vm_code_map_find(&w->map, ips[count - 1]) == NULL)
        count--;
    return count;
}
