/* SPDX-License-Identifier: MIT */
/* intern: a set of strings, each of them once, with small dense numbers. */
#ifndef WNDL_BASE_INTERN_H
#define WNDL_BASE_INTERN_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/vec.h"

/* Id 0 is always the empty string; ids count up without gaps. */
struct wndl_intern {
    struct wndl_vec strings; /* struct wndl_bytes; a NUL follows in memory */
    struct wndl_map heads;   /* hash -> newest id with it; `next` has the
                              * older ones */
    struct wndl_vec next;    /* uint32_t: older id with the same hash, 0:
                              * none */
    struct wndl_arena *arena;
};

/* False if memory is out. Strings live as long as the arena. */
bool wndl_intern_init(struct wndl_intern *intern, struct wndl_arena *arena);

/* The id of `s`, which is copied if it is new. False if memory is out. */
bool wndl_intern_add(
    struct wndl_intern *intern, struct wndl_bytes s, uint32_t *id);

static inline uint32_t wndl_intern_count(const struct wndl_intern *intern)
{
    return (uint32_t)intern->strings.len;
}

/* The string of an id from wndl_intern_add. Lives as long as the arena. */
static inline struct wndl_bytes wndl_intern_get(
    const struct wndl_intern *intern, uint32_t id)
{
    return *(const struct wndl_bytes *)wndl_vec_at(&intern->strings, id);
}

/* The same as a C string. */
static inline const char *wndl_intern_text(
    const struct wndl_intern *intern, uint32_t id)
{
    return (const char *)wndl_intern_get(intern, id).data;
}

#endif
