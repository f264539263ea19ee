/* SPDX-License-Identifier: MIT */
/*
 * full: the slow, exact step: every register, any rule, any address space. It
 * also has the guess by frame pointer, for code without CFI.
 */
#ifndef WNDL_UNWIND_SLOW_FULL_H
#define WNDL_UNWIND_SLOW_FULL_H

#include "unwind/core/rule.h"
#include "unwind/space/space.h"

/*
 * The place of a walk. `interrupted`: the instruction pointer is that of an
 * interrupted instruction, not a return address.
 */
struct wndl_full {
    struct wndl_cfi_regs regs;
    bool interrupted;
    bool called_by_it; /* the frame below is interrupted */
};

/* The result of a step: a caller (`how` it was found), or the `end`. */
struct wndl_step {
    bool more;
    bool keeps;    /* all registers but PC and SP */
    bool replaces; /* the frame stepped from was not real: the caller
                    * replaces it */
    bool skips;    /* callers may be missing: the walk is not complete */
    enum wndl_frame_how how;
    enum wndl_walk_end end;
};

/*
 * The three registers of the guess. fp 0: not known. `rule`: NULL, or what an
 * earlier step from this return address has learned of its code, of the kind
 * NO_FDE, FLOW_SP, FLOW_FP or NO_FLOW. A step replaces NO_FDE.
 */
struct wndl_fp_state {
    uint64_t pc, sp, fp;
    bool interrupted;
    bool called_by_it;
    struct wndl_rule *rule;
};

/* Sets the registers that `regs` has. */
void wndl_full_init(struct wndl_full *full, const struct wndl_arch *arch,
    const struct wndl_regs *regs);

/*
 * Steps to the caller. END_BAD_PC means that `full` itself was not a frame: its
 * pc, a return address, is in no module and leads nowhere.
 */
struct wndl_step wndl_full_step(
    const struct wndl_space *space, struct wndl_full *full);

/*
 * The same from code without an FDE, or outside of modules if not `in_module`,
 * in the ways that the space's method allows.
 */
struct wndl_step wndl_fp_step(const struct wndl_space *space,
    struct wndl_fp_state *state, bool in_module);

/*
 * Walks from `regs`, each frame by wndl_full_step. space->arch may be NULL:
 * then there are no frames, and the end is NO_RULE.
 */
void wndl_full_walk(const struct wndl_space *space,
    const struct wndl_regs *regs, struct wndl_walk *walk);

/*
 * Whether the return address `pc`, in a module's code without an FDE, is the
 * entry of a coroutine, which nothing called. Not for walks by frame pointers.
 */
bool wndl_coroutine_starts(const struct wndl_space *space, uint64_t pc);

/* The end of a walk that found a return address of 0, with this SP. */
enum wndl_walk_end wndl_root_end(const struct wndl_space *space, uint64_t sp);

#endif
