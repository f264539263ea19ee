/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

bool wndl_vec_reserve(struct wndl_vec *vec, size_t extra)
{
    if (extra <= vec->cap - vec->len)
        return true;
    size_t need;
    if (__builtin_add_overflow(vec->len, extra, &need))
        return false;
    size_t cap = vec->cap == 0 ? FIRST_CAPACITY : vec->cap;
    while (cap < need) {
        if (cap > SIZE_MAX / 2)
            return false;
        cap *= 2;
    }
    size_t bytes;
    if (__builtin_mul_overflow(cap, vec->element, &bytes))
        return false;
    void *data =
        wndl_arena_grow(vec->arena, vec->data, vec->cap * vec->element, bytes);
    if (data == NULL)
        return false;
    vec->data = data;
    vec->cap = cap;
    return true;
}

void *wndl_vec_push(struct wndl_vec *vec)
{
    if (!wndl_vec_reserve(vec, 1))
        return NULL;
    void *slot = wndl_vec_at(vec, vec->len);
    vec->len++;
    return memset(slot, 0, vec->element);
}
