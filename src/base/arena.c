/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Small allocations are cut from blocks of BLOCK_SIZE. One of LARGE_SIZE or
 * more gets a block of its own, which can then grow by realloc without leaving
 * a hole.
 */
enum { BLOCK_SIZE = 64 * 1024, LARGE_SIZE = 16 * 1024, ALIGNMENT = 16 };

/* 32 bytes, so that payloads keep malloc's alignment of 16. */
struct wndl_arena_block {
    struct wndl_arena_block *newer;
    struct wndl_arena_block *older;
    _Alignas(
        ALIGNMENT) size_t size; /* of the whole block, this header included */
};

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static void link_block(struct wndl_arena *arena, struct wndl_arena_block *block)
{
    block->newer = NULL;
    block->older = arena->blocks;
    if (arena->blocks != NULL)
        arena->blocks->newer = block;
    arena->blocks = block;
}

static unsigned char *new_block(struct wndl_arena *arena, size_t payload)
{
    size_t size = sizeof(struct wndl_arena_block) + payload;
    if (size < payload)
        return NULL;
    struct wndl_arena_block *block = arena->mem->resize(arena->mem, NULL, size);
    if (block == NULL)
        return NULL;
    block->size = size;
    arena->taken += size;
    link_block(arena, block);
    return (unsigned char *)(block + 1);
}

void wndl_arena_init(struct wndl_arena *arena, struct wndl_mem *mem)
{
    *arena = (struct wndl_arena){.mem = mem};
}

void wndl_arena_lend(struct wndl_arena *arena, void *room, size_t size)
{
    arena->next = room;
    arena->limit = arena->next + size;
}

void wndl_arena_free(struct wndl_arena *arena)
{
    struct wndl_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct wndl_arena_block *older = block->older;
        wndl_mem_free(arena->mem, block);
        block = older;
    }
    wndl_arena_init(arena, arena->mem);
}

void *wndl_arena_alloc(struct wndl_arena *arena, size_t size)
{
    size_t need = rounded(size == 0 ? 1 : size); /* NULL means failure */
    if (need < size)
        return NULL;
    if (need >= LARGE_SIZE) {
        unsigned char *large = new_block(arena, need);
        return large == NULL ? NULL : memset(large, 0, need);
    }
    if (need > (size_t)(arena->limit - arena->next)) {
        unsigned char *small = new_block(arena, BLOCK_SIZE);
        if (small == NULL)
            return NULL;
        arena->next = small;
        arena->limit = small + BLOCK_SIZE;
    }
    void *p = arena->next;
    arena->next += need;
    return memset(p, 0, need);
}

void *wndl_arena_calloc(struct wndl_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return wndl_arena_alloc(arena, bytes);
}

/* `old` is the payload of a block of its own. */
static void *grow_large(
    struct wndl_arena *arena, void *old, size_t old_need, size_t new_need)
{
    struct wndl_arena_block *block = (struct wndl_arena_block *)old - 1;
    size_t size = sizeof *block + new_need;
    if (size < new_need)
        return NULL;
    struct wndl_arena_block *moved =
        arena->mem->resize(arena->mem, block, size);
    if (moved == NULL)
        return NULL;
    arena->taken += size - moved->size;
    moved->size = size;
    if (moved->newer != NULL)
        moved->newer->older = moved;
    else
        arena->blocks = moved;
    if (moved->older != NULL)
        moved->older->newer = moved;
    unsigned char *payload = (unsigned char *)(moved + 1);
    memset(payload + old_need, 0, new_need - old_need);
    return payload;
}

void *wndl_arena_grow(
    struct wndl_arena *arena, void *old, size_t old_size, size_t new_size)
{
    if (old == NULL)
        return wndl_arena_alloc(arena, new_size);
    size_t old_need = rounded(old_size);
    size_t new_need = rounded(new_size);
    if (new_need < new_size)
        return NULL;
    if (new_need <= old_need)
        return old;
    if (old_need >= LARGE_SIZE)
        return grow_large(arena, old, old_need, new_need);
    size_t more = new_need - old_need;
    bool newest = (unsigned char *)old + old_need == arena->next;
    if (newest && more <= (size_t)(arena->limit - arena->next) &&
        new_need < LARGE_SIZE) {
        memset(arena->next, 0, more);
        arena->next += more;
        return old;
    }
    void *moved = wndl_arena_alloc(arena, new_size);
    if (moved != NULL)
        memcpy(moved, old, old_size);
    return moved;
}

char *wndl_arena_copy(struct wndl_arena *arena, const void *bytes, size_t size)
{
    if (size == SIZE_MAX)
        return NULL;
    char *copy = wndl_arena_alloc(arena, size + 1);
    if (copy != NULL && size != 0)
        memcpy(copy, bytes, size);
    return copy;
}
