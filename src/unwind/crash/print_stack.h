/* SPDX-License-Identifier: MIT */
/* print_stack: wndl_print_stack from any registers. */
#ifndef WNDL_UNWIND_CRASH_PRINT_STACK_H
#define WNDL_UNWIND_CRASH_PRINT_STACK_H

#include <windlass/unwind.h>

/*
 * Writes the walk of the calling thread from `regs`, without its first `skip`
 * frames. As signal-safe as wndl_print_stack.
 */
void wndl_print_stack_from(int fd, const struct wndl_regs *regs, size_t skip);

#endif
