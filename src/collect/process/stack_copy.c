/* SPDX-License-Identifier: MIT */
#include "collect/process/stack_copy.h"

#include "base/mem.h"

#include <string.h>

enum { REG_OF_SP = 15 }; /* of gregs of x86-64, as <sys/ucontext.h> has them */

struct wndl_stack_base {
    uint64_t start; /* the address of the first byte */
    uint32_t size;  /* in bytes */
    uint32_t users; /* copies, and the place in `bases` */
    uint8_t bytes[];
};

/* ---- bases */

static void leave(
    struct wndl_stack_copies *copies, struct wndl_stack_base *base)
{
    if (base == NULL || --base->users != 0)
        return;
    *copies->bytes -= offsetof(struct wndl_stack_base, bytes) + base->size;
    wndl_mem_free(wndl_mem_libc(), base);
}

static struct wndl_stack_base *new_base(
    struct wndl_stack_copies *copies, uint64_t start, struct wndl_bytes stack)
{
    const size_t room = offsetof(struct wndl_stack_base, bytes) + stack.size;
    struct wndl_stack_base *base = wndl_mem_zalloc(wndl_mem_libc(), room);
    if (base == NULL)
        return NULL;
    base->start = start;
    base->size = (uint32_t)stack.size;
    base->users = 1;
    memcpy(base->bytes, stack.data, stack.size);
    *copies->bytes += room;
    return base;
}

/* NULL if the base does not have all of these bytes, or there is no base. */
static const uint8_t *find(
    const struct wndl_stack_base *base, uint64_t address, size_t size)
{
    if (base == NULL || address < base->start)
        return NULL;
    const uint64_t at = address - base->start;
    return at < base->size && size <= base->size - at ? base->bytes + at : NULL;
}

/* ---- blocks */

static size_t block_size(size_t all, size_t block)
{
    const size_t left = all - block * WNDL_STACK_BLOCK;
    return left < WNDL_STACK_BLOCK ? left : WNDL_STACK_BLOCK;
}

static bool is_own(const struct wndl_stack_copy *copy, size_t block)
{
    return copy->differs[block / 64] >> block % 64 & 1;
}

/* Own blocks before this one. */
static size_t rank(const struct wndl_stack_copy *copy, size_t block)
{
    size_t count = 0;
    for (size_t i = 0; i < block / 64; i++)
        count += (size_t)__builtin_popcountll(copy->differs[i]);
    const uint64_t before = (UINT64_C(1) << block % 64) - 1;
    return count +
           (size_t)__builtin_popcountll(copy->differs[block / 64] & before);
}

/* Marks the blocks that differ from the base. */
static void compare(struct wndl_stack_copy *copy,
    const struct wndl_stack_base *base, struct wndl_bytes stack)
{
    memset(copy->differs, 0, sizeof copy->differs);
    copy->own = 0;
    for (size_t i = 0; i * WNDL_STACK_BLOCK < stack.size; i++) {
        const size_t at = i * WNDL_STACK_BLOCK;
        const size_t size = block_size(stack.size, i);
        const uint8_t *same = find(base, copy->start + at, size);
        if (same != NULL && memcmp(same, stack.data + at, size) == 0)
            continue;
        copy->differs[i / 64] |= UINT64_C(1) << i % 64;
        copy->own += (uint32_t)size;
    }
}

static const uint8_t *block_of(const struct wndl_stack_copy *copy, size_t block)
{
    const size_t at = block * WNDL_STACK_BLOCK;
    return is_own(copy, block)
               ? copy->bytes + rank(copy, block) * WNDL_STACK_BLOCK
               : find(copy->base, copy->start + at,
                     block_size(copy->size, block));
}

/* ---- copies */

static size_t size_of(const struct wndl_stack_copy *copy)
{
    return offsetof(struct wndl_stack_copy, bytes) + copy->own;
}

/* A stack of which half differs is the base of the next ones. */
static struct wndl_stack_base *base_for(struct wndl_stack_copies *copies,
    struct wndl_stack_base **base, struct wndl_stack_copy *copy,
    struct wndl_bytes stack)
{
    compare(copy, *base, stack);
    if (copy->own <= copy->size / 2)
        return *base;
    struct wndl_stack_base *anew = new_base(copies, copy->start, stack);
    if (anew == NULL)
        return *base;
    compare(copy, anew, stack);
    leave(copies, *base);
    *base = anew;
    return anew;
}

struct wndl_stack_copy *wndl_stack_copy_new(struct wndl_stack_copies *copies,
    uint32_t thread, const uint64_t *gregs, uint32_t below,
    struct wndl_bytes stack)
{
    struct wndl_stack_copy all = {.size = (uint32_t)stack.size};
    memcpy(all.gregs, gregs, sizeof all.gregs);
    all.start = all.gregs[REG_OF_SP] - below;
    struct wndl_stack_base *base = base_for(
        copies, &copies->bases[thread % WNDL_STACK_BASES], &all, stack);
    struct wndl_stack_copy *copy =
        wndl_mem_zalloc(wndl_mem_libc(), size_of(&all));
    if (copy == NULL)
        return NULL;
    *copy = all;
    copy->base = base;
    if (base != NULL)
        base->users++;
    for (size_t i = 0, own = 0; i * WNDL_STACK_BLOCK < stack.size; i++) {
        if (is_own(copy, i))
            memcpy(copy->bytes + own++ * WNDL_STACK_BLOCK,
                stack.data + i * WNDL_STACK_BLOCK, block_size(stack.size, i));
    }
    *copies->bytes += size_of(copy);
    return copy;
}

void wndl_stack_copy_free(
    struct wndl_stack_copies *copies, struct wndl_stack_copy *copy)
{
    if (copy == NULL)
        return;
    *copies->bytes -= size_of(copy);
    leave(copies, copy->base);
    wndl_mem_free(wndl_mem_libc(), copy);
}

void wndl_stack_copies_close(struct wndl_stack_copies *copies)
{
    for (size_t i = 0; i < WNDL_STACK_BASES; i++) {
        leave(copies, copies->bases[i]);
        copies->bases[i] = NULL;
    }
}

bool wndl_stack_copy_read(
    const struct wndl_stack_copy *copy, uint64_t address, void *to, size_t size)
{
    uint64_t at = address - copy->start;
    if (at >= copy->size || size > copy->size - at)
        return false;
    for (uint8_t *next = to; size != 0;) {
        const size_t block = (size_t)at / WNDL_STACK_BLOCK;
        const size_t skip = (size_t)at % WNDL_STACK_BLOCK;
        const size_t left = block_size(copy->size, block) - skip;
        const size_t part = size < left ? size : left;
        memcpy(next, block_of(copy, block) + skip, part);
        next += part;
        at += part;
        size -= part;
    }
    return true;
}
