/* SPDX-License-Identifier: MIT */
/*
 * scan: the last resort. It takes the first word on the stack that can be the
 * return address of unknown code.
 */
#ifndef WNDL_UNWIND_SLOW_SCAN_H
#define WNDL_UNWIND_SLOW_SCAN_H

#include "unwind/slow/full.h"

/*
 * Steps to the caller. False: `state` is unchanged. Of 64 words from SP on, the
 * first one is taken
 * - that is an address just after a call instruction,
 * - whose call can have come here: a direct one to code without an FDE, or to a
 *   stub that jumps on, or an indirect one,
 * - at which the stack pointer would be aligned as calls leave it (x86-64),
 * - and whose own caller, if its CFI needs SP only, is after a call, too.
 *
 * Words left by calls that have returned mostly fail one of these. A frame may
 * be wrong nevertheless, or missed. If the frame pointer cannot be the
 * caller's, that is searched below its return address.
 */
bool wndl_scan_step(
    const struct wndl_space *space, struct wndl_fp_state *state);

#endif
