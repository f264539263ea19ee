/* SPDX-License-Identifier: MIT */
/*
 * blocks: the birth and the end of tagged blocks, for the hooks. A block's mark
 * has its tag, and its usable size where the allocator takes long to say it:
 * two bits for those of fewer than 32 bytes, else the next mark.
 */
#ifndef WNDL_RT_TAGS_BLOCKS_H
#define WNDL_RT_TAGS_BLOCKS_H

#include "rt/core/kept_size.h"
#include "rt/tags/amounts.h"
#include "rt/tags/marks.h"
#include "rt/tags/real.h"

enum {
    WNDL_RT_TAGGED_LEAST = 16, /* usable bytes: marks.h */
    WNDL_RT_LEARNED = 1024
};

/* The upper bits of a mark: how the size of its block is known. */
enum wndl_rt_size_kind {
    WNDL_RT_SIZE_ASKED, /* of the allocator */
    WNDL_RT_SIZE_16,
    WNDL_RT_SIZE_24,
    WNDL_RT_SIZE_NEXT /* the next mark has it */
};

/* The size to ask for: a tagged block has at least so many bytes. */
static inline size_t wndl_rt_tagged_size(size_t size)
{
    return size < WNDL_RT_TAGGED_LEAST ? WNDL_RT_TAGGED_LEAST : size;
}

/* The allocator's function takes longer than to read the size that it keeps. */
static inline size_t wndl_rt_tags_usable(void *block)
{
    size_t kept;
    if (__builtin_expect(wndl_rt_tags_real.keeps_sizes, 1) &&
        __builtin_expect(wndl_rt_kept_size(block, &kept), 1))
        return kept;
    return wndl_rt_tags_real.usable(block);
}

/*
 * The usable bytes by those that malloc() was asked for: allocators that do not
 * keep sizes beside blocks have classes of them. 0: not known yet.
 */
extern uint16_t wndl_rt_learned[WNDL_RT_LEARNED]
    __attribute__((visibility("hidden")));
size_t wndl_rt_learn(void *block, size_t size);

/* The usable bytes of a new block of malloc(`size`). */
static inline size_t wndl_rt_tags_usable_of(void *block, size_t size)
{
    if (__builtin_expect(wndl_rt_tags_real.keeps_sizes, 1))
        return wndl_rt_tags_usable(block);
    const size_t known =
        size < WNDL_RT_LEARNED
            ? __atomic_load_n(&wndl_rt_learned[size], __ATOMIC_RELAXED)
            : 0;
    return known != 0 ? known : wndl_rt_learn(block, size);
}

/* Private. */
void wndl_rt_tagged_miss(void);

/* Private: sets a mark that also says the size. */
static inline void wndl_rt_tagged_keep(
    wndl_rt_mark *at, uint32_t tag, size_t usable)
{
    enum wndl_rt_size_kind kind = WNDL_RT_SIZE_ASKED;
    if (__builtin_expect(usable >= 32, 1)) {
        if (usable <= UINT16_MAX &&
            wndl_rt_marks_are_whole(wndl_rt_marks_get())) {
            kind = WNDL_RT_SIZE_NEXT;
            atomic_store_explicit(
                &at[1], (uint16_t)usable, memory_order_relaxed);
        }
    } else if (usable == 16) {
        kind = WNDL_RT_SIZE_16;
    } else if (usable == 24) {
        kind = WNDL_RT_SIZE_24;
    }
    atomic_store_explicit(
        at, (uint16_t)(tag | (uint32_t)kind * WNDL_TAGS), memory_order_relaxed);
}

/*
 * Gives a new block the tag, which is not 0. `usable`: its bytes, 0 if the
 * allocator does not say.
 */
static inline __attribute__((always_inline)) void wndl_rt_tagged_made(
    void *block, uint32_t tag, size_t usable)
{
    const bool has_room = usable - 1 >= WNDL_RT_TAGGED_LEAST - 1; /* or 0 */
    wndl_rt_mark *at = has_room ? wndl_rt_mark_at(block, true) : NULL;
    if (__builtin_expect(at == NULL, 0)) {
        wndl_rt_tagged_miss();
        return;
    }
    if (wndl_rt_tags_real.keeps_sizes)
        atomic_store_explicit(at, (uint16_t)tag, memory_order_relaxed);
    else
        wndl_rt_tagged_keep(at, tag, usable);
    wndl_rt_amounts_add(tag, (struct wndl_rt_amount){(int64_t)usable, 1});
}

/* The same for a block that may be NULL. Returns it. */
static inline void *wndl_rt_tagged_new(void *block, uint32_t tag)
{
    if (block != NULL)
        wndl_rt_tagged_made(block, tag, wndl_rt_tags_usable(block));
    return block;
}

static inline size_t wndl_rt_tagged_usable(
    void *block, const wndl_rt_mark *at, uint32_t mark)
{
    switch ((enum wndl_rt_size_kind)(mark / WNDL_TAGS)) {
    case WNDL_RT_SIZE_16:
        return 16;
    case WNDL_RT_SIZE_24:
        return 24;
    case WNDL_RT_SIZE_NEXT:
        return atomic_load_explicit(&at[1], memory_order_relaxed);
    default:
        return wndl_rt_tags_usable(block);
    }
}

/*
 * Takes the tag off a block that is about to be freed or moved. `mark` is its
 * mark, which is at `at`. Returns the tag.
 */
static inline __attribute__((always_inline)) uint32_t wndl_rt_tagged_end(
    void *block, wndl_rt_mark *at, uint32_t mark)
{
    const uint32_t tag = mark % WNDL_TAGS;
    const int64_t size = (int64_t)wndl_rt_tagged_usable(block, at, mark);
    atomic_store_explicit(at, 0, memory_order_relaxed);
    if (mark / WNDL_TAGS == WNDL_RT_SIZE_NEXT)
        atomic_store_explicit(&at[1], 0, memory_order_relaxed);
    wndl_rt_amounts_add(tag, (struct wndl_rt_amount){-size, -1});
    return tag;
}

/* The same for a block of which nothing is known. 0: it had none. */
uint32_t wndl_rt_tagged_end_any(void *block);

/* Blocks that have no tag for want of memory. */
uint64_t wndl_rt_tagged_missed(void);

#endif
