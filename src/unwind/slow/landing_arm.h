/* SPDX-License-Identifier: MIT */
/*
 * landing_arm: libgcc's frames while an exception leaves the frames above them,
 * on 32-bit Arm. Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_LANDING_ARM_H
#define WNDL_UNWIND_SLOW_LANDING_ARM_H

#include "unwind/slow/full.h"

/*
 * Corrects SP, or the register from which the CFA counts, so that the rules at
 * PC lead to the function's caller. `block` has all registers as libgcc's
 * unwinder has them, for a function that it has reached; its PC has the bit of
 * Thumb code. libgcc writes those of the next function over them one by one.
 *
 * The corrected value is not below `floor`. Reads at most 2,100 words.
 */
void wndl_landing_arm_right(const struct wndl_space *space, uint64_t floor,
    struct wndl_cfi_regs *block);

/*
 * Steps to the landing pad from libgcc's last instructions before it. `bytes`
 * are the code from `addr` on. r4 to r11, SP and PC are then the landing pad's,
 * and PC is not a return address.
 */
bool wndl_landing_arm_step(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full);

#endif
