/* SPDX-License-Identifier: MIT */
/*
 * windlass/crash.h: the stack as text, for logs and crashes.
 *
 * A stack is printed without names, because nothing may be read or allocated at
 * that moment. `windlass fix`, or any stack fixer, adds the names later from
 * the binaries. Each frame is one line, the innermost first:
 *
 *   #01: ???[/usr/lib/libexample.so.1 +0x1234]
 *   #02: ??? (0x7f0000001234)                     code of no loaded image
 *
 * The offset counts from the image base, which is the lowest loaded page. It
 * can be looked up as it is: it is the instruction at which code was
 * interrupted, or the last byte of a call that has not returned yet. The latter
 * is the return address minus one, because the instruction after a call may
 * belong to another line or another function.
 */
#ifndef WINDLASS_CRASH_H
#define WINDLASS_CRASH_H

#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the stack of the calling thread to a file descriptor. The first frame
 * is the caller; at most 256 frames are written. If the walk ended before the
 * outermost frame, a last line in round brackets says why.
 *
 * `fd` is any descriptor that is open for writing. It stays open. A write that
 * fails is not reported, and its text is lost.
 *
 * Any thread, any signal handler: there is no malloc, no stdio and no lock, and
 * errno is kept. The call needs 16 KiB of stack. It asks the kernel before it
 * reads memory, with one cheap system call a page, so that a broken stack ends
 * the walk and not the process. Lines of threads that print at the same time do
 * not mix if they are shorter than 1,000 bytes.
 */
WNDL_API void wndl_print_stack(int fd);

/*
 * Installs a handler of fatal signals that prints the stack. The signals are
 * SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP; those that are ignored
 * at the time of the call stay ignored. The handler writes a line that names
 * the signal, the address and the thread, and then the stack of that thread.
 *
 * Afterwards it puts the former handler back and delivers the signal again,
 * with the same information. Core dump, exit status and the former handler's
 * view are thus as they would have been. Each signal is reported once only,
 * because its former handler is then in place again. Threads that crash while
 * another one writes wait for it, up to five seconds.
 *
 * `fd` is the descriptor to write to. It has to stay open until the process
 * ends. A second call changes `fd` only.
 *
 * `err`, if not NULL, receives the detail of a failure. The status is IO if the
 * system refuses a signal stack or a handler.
 *
 * The calling thread gets an alternate signal stack of 64 KiB, unless it has
 * one, so that the overflow of its own stack can be reported. Any other thread
 * needs its own sigaltstack(2), of 32 KiB or more, for that.
 *
 * Not for signal handlers, and for one thread at a time. Call it first in main.
 */
WNDL_API enum wndl_status wndl_install_crash_handler(
    int fd, struct wndl_error *err) WNDL_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
