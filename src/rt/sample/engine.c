/* SPDX-License-Identifier: MIT */
/*
 * engine: interrupts the program. It starts an engine, has the handler of its
 * signal, and adds the threads that it samples.
 */
#include "rt/sample/engine_impl.h"

#include "os/raw.h"
#include "rec/heap.h"
#include "rt/arch/arch.h"
#include "rt/core/registers.h"
#include "rt/core/rt.h"
#include "rt/sample/restart.h"
#include "rt/signals/dispositions.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

__asm__(WNDL_ARCH_RESTORER);
extern void wndl_rt_restorer(void) __attribute__((visibility("hidden")));

/* ---- the handler */

static bool is_perf(const siginfo_t *info)
{
    unsigned long data = 0;
    memcpy(&data, (const char *)info + WNDL_ARCH_PERF_DATA, sizeof data);
    return info->si_code == TRAP_PERF && data == WNDL_RT_PERF_MARK;
}

static void go_on(const struct wndl_rt_sample *sample)
{
    wndl_rt_restart_or_count(sample->context, 0, &sample->thread->rest);
}

static void on_perf(struct wndl_rt_sample *sample)
{
    sample->thread = wndl_rt_is_careful() ? wndl_rt_thread_self() : NULL;
    if (sample->thread == NULL)
        sample->thread = wndl_rt_thread_of(wndl_raw_gettid());
    if (sample->thread == NULL)
        wndl_rt_lose(WNDL_LOSS_THREADS_FULL, 1);
    else if (wndl_rt_sample_begin(sample) == WNDL_RT_TAKE)
        wndl_rt_perf_on_event(sample);
    if (sample->thread != NULL &&
        wndl_rt_restart_is_due_to_event(sample->context))
        go_on(sample);
    else
        wndl_rt_restart_yield(sample->context);
}

static void on_other_tick(struct wndl_rt_sample *sample, uint64_t overruns)
{
    enum wndl_rt_verdict verdict = wndl_rt_sample_begin(sample);
    if (verdict == WNDL_RT_STOPPED)
        wndl_rt_timers_drop(sample->thread);
    else if (verdict == WNDL_RT_TAKE && wndl_rt.engine == WNDL_ENGINE_PERF)
        wndl_rt_perf_on_tick(sample);
    else if (verdict == WNDL_RT_TAKE)
        wndl_rt_tick_on_tick(sample, overruns);
}

/* A tick on the way into a blocking call ends the call before it begins. */
static void on_tick(struct wndl_rt_sample *sample, uint64_t overruns)
{
    bool interrupted = !wndl_arch_came_back(sample->context) &&
                       wndl_rt_restart_is_due(sample->context);
    if (wndl_rt.engine == WNDL_ENGINE_TIMER)
        wndl_rt_timer_on_tick(sample);
    else
        on_other_tick(sample, overruns);
    if (interrupted)
        go_on(sample);
    else
        wndl_rt_restart_yield(sample->context);
}

static void on_first(struct wndl_rt_sample *sample)
{
    bool is_ours = !wndl_arch_came_back(sample->context);
    bool interrupted = is_ours && wndl_rt_restart_is_due(sample->context);
    bool cut_short = is_ours && wndl_rt_restart_transfer(sample->context);
    wndl_rt_perf_on_first(sample, interrupted || cut_short);
    if (interrupted)
        go_on(sample);
    else
        wndl_rt_restart_yield(sample->context);
}

static void on_wall(struct wndl_rt_sample *sample)
{
    if (wndl_rt.engine == WNDL_ENGINE_PERF)
        on_first(sample);
    else
        wndl_rt_timer_on_wall(sample);
}

static void on_timer(
    struct wndl_rt_sample *sample, const struct wndl_rt_timer_signal *from)
{
    sample->thread = wndl_rt_thread_at(from->slot);
    if (sample->thread == NULL)
        return;
    if (from->kind == WNDL_RT_TIMER_WALL)
        on_wall(sample);
    else
        on_tick(sample, from->overruns);
}

/* Like a tick, the question may have ended a call. */
static void on_question(struct wndl_rt_sample *sample, const siginfo_t *info)
{
    wndl_rt_registers_answer(info, sample->context);
    sample->thread = wndl_rt_thread_of(wndl_raw_gettid());
    if (sample->thread != NULL && !wndl_arch_came_back(sample->context) &&
        wndl_rt_restart_is_due(sample->context))
        go_on(sample);
    else
        wndl_rt_restart_yield(sample->context);
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    struct wndl_rt_sample sample = {.context = ucontext};
    struct wndl_rt_timer_signal from;
    if (wndl_rt_registers_asked(info)) {
        on_question(&sample, info);
        return;
    }
    if (wndl_rt_is_silent() &&
        (number == SIGTRAP ? is_perf(info) : wndl_rt_timer_sent(info, &from)))
        return;
    if (number == SIGTRAP && is_perf(info))
        on_perf(&sample);
    else if (number == SIGPROF && wndl_rt_timer_sent(info, &from))
        on_timer(&sample, &from);
    else if (wndl_rt_signal_chain(number, info, ucontext))
        wndl_rt_restart_came_back(ucontext);
}

bool wndl_rt_engine_sent(const siginfo_t *info)
{
    struct wndl_rt_timer_signal from;
    if (info->si_signo == SIGTRAP)
        return is_perf(info);
    if (wndl_rt_registers_asked(info))
        return true;
    if (info->si_signo != SIGPROF || !wndl_rt_timer_sent(info, &from))
        return false;
    if (from.kind == WNDL_RT_TIMER_WALL && wndl_rt.engine == WNDL_ENGINE_TIMER)
        wndl_rt_timer_park(from.slot);
    return true;
}

static bool is_plain(
    const struct wndl_rt_kernel_action *action, void (*disposition)(int))
{
    return memcmp(&action->handler, &disposition, sizeof disposition) == 0;
}

/*
 * All signals wait while a sample is taken: a handler of the program that jumps
 * out of ours would leave a walk unfinished.
 */
static bool install_handler(int number)
{
    const struct wndl_rt_kernel_action ours = {
        .informed = on_signal,
        .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | WNDL_ARCH_SA_RESTORER,
        .restorer = wndl_rt_restorer,
        .mask = WNDL_RT_ALL_SIGNALS,
    };
    struct wndl_rt_kernel_action before = {0};
    if (wndl_raw4(SYS_rt_sigaction, number, (long)&ours, (long)&before,
            WNDL_ARCH_SIGSET_BYTES) != 0)
        return false;
    if (is_plain(&before, SIG_IGN))
        wndl_rt.ignored |= wndl_rt_signal_bit(number);
    return true;
}

/* Sets a disposition of `number` without a handler. */
static void set_plain(int number, void (*disposition)(int))
{
    struct wndl_rt_kernel_action plain = {0};
    memcpy(&plain.handler, &disposition, sizeof disposition);
    (void)wndl_raw4(
        SYS_rt_sigaction, number, (long)&plain, 0, WNDL_ARCH_SIGSET_BYTES);
}

/* ---- exec */

static bool opened_the_event(void)
{
    return wndl_raw_gettid() == wndl_rt.pid;
}

static uint64_t set_mask(int how, uint64_t mask)
{
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, how, (long)&mask, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    return before;
}

/*
 * Drops a signal of the event that waits because the program blocks SIGTRAP by
 * a bare system call: it would wait on in the new image. One that others have
 * sent goes on waiting.
 */
static void drop_waiting(void)
{
    const uint64_t set = wndl_rt_signal_bit(SIGTRAP);
    const long at_once[2] = {0, 0};
    siginfo_t info;
    if (wndl_raw4(SYS_rt_sigtimedwait, (long)&set, (long)&info, (long)at_once,
            WNDL_ARCH_SIGSET_BYTES) == SIGTRAP &&
        !is_perf(&info))
        (void)wndl_raw4(SYS_rt_tgsigqueueinfo, wndl_rt.pid, wndl_raw_gettid(),
            SIGTRAP, (long)&info);
}

/*
 * An event that overflows inside execve() raises its signal in the new image,
 * although it is removed there. The thread that opened the event can stop it
 * for all. Any other thread can only have the signal ignored, which the new
 * image inherits. That the signal is also blocked marks this case. The kernel
 * removes timers and their signals by itself.
 */
static void silence_event(bool is_blocked)
{
    if (opened_the_event()) {
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0);
        if (is_blocked)
            drop_waiting();
        return;
    }
    (void)set_mask(SIG_BLOCK, wndl_rt_signal_bit(SIGTRAP));
    set_plain(SIGTRAP, SIG_IGN);
}

/* A child that is not recorded has no block; a filter may forbid the call. */
static void note_cpu_left(void)
{
    if (wndl_rt.shm != NULL && !wndl_rt_is_careful())
        atomic_store(
            &wndl_rt.shm->cpu_left, wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* The new image gets the program's settings of our signals. */
void wndl_rt_engine_pause(void)
{
    uint64_t ignored = wndl_rt_signal_ignored();
    note_cpu_left();
    const uint64_t mask = set_mask(SIG_BLOCK, wndl_rt_mask_blocked());
    if ((ignored & wndl_rt_signal_bit(SIGTRAP)) != 0)
        set_plain(SIGTRAP, SIG_IGN);
    if ((ignored & wndl_rt_signal_bit(SIGPROF)) != 0)
        set_plain(SIGPROF, SIG_IGN);
    if (wndl_rt.engine == WNDL_ENGINE_PERF)
        silence_event((mask & wndl_rt_signal_bit(SIGTRAP)) != 0);
}

void wndl_rt_engine_resume(void)
{
    if (wndl_rt.shm != NULL)
        atomic_store(&wndl_rt.shm->cpu_left, 0);
    if ((wndl_rt.signals & wndl_rt_signal_bit(SIGTRAP)) != 0)
        (void)install_handler(SIGTRAP);
    if ((wndl_rt.signals & wndl_rt_signal_bit(SIGPROF)) != 0)
        (void)install_handler(SIGPROF);
    if (wndl_rt.engine == WNDL_ENGINE_PERF && opened_the_event())
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE, 0, 0);
    (void)set_mask(SIG_UNBLOCK, wndl_rt.signals);
}

/* ---- threads */

static bool start_timers(struct wndl_rt_thread *t)
{
    switch (wndl_rt.engine) {
    case WNDL_ENGINE_PERF:
        return wndl_rt_perf_begin_thread(t);
    case WNDL_ENGINE_TICK:
        return wndl_rt_tick_add_thread(t);
    case WNDL_ENGINE_TIMER:
        return wndl_rt_timer_add_thread(t);
    case WNDL_ENGINE_NONE:
        return true;
    default:
        return false;
    }
}

static bool is_recorded(void)
{
    return wndl_rt.shm != NULL && wndl_rt_is_own_process();
}

/* The memory of this id may be that of a thread that ended without notice. */
static bool add_thread(void)
{
    struct wndl_rt_thread *t = wndl_rt_thread_of(wndl_raw_gettid());
    if (t == NULL)
        return false;
    wndl_rt_thread_begin(t);
    if (wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID) < t->last_cpu) {
        wndl_rt_timers_drop(t);
        wndl_rt_thread_renew(t);
    }
    wndl_rt_thread_announce(t);
    return start_timers(t);
}

void wndl_rt_engine_add_thread(void)
{
    if (!is_recorded())
        return;
    uint64_t mask = set_mask(SIG_SETMASK, WNDL_RT_ALL_SIGNALS);
    if (!add_thread())
        wndl_rt_lose(WNDL_LOSS_THREADS_FULL, 1);
    (void)set_mask(SIG_SETMASK, mask);
}

/* Our signals stay blocked: there is no handler for them any more. */
void wndl_rt_engine_end_thread(void)
{
    if (!is_recorded())
        return;
    uint64_t mask = set_mask(SIG_SETMASK, WNDL_RT_ALL_SIGNALS);
    struct wndl_rt_thread *t = wndl_rt_thread_find(wndl_raw_gettid());
    if (t != NULL) {
        wndl_rt_timers_drop(t);
        wndl_rt_thread_exit_self(t);
        wndl_rt_thread_free(t);
    }
    (void)set_mask(SIG_SETMASK, mask | wndl_rt.signals);
}

void wndl_rt_engine_prepare_thread(void)
{
    struct wndl_stack_range stacks[WNDL_RT_STACKS_GIVEN];
    if (!is_recorded())
        return;
    uint64_t mask = set_mask(SIG_SETMASK, WNDL_RT_ALL_SIGNALS);
    struct wndl_rt_thread *t = wndl_rt_thread_of(wndl_raw_gettid());
    if (t != NULL)
        (void)wndl_rt_stacks_around(&t->stacks, (uintptr_t)&mask,
            (struct wndl_bytes){t->scratch, sizeof t->scratch}, stacks);
    (void)set_mask(SIG_SETMASK, mask);
}

void wndl_rt_engine_stop(void)
{
    if (!is_recorded())
        return;
    uint64_t mask = set_mask(SIG_SETMASK, WNDL_RT_ALL_SIGNALS);
    if (wndl_rt.engine == WNDL_ENGINE_PERF && opened_the_event())
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0);
    struct wndl_rt_thread *t = wndl_rt_thread_find(wndl_raw_gettid());
    if (t != NULL)
        wndl_rt_timers_drop(t);
    (void)set_mask(SIG_SETMASK, mask);
}

/*
 * A filter may come to all threads at once: their handlers, which make calls,
 * get a moment to end before it is there.
 */
static void let_handlers_end(void)
{
    const long moment[2] = {0, 5 * 1000 * 1000}; /* seconds, ns */
    (void)wndl_raw3(SYS_nanosleep, (long)moment, 0, 0);
}

void wndl_rt_engine_silence(void)
{
    bool had_filter = wndl_rt.filtered;
    (void)set_mask(SIG_BLOCK, wndl_rt.signals);
    atomic_store(&wndl_rt.silent, true);
    atomic_store(&wndl_rt.shm->silent, 1);
    if (had_filter)
        return;
    wndl_rt_timers_drop_all();
    if (wndl_rt.engine == WNDL_ENGINE_PERF && opened_the_event())
        (void)wndl_raw3(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0);
    if (wndl_rt.engine != WNDL_ENGINE_NONE)
        let_handlers_end();
}

/* ---- start */

/* Returns a descriptor, or -errno. */
static int start_perf(void)
{
    if (!install_handler(SIGTRAP) || !install_handler(SIGPROF))
        return -EINVAL;
    int fd = (int)wndl_rt_perf_open();
    if (fd < 0) {
        set_plain(SIGTRAP, SIG_DFL);
        return fd;
    }
    wndl_rt.signals = wndl_rt_signal_bit(SIGTRAP) | wndl_rt_signal_bit(SIGPROF);
    (void)add_thread();
    return fd;
}

/* The initial thread's timer shows whether timers are available. */
static int start_timer(void)
{
    if (!install_handler(SIGPROF))
        return -EINVAL;
    wndl_rt.signals = wndl_rt_signal_bit(SIGPROF);
    return add_thread() ? 0 : -EAGAIN;
}

/* Returns a descriptor or 0, or -errno. */
static int start_engine(uint32_t engine)
{
    wndl_rt.engine = engine;
    switch (engine) {
    case WNDL_ENGINE_PERF:
        return start_perf();
    case WNDL_ENGINE_TICK:
    case WNDL_ENGINE_TIMER:
        return start_timer();
    default:
        return -EINVAL;
    }
}

static void read_settings(const struct wndl_go *go)
{
    wndl_rt.interval = go->interval;
    wndl_rt.unwind = go->unwind;
    memcpy(wndl_rt.threads, go->threads, sizeof wndl_rt.threads);
    wndl_rt.threads[sizeof wndl_rt.threads - 1] = '\0';
    /* Memory for stacks survives a fork. */
    if (wndl_rt.max_frames == 0)
        wndl_rt.max_frames = go->max_frames;
    if (wndl_rt.max_frames == 0 || wndl_rt.max_frames > WNDL_FRAMES_MAX)
        wndl_rt.max_frames = WNDL_FRAMES_MAX;
}

static void begin_now(void)
{
    struct wndl_rt_thread *t = wndl_rt_thread_find(wndl_raw_gettid());
    if (t == NULL)
        return;
    wndl_rt_thread_begin_now(t);
    atomic_store(&wndl_rt.shm->cpu_loaded, wndl_rt.loaded);
    atomic_store(&wndl_rt.shm->cpu_begun, t->last_cpu);
}

int wndl_rt_engine_start(const struct wndl_go *go, struct wndl_ready *ready)
{
    const uint32_t engines[] = {go->engine, go->fallback};
    *ready = (struct wndl_ready){0};
    read_settings(go);
    for (size_t i = 0; i < 2; i++) {
        int event = start_engine(engines[i]);
        if (event >= 0) {
            begin_now();
            ready->engine = engines[i];
            return engines[i] == WNDL_ENGINE_PERF ? event : -1;
        }
        if (ready->sys_errno == 0)
            ready->sys_errno = (uint32_t)-event;
    }
    wndl_rt.engine = WNDL_ENGINE_NONE;
    /* Scans of the heap ask threads for their registers. */
    if ((go->heap & WNDL_HEAP_SCAN) != 0 && install_handler(SIGPROF))
        wndl_rt.signals = wndl_rt_signal_bit(SIGPROF);
    return -1;
}
