/* SPDX-License-Identifier: MIT */
/* resume: the part of resumed walks that windlass/unwind.h does not show. */
#ifndef WNDL_UNWIND_FAST_RESUME_H
#define WNDL_UNWIND_FAST_RESUME_H

#include <windlass/unwind.h>

/*
 * Walks like wndl_unwind_resume, but from the return address of a call: that is
 * regs->ip, and the other registers are as after the call. Frame 0 is not
 * interrupted. A struct wndl_resume is for walks of one kind.
 * Async-signal-safe.
 */
void wndl_unwind_resume_called(struct wndl_resume *last,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result);

#endif
