/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/copy_growth.h"

#include "rt/core/read_parts.h"
#include "rt/core/rt.h"
#include "rt/heap/count/growth.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"

#include <sys/uio.h>

enum {
    COMPARED = 64,     /* bytes compared at both ends of a copy */
    LEAST_COPIED = 16, /* bytes: less is equal by chance */
    HEADER = 16,       /* bytes before the contents, such as a length */
    TERMINATOR = 8,    /* bytes after the contents, such as a NUL */
    LEAST_HEADED = 64, /* bytes of a block that may have both */
};

static void count_growth(
    struct wndl_rt_heap_thread *t, uint64_t from, bool by_copy, bool is_first)
{
    const struct wndl_heap_site *larger =
        &wndl_rt_heap->sites.sites[t->alloc_site - 1];
    /* Without all its smaller blocks, which sampling may omit, a chain is
     * useless. */
    if (larger->node == 0 || wndl_rt_heap->sample_below != 0)
        return;
    wndl_rt_heap_grown(wndl_rt_heap->shared, &(struct wndl_rt_growth){
                                                 .node = larger->node,
                                                 .by_copy = by_copy,
                                                 .is_first = is_first,
                                                 .from = from,
                                                 .to = larger->requested,
                                             });
}

static void set_grown(void *context, struct wndl_rt_block *block)
{
    (void)context;
    block->grown = true;
}

void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_free *smaller)
{
    if (smaller->kind != WNDL_RT_FREE_IN_SITE ||
        wndl_rt_free_is_inherited(smaller) || t->alloc_site == 0)
        return;
    uint64_t from = wndl_rt_heap->sites.sites[smaller->block.site].requested;
    if (from >= t->last_size)
        return;
    if (wndl_rt_blocks_hold(t->last, set_grown, NULL) == WNDL_RT_BLOCK_FOUND)
        count_growth(t, from, false, !smaller->block.grown);
}

/* Blocks belong to the program, whatever types they hold. */
struct word {
    uint64_t v;
} __attribute__((packed, may_alias));

static uint64_t load(const uint8_t *at)
{
    return ((const struct word *)(const void *)at)->v;
}

/* `size` is at least 8. */
static bool is_equal(
    const uint8_t *a, const uint8_t *b, size_t size, uint64_t *any)
{
    for (size_t at = 0;; at += sizeof(uint64_t)) {
        if (at + sizeof(uint64_t) > size)
            at = size - sizeof(uint64_t);
        uint64_t word = load(a + at);
        *any |= word;
        if (word != load(b + at))
            return false;
        if (at + sizeof(uint64_t) == size)
            return true;
    }
}

/* Whether a block holds the contents of a smaller one. */
struct copy {
    const uint8_t *from, *to;
    size_t size;   /* of the smaller one */
    uint32_t site; /* of the larger one */
    bool may_have_pages;
    bool found;
};

/* Whole pages of a block may be protected from reading. */
static bool read_ends(
    const struct copy *c, size_t end, uint8_t ends[2 * COMPARED])
{
    const struct iovec from[] = {
        {(void *)(uintptr_t)c->to, end},
        {(void *)(uintptr_t)(c->to + c->size - end), end},
    };
    return !wndl_rt_is_careful() &&
           wndl_rt_read_parts(ends, 2 * end, from, 2) == 2 * end;
}

/* The beginnings and ends of both blocks, of `end` bytes each. */
struct ends {
    const uint8_t *head, *tail; /* of the larger block */
    size_t end;
};

/* Leaves out bytes at the start and at the end of the smaller block. */
static bool holds_contents(const struct copy *c, const struct ends *e,
    size_t header, size_t terminator)
{
    const size_t rest = c->size - e->end;
    uint64_t any = 0;
    return is_equal(
               c->from + header, e->head + header, e->end - header, &any) &&
           is_equal(c->from + rest, e->tail, e->end - terminator, &any) &&
           any != 0;
}

/* The address may be another block's now. */
static void look_for_copy(void *context, struct wndl_rt_block *block)
{
    struct copy *c = context;
    size_t end = c->size < COMPARED ? c->size : COMPARED;
    uint8_t ends[2 * COMPARED];
    struct ends e = {c->to, c->to + c->size - end, end};
    if (block->site != c->site)
        return;
    if (c->may_have_pages) {
        if (!read_ends(c, end, ends))
            return;
        e.head = ends;
        e.tail = ends + end;
    }
    c->found =
        holds_contents(c, &e, 0, 0) ||
        (c->size >= LEAST_HEADED && holds_contents(c, &e, HEADER, TERMINATOR));
    if (c->found)
        block->grown = true;
}

/* A block that more than doubles does not grow just enough. */
void wndl_rt_heap_look_for_copy(
    struct wndl_rt_heap_thread *t, const struct wndl_rt_block *smaller)
{
    struct copy copy = {
        .from = (const uint8_t *)(uintptr_t)smaller->address,
        .to = (const uint8_t *)(uintptr_t)t->last,
        .size = (size_t)wndl_rt_heap->sites.sites[smaller->site].requested,
        .site = t->alloc_site - 1,
        .may_have_pages = t->last_size >= WNDL_RT_PAGE,
    };
    if (t->last % 2 != 0 || t->alloc_site == 0 || copy.size < LEAST_COPIED ||
        copy.size >= t->last_size || t->last_size - copy.size > copy.size ||
        wndl_rt_heap->shared->own_allocator != 0)
        return;
    if (wndl_rt_blocks_hold(t->last, look_for_copy, &copy) ==
            WNDL_RT_BLOCK_FOUND &&
        copy.found)
        count_growth(t, copy.size, true, !smaller->grown);
}
