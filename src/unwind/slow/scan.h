/* SPDX-License-Identifier: MIT */
/*
 * scan: the last resort: of the words on the stack, the first that can be the
 * return address of code that nothing is known of.
 */
#ifndef WNDL_UNWIND_SLOW_SCAN_H
#define WNDL_UNWIND_SLOW_SCAN_H

#include "unwind/slow/full.h"

/*
 * Steps to the caller, or leaves `state` alone: false. Of 64 words from SP on,
 * the first wins
 * - that is an address of code behind a call instruction,
 * - whose call can have come here: a direct one to code without an FDE, or to
 *   a stub that jumps on, or an indirect one,
 * - at which the stack pointer would be aligned as calls leave it (x86-64),
 * - and whose own caller, where its CFI needs SP only, is behind a call too.
 * What was left behind by calls that have returned mostly fails one of these;
 * a frame may be wrong nevertheless, or missed. A frame pointer that cannot be
 * the caller's is looked for below its return address.
 */
bool wndl_scan_step(
    const struct wndl_space *space, struct wndl_fp_state *state);

#endif
