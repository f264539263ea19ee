/* SPDX-License-Identifier: MIT */
/*
 * What interrupts the program. The perf engine is one event, opened by the
 * first thread and inherited by all it starts; SIGTRAP is raised by the very
 * instruction stream that runs, so blocked system calls are left alone. The
 * timer engine needs a timer for each thread.
 */
#include "os/raw.h"
#include "rt/rt.h"
#include "rt/threads.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/prctl.h>

/* Tell our perf events and timers from the program's own. */
#define MARK UINT64_C(0x776e646c)

enum {
    PERF_DATA_OFFSET = 24, /* si_perf_data in siginfo_t, x86-64 */
    SA_RESTORER_FLAG = 0x04000000,
    KERNEL_SIGSET_BYTES = 8,
};

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* The bytes by which debuggers and unwinders know a signal frame. */
__asm__(".text\n"
        ".p2align 4\n"
        "nop\n"
        ".type wndl_rt_restorer, @function\n"
        "wndl_rt_restorer:\n"
        "mov $15, %rax\n"
        "syscall\n"
        ".size wndl_rt_restorer, . - wndl_rt_restorer\n");
extern void wndl_rt_restorer(void) __attribute__((visibility("hidden")));

static bool is_ours(const siginfo_t *info, uint64_t *overruns)
{
    *overruns = 0;
    if (info->si_signo == SIGTRAP && info->si_code == TRAP_PERF) {
        uint64_t data;
        memcpy(&data, (const char *)info + PERF_DATA_OFFSET, sizeof data);
        return data == MARK;
    }
    if (info->si_signo == SIGPROF && info->si_code == SI_TIMER &&
        (uintptr_t)info->si_value.sival_ptr == MARK) {
        *overruns = (uint64_t)info->si_overrun;
        return true;
    }
    return false;
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    uint64_t overruns;
    if (is_ours(info, &overruns))
        wndl_rt_sample(ucontext, overruns);
    else
        wndl_rt_signal_chain(number, info, ucontext);
}

/*
 * All signals wait while a sample is taken: a handler of the program that
 * jumps out of ours would leave a walk half done.
 */
static bool install_handler(int number)
{
    const struct kernel_sigaction ours = {
        .handler = on_signal,
        .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_RESTORER_FLAG,
        .restorer = wndl_rt_restorer,
        .mask = ~UINT64_C(0),
    };
    return wndl_raw4(SYS_rt_sigaction, number, (long)&ours, 0,
               KERNEL_SIGSET_BYTES) == 0;
}

static long open_event(bool kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = wndl_rt.interval,
        .sigtrap = 1,
        .sig_data = MARK,
        .remove_on_exec = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
    };
    const long a[] = {(long)&attr, 0, -1, -1};
    return wndl_raw6(SYS_perf_event_open, a, PERF_FLAG_FD_CLOEXEC, 0);
}

/* Sets the disposition of `number` to one without a handler. */
static void set_plain(int number, void (*disposition)(int))
{
    struct kernel_sigaction plain = {0};
    memcpy(&plain.handler, &disposition, sizeof disposition);
    (void)wndl_raw4(
        SYS_rt_sigaction, number, (long)&plain, 0, KERNEL_SIGSET_BYTES);
}

static bool opened_the_event(void)
{
    return wndl_raw_gettid() == wndl_rt.pid;
}

/*
 * An event that overflows inside execve() raises its signal in the new image,
 * although it is removed there. The thread that opened the event can stop it
 * for all; another one can only have the signal ignored, which the new image
 * inherits. The kernel takes timers and their signals away by itself.
 */
void wndl_rt_engine_pause(void)
{
    if (wndl_rt.engine != WNDL_ENGINE_PERF)
        return;
    if (opened_the_event())
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0);
    else
        set_plain(SIGTRAP, SIG_IGN);
}

void wndl_rt_engine_resume(void)
{
    if (wndl_rt.engine != WNDL_ENGINE_PERF)
        return;
    if (opened_the_event())
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE, 0, 0);
    else
        (void)install_handler(SIGTRAP);
}

static int start_perf(bool kernel, struct wndl_ready *ready)
{
    if (!install_handler(SIGTRAP))
        return -1;
    wndl_rt.signal = SIGTRAP;
    wndl_rt.engine = WNDL_ENGINE_PERF;
    long fd = open_event(kernel);
    if (fd < 0) {
        ready->sys_errno = (uint32_t)-fd;
        return -1;
    }
    ready->engine = WNDL_ENGINE_PERF;
    return (int)fd;
}

static int make_timer(int tid)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID,
        .sigev_signo = SIGPROF,
        .sigev_value.sival_ptr = (void *)(uintptr_t)MARK,
    };
    event._sigev_un._tid = tid;
    int timer = -1;
    if (wndl_raw3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event,
            (long)&timer) != 0)
        return -1;
    struct timespec every = {
        .tv_sec = (time_t)(wndl_rt.interval / 1000000000),
        .tv_nsec = (long)(wndl_rt.interval % 1000000000),
    };
    struct itimerspec setting = {.it_interval = every, .it_value = every};
    if (wndl_raw4(SYS_timer_settime, timer, 0, (long)&setting, 0) == 0)
        return timer;
    wndl_rt_engine_drop_timer(timer);
    return -1;
}

void wndl_rt_engine_drop_timer(int timer)
{
    (void)wndl_raw3(SYS_timer_delete, timer, 0, 0);
}

void wndl_rt_engine_add_thread(void)
{
    if (wndl_rt.engine != WNDL_ENGINE_TIMER)
        return;
    int tid = wndl_raw_gettid();
    struct wndl_rt_thread *thread = wndl_rt_thread_of(tid);
    if (thread == NULL) {
        wndl_rt_lose(WNDL_LOSS_THREADS_FULL, 1);
        return;
    }
    /* A timer here is one of an ended thread that had the same id. */
    if (thread->timer >= 0)
        wndl_rt_engine_drop_timer(thread->timer);
    thread->timer = make_timer(tid);
}

static void start_timers(struct wndl_ready *ready)
{
    if (!install_handler(SIGPROF))
        return;
    wndl_rt.signal = SIGPROF;
    wndl_rt.engine = WNDL_ENGINE_TIMER;
    ready->engine = WNDL_ENGINE_TIMER;
    wndl_rt_engine_add_thread();
}

int wndl_rt_engine_start(uint32_t engine, bool kernel, struct wndl_ready *ready)
{
    int fd = -1;
    *ready = (struct wndl_ready){0};
    if (engine == WNDL_ENGINE_PERF)
        fd = start_perf(kernel, ready);
    if (ready->engine == WNDL_ENGINE_NONE)
        start_timers(ready);
    return fd;
}
