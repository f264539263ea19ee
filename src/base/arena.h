/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that is freed all at once. There is one per object file and one
 * per run; no allocation in it is freed alone. Not for use by two threads at a
 * time.
 */
#ifndef WNDL_BASE_ARENA_H
#define WNDL_BASE_ARENA_H

#include "base/mem.h"

#include <stddef.h>

struct wndl_arena_block;

/*
 * Invariant: next <= limit; both lie in the newest small block or in borrowed
 * room, or are NULL.
 */
struct wndl_arena {
    struct wndl_mem *mem;
    struct wndl_arena_block *blocks;
    unsigned char *next;
    unsigned char *limit;
    size_t taken; /* bytes that mem has given and not got back */
};

/* Makes an empty arena. `mem` must outlive it. */
void wndl_arena_init(struct wndl_arena *arena, struct wndl_mem *mem);

/*
 * Lends an empty arena `size` bytes of `room`, aligned to 16, from which it
 * takes its first small allocations. They must outlive all of these.
 */
void wndl_arena_lend(struct wndl_arena *arena, void *room, size_t size);

/* Frees all allocations. The arena may be used again. */
void wndl_arena_free(struct wndl_arena *arena);

/*
 * Allocates `size` zeroed bytes aligned to 16, valid until wndl_arena_free; or
 * NULL.
 */
void *wndl_arena_alloc(struct wndl_arena *arena, size_t size);

/* The same for count * size bytes; NULL if that overflows. */
void *wndl_arena_calloc(struct wndl_arena *arena, size_t count, size_t size);

/*
 * Enlarges an allocation of this arena, in place if possible; the new bytes are
 * zero. NULL on failure, and `old` is unchanged. `old` may be NULL with size 0.
 */
void *wndl_arena_grow(
    struct wndl_arena *arena, void *old, size_t old_size, size_t new_size);

/* A NUL-terminated copy of `size` bytes, or NULL. */
char *wndl_arena_copy(struct wndl_arena *arena, const void *bytes, size_t size);

#endif
