/* SPDX-License-Identifier: MIT */
#include "analyze/names/kept_symbols.h"

#include <string.h>

struct kept {
    const char *path;
    struct wndl_bytes build_id;
    struct wndl_symbolizer *symbols;
};

void wndl_kept_symbols_init(struct wndl_kept_symbols *kept)
{
    wndl_arena_init(&kept->arena, wndl_mem_libc());
    wndl_vec_init(&kept->all, &kept->arena, sizeof(struct kept));
}

void wndl_kept_symbols_close(struct wndl_kept_symbols *kept)
{
    for (size_t i = 0; i < kept->all.len; i++)
        wndl_symbolizer_close(
            ((const struct kept *)wndl_vec_at(&kept->all, i))->symbols);
    wndl_arena_free(&kept->arena);
}

struct wndl_symbolizer *wndl_kept_symbols_find(
    const struct wndl_kept_symbols *kept, const char *path,
    struct wndl_bytes build_id)
{
    for (size_t i = 0; i < kept->all.len; i++) {
        const struct kept *k = wndl_vec_at(&kept->all, i);
        if (strcmp(k->path, path) == 0 &&
            wndl_bytes_equal(k->build_id, build_id))
            return k->symbols;
    }
    return NULL;
}

bool wndl_kept_symbols_add(struct wndl_kept_symbols *kept, const char *path,
    struct wndl_bytes build_id, struct wndl_symbolizer *symbols)
{
    const char *name = wndl_arena_copy(&kept->arena, path, strlen(path));
    const char *id =
        wndl_arena_copy(&kept->arena, build_id.data, build_id.size);
    struct kept *k =
        name == NULL || id == NULL ? NULL : wndl_vec_push(&kept->all);
    if (k == NULL)
        return false;
    k->path = name;
    k->build_id = (struct wndl_bytes){(const uint8_t *)id, build_id.size};
    k->symbols = symbols;
    return true;
}
