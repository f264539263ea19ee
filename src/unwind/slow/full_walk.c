/* SPDX-License-Identifier: MIT */
#include "unwind/core/frame.h"
#include "unwind/slow/full.h"

static void push(const struct wndl_space *space, struct wndl_walk *walk,
    const struct wndl_full *full, enum wndl_frame_how how)
{
    wndl_frame_word *frames = (wndl_frame_word *)walk->frames;
    uint64_t pc = full->regs.regs[space->arch->pc];
    frames[walk->count++] = wndl_frame_make(pc, full->interrupted, how);
    walk->fp_frames += wndl_frame_is_by_fp(how);
}

static void pop(struct wndl_walk *walk)
{
    walk->count--;
    const enum wndl_frame_how how =
        (enum wndl_frame_how)walk->frames[walk->count].how;
    walk->fp_frames -= wndl_frame_is_by_fp(how);
}

/* False when the walk is over. */
static bool step(const struct wndl_space *space, struct wndl_full *full,
    struct wndl_walk *walk, bool *skips)
{
    struct wndl_step step = wndl_full_step(space, full);
    *skips = *skips || step.skips;
    walk->end =
        step.end == WNDL_END_COMPLETE && *skips ? WNDL_END_FP_ROOT : step.end;
    if (step.more && step.replaces)
        pop(walk);
    if (!step.more && step.end == WNDL_END_BAD_PC && walk->count > 1)
        pop(walk);
    else if (walk->count == walk->max_frames && step.more)
        walk->end = WNDL_END_TRUNCATED;
    else if (step.more)
        push(space, walk, full, step.how);
    return step.more && walk->end != WNDL_END_TRUNCATED;
}

void wndl_full_walk(const struct wndl_space *space,
    const struct wndl_regs *regs, struct wndl_walk *walk)
{
    const uint32_t needed = WNDL_REG_IP | WNDL_REG_SP;
    struct wndl_full full;
    walk->count = 0;
    walk->fp_frames = 0;
    walk->end = WNDL_END_NO_RULE;
    if ((regs->valid & needed) != needed || space->arch == NULL)
        return;
    wndl_full_init(&full, space->arch, regs);
    push(space, walk, &full, WNDL_HOW_CONTEXT);
    bool skips = false;
    while (step(space, &full, walk, &skips))
        ;
}
