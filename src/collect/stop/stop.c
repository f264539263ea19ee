/* SPDX-License-Identifier: MIT */
#include "collect/stop/stop.h"

#include "os/clock.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

/* A thread on a CPU stops within microseconds: that is not worth a sleep. */
enum { SPIN_NS = 40 * 1000, TURN_NS = 10 * 1000 * 1000 };

/*
 * A stop of the kernel's for PTRACE_INTERRUPT, or for job control, has an
 * event. Any other is that of a signal, which the thread must get.
 */
static int signal_of(int status)
{
    return status >> 16 != 0 ? 0 : WSTOPSIG(status);
}

/* Waits for SIGCHLD, which the caller's threads block, or for `ns`. */
static void wait_a_turn(uint64_t ns)
{
    sigset_t child;
    const struct timespec turn = {0, (long)(ns < TURN_NS ? ns : TURN_NS)};
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    (void)sigtimedwait(&child, NULL, &turn);
}

static enum wndl_stop_result wait_for(struct wndl_stop *stop, uint64_t wait_ns)
{
    const uint64_t asked = wndl_clock_monotonic_ns();
    for (uint64_t now = asked;; now = wndl_clock_monotonic_ns()) {
        int status;
        pid_t got = waitpid(stop->tid, &status, WNOHANG | __WALL);
        if (got == stop->tid && WIFSTOPPED(status)) {
            stop->signal = signal_of(status);
            return WNDL_STOP_DONE;
        }
        if (got != 0)
            return WNDL_STOP_GONE;
        stop->since = now;
        if (now - asked >= wait_ns)
            return WNDL_STOP_LATE;
        if (now - asked >= SPIN_NS)
            wait_a_turn(wait_ns - (now - asked));
    }
}

enum wndl_stop_result wndl_stop_begin(
    struct wndl_stop *stop, pid_t tid, uint64_t wait_ns)
{
    *stop = (struct wndl_stop){.tid = tid, .since = wndl_clock_monotonic_ns()};
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return errno == ESRCH ? WNDL_STOP_GONE : WNDL_STOP_REFUSED;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return errno == ESRCH ? WNDL_STOP_GONE : WNDL_STOP_REFUSED;
    return wait_for(stop, wait_ns);
}

enum wndl_stop_result wndl_stop_again(struct wndl_stop *stop)
{
    return wait_for(stop, 0);
}

bool wndl_stop_regs(const struct wndl_stop *stop, uint16_t machine,
    struct wndl_thread_regs *regs)
{
    uint64_t room[WNDL_REGS_MAX];
    struct iovec set = {room, sizeof room};
    return ptrace(PTRACE_GETREGSET, stop->tid, (void *)(uintptr_t)NT_PRSTATUS,
               &set) == 0 &&
           set.iov_len == wndl_regs_size(machine) &&
           wndl_regs_read(regs, machine,
               (struct wndl_bytes){(const uint8_t *)room, set.iov_len});
}

uint64_t wndl_stop_end(const struct wndl_stop *stop)
{
    (void)ptrace(
        PTRACE_DETACH, stop->tid, NULL, (void *)(intptr_t)stop->signal);
    return wndl_clock_monotonic_ns() - stop->since;
}
