/* SPDX-License-Identifier: MIT */
/*
 * remote: the registry of another process (remote->jit), read word by word
 * while that process runs. Nothing in it is trusted: what does not fit is not
 * found. A result is valid only if no change was made meanwhile.
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

/* Like wndl_jit_find. `code` points into `copy`. */
enum wndl_code_kind wndl_jit_remote_find(const struct wndl_remote *remote,
    uint64_t pc, struct wndl_code *code, struct wndl_jit_copy *copy);

/*
 * A number that differs after each change. If it is the same before and after a
 * walk, the walk has seen no half of a change. remote->read must read anew.
 */
uint64_t wndl_jit_remote_changes(const struct wndl_remote *remote);

#endif
