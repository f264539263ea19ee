/* SPDX-License-Identifier: MIT */
/* frame: struct wndl_frame as one word. */
#ifndef WNDL_UNWIND_CORE_FRAME_H
#define WNDL_UNWIND_CORE_FRAME_H

#include <windlass/unwind.h>

enum {
    WNDL_FRAME_INTERRUPTED_SHIFT = 48,
    WNDL_FRAME_HOW_SHIFT = 49,
};

#define WNDL_FRAME_ADDRESS ((UINT64_C(1) << 48) - 1)

/* Stored as a word, because a bit-field store is a load, a mask and a store. */
typedef uint64_t __attribute__((may_alias)) wndl_frame_word;

_Static_assert(sizeof(struct wndl_frame) == sizeof(wndl_frame_word),
    "a frame is one word");

static inline uint64_t wndl_frame_bits(
    bool interrupted, enum wndl_frame_how how)
{
    return (uint64_t)interrupted << WNDL_FRAME_INTERRUPTED_SHIFT |
           (uint64_t)how << WNDL_FRAME_HOW_SHIFT;
}

static inline uint64_t wndl_frame_make(
    uint64_t address, bool interrupted, enum wndl_frame_how how)
{
    return (address & WNDL_FRAME_ADDRESS) | wndl_frame_bits(interrupted, how);
}

/* Whether it was found without rules, checked or not. */
static inline bool wndl_frame_is_by_fp(enum wndl_frame_how how)
{
    return how == WNDL_HOW_FP || how == WNDL_HOW_CHECKED;
}

/*
 * The end of a walk, as recordings have it: one that used a guess on its way to
 * the root is not complete.
 */
static inline enum wndl_walk_end wndl_walk_sure_end(
    const struct wndl_walk *walk)
{
    if (walk->end != WNDL_END_COMPLETE ||
        (walk->fp_frames == 0 && (walk->method & WNDL_WALK_SCAN) == 0))
        return walk->end;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->frames[i].how == WNDL_HOW_FP ||
            walk->frames[i].how == WNDL_HOW_SCAN)
            return WNDL_END_FP_ROOT;
    }
    return walk->end;
}

#endif
