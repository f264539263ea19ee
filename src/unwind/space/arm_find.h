/* SPDX-License-Identifier: MIT */
/*
 * arm_find: the rules of 32-bit Arm code, in this process or through a memory
 * reader: by .ARM.exidx, where code was interrupted also by its prologue and
 * epilogues, and by the code of what signal handlers return to.
 *
 * Signal-safe, as exidx.h.
 */
#ifndef WNDL_UNWIND_SPACE_ARM_FIND_H
#define WNDL_UNWIND_SPACE_ARM_FIND_H

#include "os/dlfind.h"
#include "unwind/space/space.h"

/*
 * An interrupted pc is even, what is looked up of a return address is odd: the
 * byte before it. NO_FDE for code that may not be unwound (CANTUNWIND).
 */
enum wndl_code_kind wndl_arm_code_find(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code);

/*
 * The same of another process, where `m` covers `pc` and may have no index.
 * Where the function's code cannot all be read, or the index says nonsense of
 * where it starts, its body's rule holds. Takes 32 KiB of the stack.
 */
enum wndl_code_kind wndl_arm_code_find_there(const struct wndl_remote *remote,
    const struct wndl_remote_module *m, uint64_t pc, struct wndl_code *code);

/*
 * Whether the instruction before a return address, which tells in bit 0 whether
 * it is Thumb code, can be a call. `remote` NULL: this process, where it is
 * false for code of no module. True for another's code that cannot be read.
 */
bool wndl_arm_is_behind_call(const struct wndl_remote *remote, uint64_t ra);

/* Whether code does nothing more but end the thread, given the even address
 * that it is returned to. */
bool wndl_arm_ends_thread(const struct wndl_remote *remote, uint64_t ra);

/*
 * Whether code that may not be unwound, and has no way to a return, is a
 * thread's start, given the address that it is returned to, even, and its SP:
 * it ends the thread; or, of this process (`remote` NULL), it is the libc's,
 * with its frame next to the libc's structure of this thread, which is above
 * the stack.
 */
bool wndl_arm_starts_thread(
    const struct wndl_remote *remote, uint64_t ra, uint64_t sp);

#endif
