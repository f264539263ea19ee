/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that is given back all at once. One per object file, one per
 * run; nothing inside is freed alone. Not for use by two threads at a time.
 */
#ifndef WNDL_BASE_ARENA_H
#define WNDL_BASE_ARENA_H

#include "base/mem.h"

#include <stddef.h>

struct wndl_arena_block;

/* Invariant: next <= limit; both lie in the newest small block, or NULL. */
struct wndl_arena {
    struct wndl_mem *mem;
    struct wndl_arena_block *blocks;
    unsigned char *next;
    unsigned char *limit;
    size_t taken; /* bytes asked of mem so far and not returned */
};

/* Allocates nothing yet. `mem` must outlive the arena. */
void wndl_arena_init(struct wndl_arena *arena, struct wndl_mem *mem);

/* Gives everything back; the arena may be used again. */
void wndl_arena_free(struct wndl_arena *arena);

/* `size` zeroed bytes aligned to 16, valid until wndl_arena_free; or NULL. */
void *wndl_arena_alloc(struct wndl_arena *arena, size_t size);

/* As wndl_arena_alloc for count * size bytes, NULL when that overflows. */
void *wndl_arena_calloc(struct wndl_arena *arena, size_t count, size_t size);

/*
 * Makes an allocation of this arena larger, in place where it can; the new
 * bytes are zero. NULL leaves `old` as it was. `old` may be NULL with size 0.
 */
void *wndl_arena_grow(
    struct wndl_arena *arena, void *old, size_t old_size, size_t new_size);

/* A NUL-terminated copy of `size` bytes, or NULL. */
char *wndl_arena_copy(struct wndl_arena *arena, const void *bytes, size_t size);

#endif
