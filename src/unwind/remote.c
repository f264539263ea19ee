/* SPDX-License-Identifier: MIT */
#include "unwind/frame.h"
#include "unwind/full.h"
#include "unwind/rule.h"

static void push(struct wndl_walk *walk, const struct wndl_full *full,
    enum wndl_frame_how how)
{
    wndl_frame_word *frames = (wndl_frame_word *)walk->frames;
    frames[walk->count++] =
        wndl_frame_make(full->regs.regs[WNDL_DWARF_RA], full->interrupted, how);
    walk->fp_frames += how == WNDL_HOW_FP;
}

static void pop(struct wndl_walk *walk)
{
    walk->count--;
    walk->fp_frames -= walk->frames[walk->count].how == WNDL_HOW_FP;
}

/* False when the walk is over. */
static bool step(const struct wndl_space *space, struct wndl_full *full,
    struct wndl_walk *walk)
{
    struct wndl_step step = wndl_full_step(space, full);
    walk->end = step.end;
    if (!step.more && step.end == WNDL_END_BAD_PC && walk->count > 1)
        pop(walk);
    else if (walk->count == walk->max_frames && step.more)
        walk->end = WNDL_END_TRUNCATED;
    else if (step.more)
        push(walk, full, step.how);
    return step.more && walk->end != WNDL_END_TRUNCATED;
}

void wndl_unwind_remote(const struct wndl_remote *remote,
    const struct wndl_regs *regs, struct wndl_walk *walk)
{
    const struct wndl_space space = {
        .memory = {remote->read, remote->context},
        .remote = remote,
    };
    const uint32_t needed = WNDL_REG_IP | WNDL_REG_SP;
    struct wndl_full full;
    walk->count = 0;
    walk->fp_frames = 0;
    walk->end = WNDL_END_NO_RULE;
    if ((regs->valid & needed) != needed)
        return;
    wndl_full_init(&full, regs);
    push(walk, &full, WNDL_HOW_CONTEXT);
    while (step(&space, &full, walk))
        ;
}
