/* SPDX-License-Identifier: MIT */
/*
 * machine: prints the engines that this machine allows, a word a line, by
 * asking the kernel itself. It shares nothing with windlass, so that a test
 * that goes by it fails where windlass cannot do what the machine can.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* perf: an event that raises SIGTRAP on its thread (Linux 5.13). */
static bool has_perf(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .remove_on_exec = 1,
        .sigtrap = 1,
    };
    long fd =
        syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

/* timer: a timer by a clock that runs on, for one thread. */
static bool has_timer(clockid_t clock)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    if (timer_create(clock, &event, &timer) != 0)
        return false;
    timer_delete(timer);
    return true;
}

static bool can_read_call_of(pid_t pid)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got > 0;
}

static bool can_read_memory_of(pid_t pid)
{
    static char here;
    char there;
    struct iovec to = {&there, 1}, from = {&here, 1};
    return process_vm_readv(pid, &to, 1, &from, 1, 0) == 1;
}

/* outside: what another process of ours does, and its memory. */
static bool has_outside(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    bool can = pid > 0 && can_read_call_of(pid) && can_read_memory_of(pid);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return can;
}

int main(void)
{
    if (has_perf())
        puts("perf");
    if (has_timer(CLOCK_THREAD_CPUTIME_ID))
        puts("tick");
    if (has_timer(CLOCK_MONOTONIC))
        puts("timer");
    if (has_outside())
        puts("outside");
    return 0;
}
