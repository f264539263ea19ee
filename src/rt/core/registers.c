/* SPDX-License-Identifier: MIT */
#include "rt/core/registers.h"

#include "os/own_threads.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"

#include <string.h>

/* A si_code that neither the kernel nor libc uses. */
enum { QUESTION = -0x776e, MOMENT = 50 * 1000, MOMENTS = 400, YIELDS = 20 };

/* The answers while they are waited for, and the handlers that write one. */
static _Atomic(struct wndl_rt_registers *) wanted;
static _Atomic uint32_t writers;

/* ---- the threads */

struct listed {
    struct wndl_rt_registers *all;
    size_t count;
    int self;
};

static void list(void *context, int tid)
{
    struct listed *l = context;
    if (tid != l->self && l->count < WNDL_RT_ASKED_MOST)
        l->all[l->count++].tid = tid;
}

static size_t list_threads(struct wndl_rt_registers *all)
{
    _Alignas(8) uint8_t room[2048];
    struct listed l = {.all = all, .self = wndl_raw_gettid()};
    wndl_own_threads_each(room, sizeof room, list, &l);
    return l.count;
}

/* ---- asking */

/* The question names the answer's place. */
static void ask(const struct wndl_rt_registers *a)
{
    siginfo_t info = {.si_signo = SIGPROF, .si_code = QUESTION};
    info.si_pid = wndl_rt.pid;
    info.si_value.sival_ptr = (void *)(uintptr_t)a;
    (void)wndl_raw4(
        SYS_rt_tgsigqueueinfo, wndl_rt.pid, a->tid, SIGPROF, (long)&info);
}

static void wait_a_moment(int round)
{
    const long moment[2] = {0, MOMENT};
    if (round < YIELDS)
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
    else
        (void)wndl_raw3(SYS_nanosleep, (long)moment, 0, 0);
}

static bool have_all_answered(const struct wndl_rt_registers *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!atomic_load(&all[i].answered))
            return false;
    }
    return true;
}

/* A thread that answers later finds nobody waiting. */
static void close_answers(void)
{
    atomic_store(&wanted, NULL);
    while (atomic_load(&writers) != 0)
        wait_a_moment(0);
}

size_t wndl_rt_registers_ask(struct wndl_rt_registers *all)
{
    if ((wndl_rt.signals & wndl_rt_signal_bit(SIGPROF)) == 0 ||
        wndl_rt_is_careful())
        return 0;
    const size_t count = list_threads(all);
    atomic_store(&wanted, all);
    for (size_t i = 0; i < count; i++)
        ask(&all[i]);
    for (int i = 0; i < MOMENTS && !have_all_answered(all, count); i++)
        wait_a_moment(i);
    close_answers();
    return count;
}

/* ---- answering */

bool wndl_rt_registers_asked(const siginfo_t *info)
{
    return info->si_signo == SIGPROF && info->si_code == QUESTION;
}

static void fill(struct wndl_rt_registers *a, const ucontext_t *context)
{
    const size_t size = sizeof context->uc_mcontext < sizeof a->words
                            ? sizeof context->uc_mcontext
                            : sizeof a->words;
    memcpy(a->words, &context->uc_mcontext, size);
    wndl_regs_from_context(&a->regs, context);
    a->regs.gregs = NULL;
    atomic_store(&a->answered, true);
}

void wndl_rt_registers_answer(const siginfo_t *info, const ucontext_t *context)
{
    atomic_fetch_add(&writers, 1);
    const uintptr_t all = (uintptr_t)atomic_load(&wanted);
    const uintptr_t into = (uintptr_t)info->si_value.sival_ptr - all;
    struct wndl_rt_registers *a = info->si_value.sival_ptr;
    if (all != 0 && into < WNDL_RT_ASKED_MOST * sizeof *a &&
        into % sizeof *a == 0 && a->tid == wndl_raw_gettid())
        fill(a, context);
    atomic_fetch_sub(&writers, 1);
}

void wndl_rt_registers_forget(void)
{
    atomic_store(&wanted, NULL);
    atomic_store(&writers, 0);
}
