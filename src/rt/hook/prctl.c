/* SPDX-License-Identifier: MIT */
/*
 * prctl: a process that gives up new privileges is about to enter a sandbox, as
 * browsers do: for most users no filter is possible without. Inside, calls that
 * the program never makes itself may be treated as an attack, so we make only
 * those that nearly all sandboxes allow. A filter that comes by a hook is asked
 * about those. If it refuses one, recording ends before it is in force.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/core/seccomp_filter.h"
#include "rt/heap/heap.h"
#include "rt/hook/syscall.h"
#include "rt/sample/engine.h"
#include "rt/sample/threads.h"
#include "rt/sample/timer.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Replaces timers that must be set anew at each sample by periodic ones. */
static void steady_timers(void)
{
    for (uint32_t slot = 0; slot < WNDL_SHM_THREADS; slot++) {
        struct wndl_rt_thread *t = wndl_rt_thread_at(slot);
        if (t == NULL || t->timer < 0)
            continue;
        wndl_rt_timer_stop(t, WNDL_RT_TIMER_WALL);
        (void)wndl_rt_timer_start(
            t, WNDL_RT_TIMER_TICK, wndl_rt.interval, wndl_rt.interval);
    }
}

/* A thread that is being sampled may start its timer once more. */
static void expect_sandbox(void)
{
    if (wndl_rt.shm == NULL || !wndl_rt_is_own_process())
        return;
    if (wndl_rt.engine == WNDL_ENGINE_TIMER) {
        wndl_rt.engine = WNDL_ENGINE_TICK;
        steady_timers();
        steady_timers();
    }
    wndl_rt_engine_prepare_thread();
    wndl_rt_heap_expect_sandbox();
    atomic_store(&wndl_rt.careful, true);
}

#if defined(__x86_64__)
enum { OWN_ARCH = AUDIT_ARCH_X86_64 };
#elif defined(__i386__)
enum { OWN_ARCH = AUDIT_ARCH_I386 };
#elif defined(__aarch64__)
enum { OWN_ARCH = AUDIT_ARCH_AARCH64 };
#else
enum { OWN_ARCH = AUDIT_ARCH_ARM };
#endif

/* The calls that are made in sandboxes: by all, and for samples. */
static const struct needed {
    long number;
    uint64_t arguments[4];
    bool for_samples;
} needed[] = {
    {SYS_getpid, {0}, false},
    {SYS_gettid, {0}, false},
    {SYS_rt_sigprocmask, {SIG_SETMASK, 0, 0, WNDL_ARCH_SIGSET_BYTES}, false},
    {WNDL_SYS_MMAP,
        {0, WNDL_RT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS},
        false},
    {SYS_clock_gettime, {CLOCK_MONOTONIC}, true},
    {SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID}, true},
    {SYS_rt_sigreturn, {0}, true},
};

static bool is_let_through(
    const struct sock_fprog *program, const struct needed *n)
{
    struct seccomp_data call = {
        .nr = (int)n->number,
        .arch = (uint32_t)OWN_ARCH,
        .args = {n->arguments[0], n->arguments[1], n->arguments[2],
            n->arguments[3]},
    };
    return wndl_rt_seccomp_allows(program, &call);
}

static bool lets_us_work(const struct sock_fprog *program)
{
    bool samples = wndl_rt.engine != WNDL_ENGINE_NONE;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if ((samples || !needed[i].for_samples) &&
            !is_let_through(program, &needed[i]))
            return false;
    }
    return true;
}

/* The program's own mistakes are left to the kernel. */
static void expect_filter(const struct sock_fprog *program)
{
    if (program == NULL || wndl_rt.shm == NULL || !wndl_rt_is_own_process())
        return;
    expect_sandbox();
    if (program->filter != NULL && !lets_us_work(program)) {
        wndl_rt_engine_silence();
        wndl_rt_heap_stop_thread();
    }
    wndl_rt.filtered = true;
}

static const struct sock_fprog *program_at(unsigned long address)
{
    return (const struct sock_fprog *)address;
}

void wndl_rt_expect_seccomp(unsigned long a, unsigned long c)
{
    if (a == SECCOMP_SET_MODE_FILTER)
        expect_filter(program_at(c));
}

void wndl_rt_expect_prctl(unsigned long a, unsigned long b, unsigned long c)
{
    if (a == PR_SET_SECCOMP && b == SECCOMP_MODE_FILTER)
        expect_filter(program_at(c));
    else if (a == PR_SET_NO_NEW_PRIVS)
        expect_sandbox();
}

/*
 * Reading the processor's clock would end this thread and those it makes. Which
 * of them enable it again is not tracked.
 */
static void lose_clock(void)
{
    __atomic_store_n(&wndl_rt.tsc_end, wndl_rt_tsc(), __ATOMIC_RELAXED);
}

WNDL_RT_HOOK int prctl(int option, ...)
{
    unsigned long arguments[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
        expect_sandbox();
    if (option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_FILTER)
        expect_filter(program_at(arguments[1]));
    if (option == PR_SET_TSC && arguments[0] != PR_TSC_ENABLE)
        lose_clock();
    /* In that mode only read(), write() and exit are allowed. */
    if (option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_STRICT) {
        lose_clock();
        wndl_rt_engine_end_thread();
        wndl_rt_heap_stop_thread();
    }
    return wndl_rt_real()->prctl(
        option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
