/* SPDX-License-Identifier: MIT */
/*
 * arm_find: the rules of 32-bit Arm code, in this process or through a memory
 * reader. They come from .ARM.exidx, for interrupted code also from its
 * prologue and epilogues, and from the code to which signal handlers return.
 *
 * Signal-safe, as exidx.h.
 */
#ifndef WNDL_UNWIND_SPACE_ARM_FIND_H
#define WNDL_UNWIND_SPACE_ARM_FIND_H

#include "os/dlfind.h"
#include "unwind/space/space.h"

/*
 * Finds the rules of `pc`. An interrupted pc is even. The pc of a return
 * address is odd: the byte before it. NO_FDE for code that may not be unwound
 * (CANTUNWIND).
 */
enum wndl_code_kind wndl_arm_code_find(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code);

/*
 * The same for another process. `m` covers `pc` and may have no index. The
 * body's rule holds if the function's code cannot all be read, or if its start
 * in the index is impossible. Takes 32 KiB of the stack.
 */
enum wndl_code_kind wndl_arm_code_find_there(const struct wndl_remote *remote,
    const struct wndl_remote_module *m, uint64_t pc, struct wndl_code *code);

/*
 * Whether the instruction before a return address can be a call. Bit 0 of the
 * address marks Thumb code. `remote` NULL: this process, where it is false for
 * code outside of modules. True for code of another process that cannot be
 * read.
 */
bool wndl_arm_is_after_call(const struct wndl_remote *remote, uint64_t ra);

/*
 * Whether code does nothing more than end the thread. `ra` is the even address
 * to which it returns.
 */
bool wndl_arm_ends_thread(const struct wndl_remote *remote, uint64_t ra);

/*
 * Whether code that may not be unwound, and does not return, is a thread's
 * start. `ra` is the even address to which its callee returns, `sp` its SP. It
 * is one if it ends the thread. In this process (`remote` NULL) it also is one
 * if it is libc's, with its frame next to libc's structure of this thread,
 * which is above the stack.
 */
bool wndl_arm_starts_thread(
    const struct wndl_remote *remote, uint64_t ra, uint64_t sp);

#endif
