/* SPDX-License-Identifier: MIT */
/*
 * prctl: a process that gives up new privileges is about to enter a sandbox, as
 * browsers do: no filter is possible without. Inside, calls that the program
 * never makes itself may be treated as an attack, so we stop making them.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"
#include "rt/sample/engine.h"
#include "rt/sample/threads.h"
#include "rt/sample/timer.h"

#include <linux/seccomp.h>
#include <stdarg.h>
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
    if (wndl_rt.shm == NULL || wndl_raw_getpid() != wndl_rt.pid)
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
