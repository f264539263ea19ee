/* SPDX-License-Identifier: MIT */
/*
 * landing_arm: libgcc's frames while an exception leaves the frames above them,
 * on 32-bit Arm. Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_LANDING_ARM_H
#define WNDL_UNWIND_SLOW_LANDING_ARM_H

#include "unwind/slow/full.h"

/*
 * `block`: all registers as libgcc's unwinder has them, PC with the bit that
 * tells of Thumb code, of a function that it has come to. It writes those of
 * the next one over them one by one: rights SP, or the register that the CFA
 * is counted from, so that the rules at PC lead to that function's caller.
 * `floor`: it is not righted to lower than that. Reads at most 2,100 words.
 */
void wndl_landing_arm_right(const struct wndl_space *space, uint64_t floor,
    struct wndl_cfi_regs *block);

/*
 * To the landing pad, from libgcc's last instructions before it, where `bytes`
 * are the code from `addr` on: r4 to r11, SP and PC are its, and PC is not a
 * return address.
 */
bool wndl_landing_arm_step(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full);

#endif
