/* SPDX-License-Identifier: MIT */
#include "rt/signals/pending.h"

#include "os/raw.h"
#include "rt/core/rt.h"

enum state { FREE, FULL, IN_WORK };

/* `waiter` is a thread that waits in sigwait(), 0 for none. */
static struct {
    _Atomic int state;
    _Atomic int waiter;
    siginfo_t info;
} of_all[2];

static __thread struct {
    volatile bool full;
    siginfo_t info;
} own[2];

static __thread volatile unsigned arrivals;

static const int numbers[] = {SIGTRAP, SIGPROF};

static size_t index_of(int number)
{
    return number == SIGPROF;
}

static void send(int tid, int number, const siginfo_t *info)
{
    (void)wndl_raw4(
        SYS_rt_tgsigqueueinfo, wndl_rt.pid, tid, number, (long)info);
}

void wndl_rt_pending_arrived(void)
{
    arrivals++;
}

unsigned wndl_rt_pending_arrivals(void)
{
    return arrivals;
}

static void send_to_self(int number, const siginfo_t *info)
{
    unsigned before = arrivals;
    for (int i = 0; i < WNDL_RT_PENDING_TRIES && arrivals == before; i++)
        send(wndl_raw_gettid(), number, info);
}

static bool keep_for_all(size_t i, const siginfo_t *info)
{
    int free = FREE;
    if (!atomic_compare_exchange_strong(&of_all[i].state, &free, IN_WORK))
        return false;
    of_all[i].info = *info;
    atomic_store(&of_all[i].state, FULL);
    return true;
}

void wndl_rt_pending_add(int number, const siginfo_t *info)
{
    size_t i = index_of(number);
    int waiter = atomic_load(&of_all[i].waiter);
    if (info->si_code == SI_TKILL) {
        if (!own[i].full)
            own[i].info = *info;
        own[i].full = true;
    } else if (waiter != 0) {
        send(waiter, number, info);
    } else {
        (void)keep_for_all(i, info);
    }
}

uint64_t wndl_rt_pending_here(void)
{
    uint64_t pending = 0;
    for (size_t i = 0; i < 2; i++) {
        if (own[i].full || atomic_load(&of_all[i].state) != FREE)
            pending |= wndl_rt_signal_bit(numbers[i]);
    }
    return pending;
}

static bool take(size_t i, siginfo_t *info)
{
    int full = FULL;
    if (own[i].full) {
        *info = own[i].info;
        own[i].full = false;
        return true;
    }
    if (!atomic_compare_exchange_strong(&of_all[i].state, &full, IN_WORK))
        return false;
    *info = of_all[i].info;
    atomic_store(&of_all[i].state, FREE);
    return true;
}

int wndl_rt_pending_take(uint64_t set, siginfo_t *info)
{
    for (size_t i = 0; i < 2; i++) {
        if ((set & wndl_rt_signal_bit(numbers[i])) != 0 && take(i, info))
            return numbers[i];
    }
    return 0;
}

void wndl_rt_pending_deliver(uint64_t set)
{
    siginfo_t info;
    int number;
    while ((number = wndl_rt_pending_take(set, &info)) != 0)
        send_to_self(number, &info);
}

static void set_waiter(uint64_t set, int tid)
{
    for (size_t i = 0; i < 2; i++) {
        if ((set & wndl_rt_signal_bit(numbers[i])) != 0)
            atomic_store(&of_all[i].waiter, tid);
    }
}

void wndl_rt_pending_wait_begin(uint64_t set)
{
    set_waiter(set, wndl_raw_gettid());
}

void wndl_rt_pending_wait_end(uint64_t set)
{
    set_waiter(set, 0);
}

void wndl_rt_pending_forget(void)
{
    for (size_t i = 0; i < 2; i++) {
        own[i].full = false;
        atomic_store(&of_all[i].state, FREE);
        atomic_store(&of_all[i].waiter, 0);
    }
}
