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

#endif
