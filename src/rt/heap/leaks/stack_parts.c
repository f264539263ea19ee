/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/stack_parts.h"

#include "rt/core/rt.h"
#include "rt/walk/jit_registry.h"
#include "rt/walk/rules.h"

#include <string.h>

/* The slot of an address, which is free if it is none of the frames'. */
static struct wndl_rt_stack_word *slot_of(
    struct wndl_rt_stack_parts *parts, uint64_t address)
{
    enum { ALL = (1 << WNDL_RT_STACK_WORD_BITS) - 1 };
    size_t i = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >>
                        (64 - WNDL_RT_STACK_WORD_BITS));
    while (parts->words[i].address != 0 && parts->words[i].address != address)
        i = (i + 1) & ALL;
    return &parts->words[i];
}

/* Finds the last word with each return address, in one pass. */
static void find_last(
    struct wndl_rt_stack_parts *parts, uintptr_t start, uintptr_t end)
{
    memset(parts->words, 0, sizeof parts->words);
    for (size_t i = 1; i < parts->count; i++) {
        const struct wndl_frame *f = &parts->frames[i];
        if (!f->interrupted)
            slot_of(parts, f->address)->address = f->address;
    }
    for (uintptr_t at = start; end - at >= sizeof at; at += sizeof at) {
        struct wndl_rt_stack_word *word =
            slot_of(parts, *(const uintptr_t *)at);
        if (word->address != 0)
            word->last = at;
    }
}

/*
 * Walks do not say where they read return addresses, but those stand in their
 * order. A frame whose return address is not found has an empty part. As only
 * what is there is searched for, the stack is read twice at most.
 */
static void find_ends(
    struct wndl_rt_stack_parts *parts, uintptr_t start, uintptr_t end)
{
    uintptr_t at = start;
    find_last(parts, start, end);
    for (size_t i = 0; i + 1 < parts->count; i++) {
        const struct wndl_frame *caller = &parts->frames[i + 1];
        if (!caller->interrupted &&
            slot_of(parts, caller->address)->last >= at) {
            while (*(const uintptr_t *)at != caller->address)
                at += sizeof at;
            at += sizeof at;
        }
        parts->ends[i] = at;
    }
    parts->ends[parts->count - 1] = end;
}

bool wndl_rt_stack_parts_fill(struct wndl_rt_stack_parts *parts,
    const struct wndl_regs *regs, bool called, uintptr_t end)
{
    enum { DOWN = sizeof(uintptr_t) - 1 };
    const uintptr_t start = ((uintptr_t)regs->sp + DOWN) & ~(uintptr_t)DOWN;
    const struct wndl_stack_range range = {start, end};
    struct wndl_resumed stack = {
        .walk = {.frames = parts->frames,
            .max_frames = WNDL_RT_STACK_PARTS,
            .method = wndl_rt_walk_method(wndl_rt.unwind),
            .jit = wndl_rt_jit_registry()},
        .carried = parts->carried,
    };
    wndl_unwind_regs(wndl_rt_unwinder(), regs, &range, 1, &stack.walk);
    parts->count = stack.walk.count;
    stack.changed = stack.walk.count;
    parts->frames[0].interrupted = !called;
    if (parts->count < 2 ||
        wndl_rt_tree_add(&parts->known, &stack, &parts->node) != 0)
        return false;
    find_ends(parts, start, end);
    return true;
}
