/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/stack_parts.h"

#include "rt/core/rt.h"
#include "rt/walk/jit_registry.h"
#include "rt/walk/rules.h"

/* The first word from `at` on that is `address`; `end`: there is none. */
static uintptr_t find_word(uintptr_t at, uintptr_t end, uint64_t address)
{
    while (end - at >= sizeof at && *(const uintptr_t *)at != address)
        at += sizeof at;
    return end - at >= sizeof at ? at : end;
}

/*
 * Walks do not say where they read return addresses, but those stand in their
 * order. A frame whose return address is not found has an empty part.
 */
static void find_ends(
    struct wndl_rt_stack_parts *parts, uintptr_t start, uintptr_t end)
{
    uintptr_t at = start;
    for (size_t i = 0; i + 1 < parts->count; i++) {
        const struct wndl_frame *caller = &parts->frames[i + 1];
        const uintptr_t found =
            caller->interrupted ? end : find_word(at, end, caller->address);
        at = found == end ? at : found + sizeof at;
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
