/* SPDX-License-Identifier: MIT */
/*
 * malloc: the hooks of the allocation functions. Where no tag is open, and of
 * blocks without one, each is a jump to the allocator's function.
 */
#include "rt/tags/blocks.h"
#include "rt/tags/core/current.h"
#include "rt/tags/real.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define LIKELY(x) __builtin_expect((x), 1)
#define NOINLINE __attribute__((noinline))

/* ---- allocations */

static NOINLINE void *allocate(size_t size, uint32_t tag)
{
    size = wndl_rt_tagged_size(size);
    void *block = wndl_rt_tags_real.malloc(size);
    if (LIKELY(block != NULL))
        wndl_rt_tagged_made(block, tag, wndl_rt_tags_usable_of(block, size));
    return block;
}

WNDL_RT_TAGS_HOOK void *malloc(size_t size)
{
    const uint32_t tag = wndl_rt_tag_current();
    return LIKELY(tag == 0) ? wndl_rt_tags_real.malloc(size)
                            : allocate(size, tag);
}

static NOINLINE void *clear(size_t count, size_t size)
{
    size_t all;
    if (!__builtin_mul_overflow(count, size, &all) &&
        all < WNDL_RT_TAGGED_LEAST) {
        count = 1;
        size = WNDL_RT_TAGGED_LEAST;
    }
    return wndl_rt_tagged_new(
        wndl_rt_tags_real.calloc(count, size), wndl_rt_tag_current());
}

WNDL_RT_TAGS_HOOK void *calloc(size_t count, size_t size)
{
    return LIKELY(wndl_rt_tag_current() == 0)
               ? wndl_rt_tags_real.calloc(count, size)
               : clear(count, size);
}

/*
 * The tag for a block of a function that the allocator may lack: the libc's is
 * then called, whose blocks the allocator does not know.
 */
static uint32_t tag_of_aligned(const void *function)
{
    const uint32_t tag = wndl_rt_tag_current();
    if (tag == 0 || !wndl_rt_tags_resolve())
        return 0;
    return wndl_rt_tags_is_allocators(function) ? tag : 0;
}

WNDL_RT_TAGS_HOOK void *aligned_alloc(size_t alignment, size_t size)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    const uint32_t tag = tag_of_aligned((void *)real->aligned_alloc);
    if (tag == 0)
        return real->aligned_alloc(alignment, size);
    return wndl_rt_tagged_new(
        real->aligned_alloc(alignment, wndl_rt_tagged_size(size)), tag);
}

WNDL_RT_TAGS_HOOK void *memalign(size_t alignment, size_t size)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    const uint32_t tag = tag_of_aligned((void *)real->memalign);
    if (tag == 0)
        return real->memalign(alignment, size);
    return wndl_rt_tagged_new(
        real->memalign(alignment, wndl_rt_tagged_size(size)), tag);
}

WNDL_RT_TAGS_HOOK int posix_memalign(void **to, size_t alignment, size_t size)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    const uint32_t tag = tag_of_aligned((void *)real->posix_memalign);
    if (tag == 0)
        return real->posix_memalign(to, alignment, size);
    const int result =
        real->posix_memalign(to, alignment, wndl_rt_tagged_size(size));
    if (result == 0)
        (void)wndl_rt_tagged_new(*to, tag);
    return result;
}

WNDL_RT_TAGS_HOOK void *valloc(size_t size)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    const uint32_t tag = tag_of_aligned((void *)real->valloc);
    void *block = real->valloc(size);
    return tag == 0 ? block : wndl_rt_tagged_new(block, tag);
}

WNDL_RT_TAGS_HOOK void *pvalloc(size_t size)
{
    const struct wndl_rt_tags_real *real = &wndl_rt_tags_real;
    const uint32_t tag = tag_of_aligned((void *)real->pvalloc);
    void *block = real->pvalloc(size);
    return tag == 0 ? block : wndl_rt_tagged_new(block, tag);
}

/* ---- frees */

static void free_slowly(void *block)
{
    if (wndl_rt_tags_is_early(block))
        return;
    if (block != NULL)
        (void)wndl_rt_tagged_end_any(block);
    wndl_rt_tags_real.free(block);
}

static NOINLINE void end(void *block, wndl_rt_mark *at, uint32_t mark)
{
    (void)wndl_rt_tagged_end(block, at, mark);
    wndl_rt_tags_real.free(block);
}

WNDL_RT_TAGS_HOOK void free(void *block)
{
    wndl_rt_mark *marks = wndl_rt_marks_get();
    if (!LIKELY(wndl_rt_marks_are_whole(marks))) {
        if (marks == NULL)
            wndl_rt_tags_real.free(block);
        else
            free_slowly(block);
        return;
    }
    wndl_rt_mark *at = &marks[wndl_rt_mark_number(block)];
    const uint32_t mark = atomic_load_explicit(at, memory_order_relaxed);
    if (LIKELY(mark == 0))
        wndl_rt_tags_real.free(block);
    else
        end(block, at, mark);
}

/* An object before this one asks that of the next malloc for sizes. */
WNDL_RT_TAGS_HOOK size_t malloc_usable_size(void *block)
{
    if (wndl_rt_tags_is_early(block))
        return wndl_rt_tags_early_readable(block);
    return block == NULL || !wndl_rt_tags_resolve()
               ? 0
               : wndl_rt_tags_real.usable(block);
}

/* ---- moves */

/*
 * As soon as the allocator has moved the block, another thread may get its old
 * place: the tag has been taken off, and is put back if it was not moved.
 */
static void *move_tagged(void *block, size_t size, uint32_t tag)
{
    void *moved = wndl_rt_tags_real.realloc(
        block, size == 0 ? 0 : wndl_rt_tagged_size(size));
    if (moved == NULL && size != 0)
        (void)wndl_rt_tagged_new(block, tag);
    return wndl_rt_tagged_new(moved, tag);
}

static void *move_early(const void *block, size_t size)
{
    const size_t readable = wndl_rt_tags_early_readable(block);
    void *moved = malloc(size);
    if (moved != NULL)
        memcpy(moved, block, size < readable ? size : readable);
    return moved;
}

WNDL_RT_TAGS_HOOK void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return malloc(size);
    if (wndl_rt_tags_is_early(block))
        return move_early(block, size);
    const uint32_t tag = wndl_rt_tagged_end_any(block);
    return LIKELY(tag == 0) ? wndl_rt_tags_real.realloc(block, size)
                            : move_tagged(block, size, tag);
}

WNDL_RT_TAGS_HOOK void *reallocarray(void *block, size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, all);
}
