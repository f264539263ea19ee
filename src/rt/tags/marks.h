/* SPDX-License-Identifier: MIT */
/*
 * marks: a mark for each block that has a tag, by its address. Two bytes for
 * each 16 of the address space, which is reserved at the first tag; those that
 * are never written take no memory. Where the address space is limited, the
 * same in pieces of 1 MiB of heap, which are reached by two tables. Any thread.
 *
 * Two blocks may begin in the same 16 bytes if one of them has only 8: a block
 * with a mark must have at least 16. One of 32 has the next mark to itself.
 */
#ifndef WNDL_RT_TAGS_MARKS_H
#define WNDL_RT_TAGS_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WNDL_RT_MARK_SHIFT = 4 };

typedef _Atomic uint16_t wndl_rt_mark;

/* NULL: there are none yet. IN_PIECES, or those of all addresses. */
extern _Atomic(wndl_rt_mark *) wndl_rt_marks
    __attribute__((visibility("hidden")));
#define WNDL_RT_MARKS_IN_PIECES ((wndl_rt_mark *)1)

static inline wndl_rt_mark *wndl_rt_marks_get(void)
{
    return atomic_load_explicit(&wndl_rt_marks, memory_order_acquire);
}

static inline bool wndl_rt_marks_are_whole(const wndl_rt_mark *marks)
{
    return marks > WNDL_RT_MARKS_IN_PIECES;
}

/* The top byte of an AArch64 address is not part of it. */
static inline size_t wndl_rt_mark_number(const void *block)
{
#ifdef __aarch64__
    return (uintptr_t)block << 8 >> (8 + WNDL_RT_MARK_SHIFT);
#else
    return (uintptr_t)block >> WNDL_RT_MARK_SHIFT;
#endif
}

/* Private. */
wndl_rt_mark *wndl_rt_mark_slowly(const void *block, bool makes);

/*
 * The mark of a block; NULL: there is none and, if `makes`, no memory for one.
 */
static inline __attribute__((always_inline)) wndl_rt_mark *wndl_rt_mark_at(
    const void *block, bool makes)
{
    wndl_rt_mark *marks = wndl_rt_marks_get();
    if (__builtin_expect(wndl_rt_marks_are_whole(marks), 1))
        return &marks[wndl_rt_mark_number(block)];
    return wndl_rt_mark_slowly(block, makes);
}

/* Marks will be in pieces, unless they are whole already. */
void wndl_rt_marks_use_pieces(void);

/* Unlocks the memory of whole marks (mlock(2)). */
void wndl_rt_marks_unlock(void);

#endif
