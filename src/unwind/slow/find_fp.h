/* SPDX-License-Identifier: MIT */
/*
 * find_fp: finds the frame pointer of a frame that was seen from outside and
 * needs it for its CFA. From outside only IP and SP are known
 * (proc_pid_syscall(5)). The frame's return address is searched on the stack,
 * upwards from the lowest place at which the function's first instructions can
 * put it. It is the word that is just after a call of this very function.
 * x86-64 and i386.
 */
#ifndef WNDL_UNWIND_SLOW_FIND_FP_H
#define WNDL_UNWIND_SLOW_FIND_FP_H

#include "unwind/slow/full.h"

/*
 * Sets the frame pointer in `full`, whose code is `code`, if it is not known
 * and can be found. It may also set the register in which vfork() keeps its
 * return address. That one is WNDL_HOW_CHECKED: only calls by the caller's
 * frame leave an address there. Else *how is WNDL_HOW_CFI if the call names
 * this function. It is WNDL_HOW_FP if the call is indirect, or of another
 * function, which may have jumped here. These are accepted only if the walk can
 * go on from there.
 */
bool wndl_find_fp(const struct wndl_space *space, const struct wndl_code *code,
    struct wndl_full *full, enum wndl_frame_how *how);

#endif
