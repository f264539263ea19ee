/* SPDX-License-Identifier: MIT */
/*
 * vec: a growing array of equal elements in an arena.
 *
 * Pointers to elements are valid until the next push.
 */
#ifndef WNDL_BASE_VEC_H
#define WNDL_BASE_VEC_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Invariant: len <= cap; data holds cap * element bytes. */
struct wndl_vec {
    void *data;
    size_t len;
    size_t cap;
    size_t element; /* bytes of one element, > 0 */
    struct wndl_arena *arena;
};

static inline void wndl_vec_init(
    struct wndl_vec *vec, struct wndl_arena *arena, size_t element)
{
    *vec = (struct wndl_vec){.element = element, .arena = arena};
}

static inline void *wndl_vec_at(const struct wndl_vec *vec, size_t index)
{
    return (unsigned char *)vec->data + index * vec->element;
}

/* Makes room for `extra` more elements. False if memory is out. */
bool wndl_vec_reserve(struct wndl_vec *vec, size_t extra);

/* Appends a zeroed element. NULL if memory is out. */
void *wndl_vec_push(struct wndl_vec *vec);

#endif
