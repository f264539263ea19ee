/* SPDX-License-Identifier: MIT */
/*
 * signal_a64: the frames that Linux makes for signal handlers on AArch64. A
 * handler returns to code of two instructions, in the vDSO or in a page of an
 * emulator's, of which there is no CFI that would tell the interrupted PC.
 * Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_SIGNAL_A64_H
#define WNDL_UNWIND_SLOW_SIGNAL_A64_H

#include "unwind/slow/full.h"

/*
 * Steps to what the signal interrupted, if `full` stands at that code. What
 * cannot be read is none.
 */
bool wndl_signal_a64_step(
    const struct wndl_space *space, struct wndl_full *full);

#endif
