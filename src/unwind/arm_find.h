/* SPDX-License-Identifier: MIT */
/*
 * arm_find: the rules of 32-bit Arm code in this process: by .ARM.exidx, where
 * code was interrupted also by its prologue and epilogues, and by the code of
 * what signal handlers return to.
 *
 * Signal-safe, as exidx.h.
 */
#ifndef WNDL_UNWIND_ARM_FIND_H
#define WNDL_UNWIND_ARM_FIND_H

#include "os/dlfind.h"
#include "unwind/space.h"

/*
 * An interrupted pc is even, what is looked up of a return address is odd: the
 * byte before it. NO_FDE for code that may not be unwound (CANTUNWIND).
 */
enum wndl_code_kind wndl_arm_code_find(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code);

/* The same, for code that signal handlers return to alone; else NO_FDE. */
enum wndl_code_kind wndl_arm_find_sigreturn(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code);

/*
 * Whether the instruction before a return address, which tells in bit 0 whether
 * it is Thumb code, can be a call. False for code of no module.
 */
bool wndl_arm_is_behind_call(uint64_t ra);

/*
 * Whether code that may not be unwound is a thread's start, given the address
 * that it is returned to, even, and its SP: it does nothing more but end the
 * thread; or it is the libc's, with its frame next to the libc's structure of
 * this thread, which is above the stack.
 */
bool wndl_arm_starts_thread(uint64_t ra, uint64_t sp);

#endif
