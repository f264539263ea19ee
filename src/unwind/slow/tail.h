/* SPDX-License-Identifier: MIT */
/*
 * tail: whether a function that was called may have gone on elsewhere by jumps
 * out of it, tail calls, and so have led to code that it does not hold.
 */
#ifndef WNDL_UNWIND_SLOW_TAIL_H
#define WNDL_UNWIND_SLOW_TAIL_H

#include "unwind/space/space.h"

/*
 * Whether jumps may lead from `function` to the code without CFI at `pc`. x86
 * only. Functions' ends are not known, and a jump through a register may lead
 * anywhere: true is a guess. False may be wrong of functions that are very
 * long, or that jump on very often. It decodes 2048 instructions at most.
 */
bool wndl_tail_may_reach(
    const struct wndl_space *space, uint64_t function, uint64_t pc);

#endif
