/* SPDX-License-Identifier: MIT */
/*
 * find_fp: the frame pointer of a frame that was seen from outside, where no
 * register but IP and SP is told (proc_pid_syscall(5)), and that needs it for
 * its CFA. Its return address is looked for on the stack, upwards from where
 * the function's first instructions put it at the least: the word that stands
 * behind a call of this very function. x86-64 and i386.
 */
#ifndef WNDL_UNWIND_SLOW_FIND_FP_H
#define WNDL_UNWIND_SLOW_FIND_FP_H

#include "unwind/slow/full.h"

/*
 * Sets the frame pointer in `full`, whose code is `code`, if it is not known
 * and can be found; or the register that vfork() keeps its return address in.
 * *how: WNDL_HOW_CFI when the call names this function, WNDL_HOW_FP when the
 * call is indirect or of another function, which may have jumped here: a
 * guess, taken only if the walk can go on from there.
 */
bool wndl_find_fp(const struct wndl_space *space, const struct wndl_code *code,
    struct wndl_full *full, enum wndl_frame_how *how);

#endif
