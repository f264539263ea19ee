/* SPDX-License-Identifier: MIT */
/*
 * landing_a64: libgcc's frames while an exception leaves the frames above them,
 * on AArch64. Signal-safe.
 */
#ifndef WNDL_UNWIND_SLOW_LANDING_A64_H
#define WNDL_UNWIND_SLOW_LANDING_A64_H

#include "unwind/slow/full.h"

/*
 * Corrects the SP of `caller`, the result of a step from `code`. True: by its
 * frame pointer.
 */
bool wndl_landing_a64_right(const struct wndl_space *space,
    const struct wndl_code *code, struct wndl_cfi_regs *caller);

#endif
