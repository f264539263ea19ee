/* SPDX-License-Identifier: MIT */
#include "rt/sample/restart.h"

#include "os/own_memory.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/arch/syscall_number.h"
#include "rt/core/read_parts.h"
#include "rt/core/rt.h"
#include "rt/sample/restart_calls.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { LOOK_BACK = 48, NANOS = 1000000000, MILLION = 1000000 };

static void set_argument(ucontext_t *context, unsigned n, uint64_t value)
{
    wndl_arch_set(context, wndl_arch_argument(n), value);
}

bool wndl_rt_restart_is_at_call(const ucontext_t *context)
{
    return wndl_arch_is_at_call(context);
}

bool wndl_rt_restart_is_after_call(const ucontext_t *context)
{
    return wndl_arch_is_after_call(context);
}

bool wndl_rt_restart_is_due(const ucontext_t *context)
{
    return wndl_arch_returned(context, -EINTR) &&
           wndl_rt_restart_is_after_call(context);
}

/*
 * Copies memory of the program that may be unreadable: code that may only be
 * executed, or whose file was truncated. A sandbox may forbid the call that
 * never faults.
 */
static bool read_memory(uint64_t address, void *to, size_t size)
{
    const struct iovec from = {(void *)(uintptr_t)address, size};
    struct wndl_own_memory memory = {0};
    if (wndl_rt_is_careful())
        return wndl_own_memory_read(&memory, address, to, size);
    return wndl_rt_read_parts(to, size, &from, 1) == size;
}

/* Copies the code before `address`, or that on its page. Returns the size. */
static size_t read_before(uint64_t address, uint8_t to[LOOK_BACK])
{
    size_t on_page = address % WNDL_RT_PAGE;
    if (address < LOOK_BACK)
        return 0;
    if (read_memory(address - LOOK_BACK, to, LOOK_BACK))
        return LOOK_BACK;
    return on_page < LOOK_BACK && read_memory(address - on_page, to, on_page)
               ? on_page
               : 0;
}

/*
 * A call that has returned: its number, the form of its timeout, and the value
 * of its result's register before the call.
 */
struct made {
    long number;
    uint64_t before;
    struct wndl_rt_call call;
};

static bool find_call(const ucontext_t *context, struct made *made)
{
    uint8_t code[LOOK_BACK];
    size_t size = read_before(wndl_arch_call_site(context), code);
#if WNDL_ARCH_KEEPS_NUMBER
    made->number = wndl_arch_number(context);
    if (!wndl_rt_first_argument(code, size, context, &made->before))
        return false;
#else
    made->number = wndl_rt_number(code, size, context);
    made->before = (uint64_t)made->number;
#endif
    return made->number >= 0 &&
           wndl_rt_restart_find(made->number, context, &made->call);
}

bool wndl_rt_restart_is_due_to_event(const ucontext_t *context)
{
    struct made made;
    return wndl_rt_restart_is_due(context) && !wndl_arch_came_back(context) &&
           find_call(context, &made) && made.number == SYS_io_uring_enter;
}

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* Whether the program handles a signal, and the flags of its action. */
static bool is_caught(int number, unsigned long *flags)
{
    struct kernel_sigaction action = {0};
    (void)wndl_raw4(
        SYS_rt_sigaction, number, 0, (long)&action, WNDL_ARCH_SIGSET_BYTES);
    *flags = action.flags;
    return action.handler != SIG_DFL && action.handler != SIG_IGN;
}

/*
 * Whether a handler of the program's runs as soon as the mask is `blocked`, one
 * without any of the flags `unlike`.
 */
static bool has_pending(uint64_t blocked, unsigned long unlike)
{
    uint64_t pending = 0;
    unsigned long flags;
    if (wndl_rt_is_careful())
        return false;
    (void)wndl_raw3(
        SYS_rt_sigpending, (long)&pending, WNDL_ARCH_SIGSET_BYTES, 0);
    pending &= ~blocked & ~wndl_rt.signals;
    for (; pending != 0; pending &= pending - 1) {
        if (is_caught(__builtin_ctzll(pending) + 1, &flags) &&
            (flags & unlike) == 0)
            return true;
    }
    return false;
}

static uint64_t mask_of(const ucontext_t *context)
{
    uint64_t blocked;
    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    return blocked;
}

/* The kernel's forms in 64-bit programs, and in 32-bit ones. */
struct wide_time {
    int64_t seconds, ns;
};
struct narrow_time {
    int32_t seconds, ns;
};

/* UINT64_MAX if the time in ns overflows, or cannot be read. */
static uint64_t ns_at(uint64_t address, bool wide)
{
    struct narrow_time narrow;
    struct wide_time t;
    if (!read_memory(address, wide ? (void *)&t : &narrow,
            wide ? sizeof t : sizeof narrow))
        return UINT64_MAX;
    if (!wide)
        t = (struct wide_time){narrow.seconds, narrow.ns};
    if ((uint64_t)t.seconds >= UINT64_MAX / NANOS - 1)
        return UINT64_MAX;
    return (uint64_t)t.seconds * NANOS + (uint64_t)t.ns;
}

static void put_ns(struct wndl_rt_time *to, uint64_t ns, bool wide)
{
    const struct wide_time t = {(int64_t)(ns / NANOS), (int64_t)(ns % NANOS)};
    const struct narrow_time narrow = {(int32_t)t.seconds, (int32_t)t.ns};
    memcpy(
        to, wide ? (const void *)&t : &narrow, wide ? sizeof t : sizeof narrow);
}

/* Makes the argument point to the rest of the time. */
static void shorten(ucontext_t *context, const struct wndl_rt_call *call,
    uint64_t waited, struct wndl_rt_time *rest)
{
    uint64_t asked = wndl_rt_restart_argument(context, call->argument);
    if (asked == 0 || waited == 0)
        return;
    uint64_t all = ns_at(asked, call->wide);
    if (all == UINT64_MAX)
        return;
    put_ns(rest, all > waited ? all - waited : 0, call->wide);
    set_argument(context, call->argument, (uintptr_t)rest);
}

static void set_timeout(ucontext_t *context, const struct wndl_rt_call *call,
    uint64_t waited, struct wndl_rt_time *rest)
{
    unsigned at = call->argument;
    if (call->timeout == WNDL_RT_TIMEOUT_MS) {
        int64_t left = (int)wndl_rt_restart_argument(context, at);
        uint64_t less = waited / MILLION;
        if (left <= 0)
            return;
        left = (uint64_t)left > less ? left - (int64_t)less : 0;
        set_argument(context, at, (uint64_t)left);
    } else if (call->timeout == WNDL_RT_TIMEOUT_TIMESPEC) {
        shorten(context, call, waited, rest);
    } else if (call->timeout == WNDL_RT_TIMEOUT_SLEEP) {
        uint64_t written = wndl_rt_restart_argument(context, at + 1);
        if (written == 0)
            shorten(context, call, waited, rest);
        else
            set_argument(context, at, written);
    }
}

bool wndl_rt_restart(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest)
{
    struct made made;
    if (!find_call(context, &made))
        return false;
    if (has_pending(mask_of(context), 0))
        return true;
    wndl_arch_redo(context, made.before);
    set_timeout(context, &made.call, waited, rest);
    return true;
}

void wndl_rt_restart_or_count(
    ucontext_t *context, uint64_t waited, struct wndl_rt_time *rest)
{
    if (!wndl_rt_restart(context, waited, rest))
        atomic_fetch_add(&wndl_rt.shm->interrupted_calls, 1);
}

/* Acts as if the program's signal had come first. */
static void yield_after_call(ucontext_t *context)
{
    struct made made;
    if (!find_call(context, &made))
        return;
    const uint64_t *mask =
        wndl_rt_restart_mask(made.number, context, made.before);
    if (mask != NULL && has_pending(*mask, 0))
        wndl_arch_redo(context, made.before);
}

void wndl_rt_restart_yield(ucontext_t *context)
{
    if (wndl_rt_restart_is_due(context))
        yield_after_call(context);
    else if (wndl_rt_restart_is_interruptible(
                 wndl_arch_number(context), context) &&
             wndl_rt_restart_is_at_call(context) &&
             has_pending(mask_of(context), SA_RESTART))
        wndl_arch_skip(context, -EINTR);
}

void wndl_rt_restart_came_back(ucontext_t *context)
{
    if (wndl_arch_is_redone(context) && wndl_rt_restart_is_at_call(context))
        wndl_arch_skip(context, -EINTR);
    else if (wndl_rt_restart_is_after_call(context))
        wndl_arch_set_came_back(context);
}

#if WNDL_ARCH_HAS_TRANSFER

__asm__(WNDL_ARCH_TRANSFER);
extern const uint8_t wndl_rt_transfer[] __attribute__((visibility("hidden")));
extern const uint8_t wndl_rt_transfer_end[]
    __attribute__((visibility("hidden")));

/* Calls that transfer everything unless they are interrupted. */
static bool is_transfer(long number, const ucontext_t *context)
{
    if (number == SYS_recvfrom)
        return (wndl_rt_restart_argument(context, 3) & MSG_WAITALL) != 0;
    return number == SYS_write || number == SYS_sendto;
}

static bool is_pipe_or_socket(int fd)
{
    struct stat status;
    return wndl_raw3(SYS_fstat, fd, (long)&status, 0) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool wndl_rt_restart_transfer(ucontext_t *context)
{
    struct made made;
    long done = wndl_arch_result(context);
    uint64_t pc = wndl_arch_pc(context);
    if (done <= 0 || (uint64_t)done >= wndl_rt_restart_argument(context, 2) ||
        !wndl_rt_restart_is_after_call(context) || wndl_rt_is_careful() ||
        (pc >= (uintptr_t)wndl_rt_transfer &&
            pc < (uintptr_t)wndl_rt_transfer_end) ||
        !find_call(context, &made) || !is_transfer(made.number, context) ||
        !is_pipe_or_socket((int)wndl_rt_restart_argument(context, 0)) ||
        has_pending(mask_of(context), 0))
        return false;
    wndl_arch_transfer(
        context, (uintptr_t)wndl_rt_transfer, made.number, (uint64_t)done);
    return true;
}

#else

bool wndl_rt_restart_transfer(ucontext_t *context)
{
    (void)context;
    return false;
}

#endif
