/* SPDX-License-Identifier: MIT */
/*
 * remote: the registry of another process (remote->jit), read word by word
 * while that process runs on. Nothing there is believed: what does not fit is
 * not found. What was found is worth something only if no change was made
 * meanwhile.
 */
#ifndef WNDL_UNWIND_JIT_REMOTE_H
#define WNDL_UNWIND_JIT_REMOTE_H

#include "unwind/core/code.h"

#include <windlass/unwind.h>

/* Records of one piece of code, a CIE and an FDE. */
struct wndl_jit_copy {
    uint8_t bytes[2048];
};

/* Whether `pc` is registered there. */
bool wndl_jit_remote_covers(const struct wndl_remote *remote, uint64_t pc);

/* As wndl_jit_find. `code` points into `copy`. */
enum wndl_code_kind wndl_jit_remote_find(const struct wndl_remote *remote,
    uint64_t pc, struct wndl_code *code, struct wndl_jit_copy *copy);

/*
 * A number that is another one after each change: if it is the same before and
 * after a walk, that has seen nothing half done. remote->read must read anew.
 */
uint64_t wndl_jit_remote_changes(const struct wndl_remote *remote);

#endif
