/* SPDX-License-Identifier: MIT */
/*
 * windlass/crash.h: the stack as text, for logs and crashes.
 *
 * A stack is printed without names, so that it can be printed where nothing
 * may be read or allocated; `windlass fix`, or any stack fixer, names it later
 * from the binaries. One line for each frame, the innermost first:
 *
 *   #01: ???[/usr/lib/libexample.so.1 +0x1234]
 *   #02: ??? (0x7f0000001234)                     code of no loaded image
 *
 * The offset is counted from the image base, the lowest loaded page. It is one
 * to be looked up as it is: that of the instruction where the code was
 * interrupted, or the last byte of the call that has not returned yet (the
 * return address less one: what stands behind a call may be another line, or
 * another function).
 */
#ifndef WINDLASS_CRASH_H
#define WINDLASS_CRASH_H

#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the stack of the calling thread to `fd`, from the caller on; at most
 * 256 frames. Where the walk ended before the outermost frame, a last line in
 * round brackets says why. What cannot be written is lost: nothing tells.
 *
 * Any thread, any signal handler: no malloc, no stdio, no lock; errno is kept.
 * Memory is asked for before it is read, by one cheap system call for each
 * page, so that a broken stack ends the walk and not the process. It needs
 * 16 KiB of stack. Lines of threads that print at the same time do not mix as
 * long as they are shorter than 1,000 bytes.
 */
WNDL_API void wndl_print_stack(int fd);

/*
 * From now on a fatal signal (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT,
 * SIGTRAP) writes a line that says which, where and in which thread, and the
 * stack of that thread, to `fd`, which has to stay open. Then the signal is
 * delivered again as it was to what handled it before this call, or to nobody:
 * core dump, exit status and a handler's view are as they would have been. A
 * signal is told of once: from then on its former handler is in place again.
 * Signals that were ignored stay so. While one thread writes, others that
 * crash wait up to five seconds for it.
 *
 * The calling thread gets an alternate signal stack of 64 KiB, so that it can
 * tell of the overflow of its own; one that it has already is kept. Other
 * threads whose overflow shall be told of have to call sigaltstack(2)
 * themselves, with 32 KiB or more.
 *
 * A second call only changes `fd`. IO if the system refuses. Not for signal
 * handlers, and for one thread at a time; best called first in main.
 */
WNDL_API enum wndl_status wndl_install_crash_handler(
    int fd, struct wndl_error *err) WNDL_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
