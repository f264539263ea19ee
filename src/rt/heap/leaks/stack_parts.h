/* SPDX-License-Identifier: MIT */
/* stack_parts: which part of a thread's stack each of its functions uses. */
#ifndef WNDL_RT_HEAP_LEAKS_STACK_PARTS_H
#define WNDL_RT_HEAP_LEAKS_STACK_PARTS_H

#include "rt/walk/stack_nodes.h"

enum { WNDL_RT_STACK_PARTS = 256 };

/* A return address of the walk, and the last word of the stack with it. */
struct wndl_rt_stack_word {
    uint64_t address; /* 0: the slot is free */
    uintptr_t last;   /* 0: no word has it */
};

enum { WNDL_RT_STACK_WORD_BITS = 9 };

/* Zeroed memory at first; it serves one thread's stack after the other. */
struct wndl_rt_stack_parts {
    struct wndl_rt_known known;
    struct wndl_frame frames[WNDL_RT_STACK_PARTS];
    uint32_t carried[WNDL_RT_STACK_PARTS];
    /* Part i is that of frame i: from the end of the part before, or the
     * stack's start, up to here. It may be empty. */
    uintptr_t ends[WNDL_RT_STACK_PARTS];
    size_t count;
    /* Hashed by address; at most half full. */
    struct wndl_rt_stack_word words[1 << WNDL_RT_STACK_WORD_BITS];
    uint32_t node; /* of the innermost frame, in the process's stack tree */
};

/*
 * Walks the stack of a thread that does not run, or is the calling one, from
 * `regs` up to `end`. `called`: regs->ip is a return address. A part ends with
 * the return address of its frame. Frames are those of the walk: the stack
 * beyond them is the last part. False: the walk found no caller, or its frames
 * have no node; there are no parts.
 */
bool wndl_rt_stack_parts_fill(struct wndl_rt_stack_parts *parts,
    const struct wndl_regs *regs, bool called, uintptr_t end);

#endif
