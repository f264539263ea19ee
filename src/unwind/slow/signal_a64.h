/* SPDX-License-Identifier: MIT */
/*
 * signal_a64: the frames that Linux makes for signal handlers on AArch64. A
 * handler returns to code of two instructions, in the vDSO or in a page of an
 * emulator's. That code has no CFI with the interrupted PC. Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_SIGNAL_A64_H
#define WNDL_UNWIND_SLOW_SIGNAL_A64_H

#include "unwind/slow/full.h"

/*
 * Steps to the code that the signal interrupted, if `full` is at that code.
 * Memory that cannot be read is not that code.
 */
bool wndl_signal_a64_step(
    const struct wndl_space *space, struct wndl_full *full);

#endif
