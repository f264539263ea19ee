/* SPDX-License-Identifier: MIT */
/*
 * resume: what windlass/unwind.h does not show of resumed walks.
 */
#ifndef WNDL_UNWIND_FAST_RESUME_H
#define WNDL_UNWIND_FAST_RESUME_H

#include <windlass/unwind.h>

/*
 * As wndl_unwind_resume, from where a call returns to: regs->ip is the return
 * address, the other registers are as they are behind the call. Frame 0 is
 * not interrupted. One struct wndl_resume is for walks of one kind.
 * Async-signal-safe.
 */
void wndl_unwind_resume_called(struct wndl_resume *last,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result);

#endif
