/* SPDX-License-Identifier: MIT */
/*
 * floor: a library to preload, which shows the cost of being interrupted. It
 * raises the signals of an engine ($FLOOR: perf or timer) at a rate
 * ($FLOOR_HZ), with a handler that does nothing. It is for programs of one
 * thread.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

static void do_nothing(int number)
{
    (void)number;
}

static void start_perf(uint64_t interval)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = interval,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .exclude_kernel = geteuid() != 0,
        .exclude_hv = 1,
    };
    if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
        abort();
}

static void start_timer(uint64_t interval)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL,
        .sigev_signo = SIGPROF,
    };
    struct itimerspec time = {
        .it_interval = {.tv_nsec = (long)interval},
        .it_value = {.tv_nsec = (long)interval},
    };
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &time, NULL) != 0)
        abort();
}

__attribute__((constructor)) static void start(void)
{
    const char *engine = getenv("FLOOR");
    const char *rate = getenv("FLOOR_HZ");
    if (engine == NULL || rate == NULL)
        return;
    struct sigaction action = {
        .sa_handler = do_nothing,
        .sa_flags = SA_RESTART,
    };
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    uint64_t interval = SECOND / strtoull(rate, NULL, 10);
    if (strcmp(engine, "perf") == 0)
        start_perf(interval);
    else
        start_timer(interval);
}
