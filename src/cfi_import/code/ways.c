/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/flow_impl.h"

void wndl_code_add_way(
    struct wndl_code_flow *f, struct wndl_vec *ways, uint32_t at, uint32_t id)
{
    struct wndl_code_way *way = wndl_vec_push(ways);
    if (way == NULL)
        f->failed = true;
    else
        *way = (struct wndl_code_way){at, id};
}

bool wndl_code_take_way(struct wndl_vec *ways, struct wndl_code_way *way)
{
    if (ways->len == 0)
        return false;
    *way = *(struct wndl_code_way *)wndl_vec_at(ways, --ways->len);
    return true;
}

static void swap_ways(struct wndl_code_way *a, struct wndl_code_way *b)
{
    const struct wndl_code_way c = *a;
    *a = *b;
    *b = c;
}

void wndl_code_add_later(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    wndl_code_add_way(f, &f->later, at, id);
    struct wndl_code_way *all = f->later.data;
    for (size_t i = f->failed ? 0 : f->later.len - 1;
         i > 0 && all[i].at < all[(i - 1) / 2].at; i = (i - 1) / 2)
        swap_ways(&all[i], &all[(i - 1) / 2]);
}

bool wndl_code_take_later(struct wndl_code_flow *f, struct wndl_code_way *way)
{
    struct wndl_code_way *all = f->later.data;
    if (f->later.len == 0)
        return false;
    *way = all[0];
    all[0] = all[--f->later.len];
    for (size_t i = 0, child; (child = 2 * i + 1) < f->later.len; i = child) {
        if (child + 1 < f->later.len && all[child + 1].at < all[child].at)
            child++;
        if (all[i].at <= all[child].at)
            break;
        swap_ways(&all[i], &all[child]);
    }
    return true;
}
