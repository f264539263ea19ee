/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "allocator.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_replacemalloc.h"
#include "pub_tool_tooliface.h"

static const struct allocator *tool;

static void *allocate(ThreadId tid, SizeT align, struct allocation *block)
{
    if ((SSizeT)block->size < 0)
        return NULL;
    void *p = VG_(cli_malloc)(align, block->size);
    if (p == NULL)
        return NULL;
    block->start = (Addr)p;
    VG_(memset)(p, 0, block->filled);
    tool->on_alloc(tid, block);
    return p;
}

static void *on_malloc(ThreadId tid, SizeT size)
{
    struct allocation block = {.size = size};
    return allocate(tid, VG_(clo_alignment), &block);
}

static void *on_memalign(ThreadId tid, SizeT align, SizeT size)
{
    struct allocation block = {.size = size};
    return allocate(tid, align, &block);
}

static void *on_new_aligned(ThreadId tid, SizeT size, SizeT align)
{
    return on_memalign(tid, align, size);
}

static void *on_calloc(ThreadId tid, SizeT count, SizeT size)
{
    struct allocation block = {.element = count > 1 && size > 1 ? size : 0};
    if (__builtin_mul_overflow(count, size, &block.size))
        return NULL;
    if ((SSizeT)block.size > 0)
        block.filled = block.size;
    return allocate(tid, VG_(clo_alignment), &block);
}

static void on_free(ThreadId tid, void *p)
{
    (void)tid;
    tool->on_free((Addr)p);
    VG_(cli_free)(p);
}

static void on_delete_aligned(ThreadId tid, void *p, SizeT align)
{
    (void)align;
    on_free(tid, p);
}

static void *on_realloc(ThreadId tid, void *old, SizeT size)
{
    if (old == NULL)
        return on_malloc(tid, size);
    if ((SSizeT)size < 0)
        return NULL;
    void *p = VG_(cli_malloc)(VG_(clo_alignment), size);
    if (p == NULL)
        return NULL;
    const SizeT old_size = tool->size_of((Addr)old);
    const struct allocation block = {.start = (Addr)p,
        .size = size,
        .filled = old_size < size ? old_size : size};
    VG_(memcpy)(p, old, block.filled);
    tool->on_alloc(tid, &block);
    on_free(tid, old);
    return p;
}

static SizeT on_usable_size(ThreadId tid, void *p)
{
    (void)tid;
    return VG_(cli_malloc_usable_size)(p);
}

void allocator_replace(const struct allocator *allocator)
{
    tool = allocator;
    VG_(needs_malloc_replacement)
    (on_malloc, on_malloc, on_new_aligned, on_malloc, on_new_aligned,
        on_memalign, on_calloc, on_free, on_free, on_delete_aligned, on_free,
        on_delete_aligned, on_realloc, on_usable_size, 0);
}
