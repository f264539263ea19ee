/* SPDX-License-Identifier: MIT */
/*
 * Signals that are sent to us are meant for the command, unless they were sent
 * to our whole process group: the command has got those already. To know one
 * from the other there is a bystander, a process of our group that does
 * nothing: what is pending there was sent to all.
 */
#include "collect/loop/collector_impl.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONCE_WITHIN_NS UINT64_C(100000000)

static void reap(struct wndl_collector *c)
{
    if (waitpid(c->spawn.pid, &c->status, WNOHANG) == c->spawn.pid)
        c->ended = true;
}

/* ---- the bystander */

/* It has nothing of ours and goes with us. */
static _Noreturn void stand_by(pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close_range(0, ~0u, 0);
    while (getppid() == parent)
        pause();
    _exit(0);
}

static void start_bystander(struct wndl_collector *c)
{
    pid_t parent = getpid();
    c->bystander = fork();
    if (c->bystander == 0)
        stand_by(parent);
}

/* The sender may not have come to it yet. A new one has nothing pending. */
static bool was_sent_to_all(struct wndl_collector *c, int number)
{
    enum { A_MOMENT_US = 2000 };
    usleep(A_MOMENT_US);
    if (c->bystander <= 0 || !wndl_proc_pending(c->bystander, number))
        return false;
    kill(c->bystander, SIGKILL);
    waitpid(c->bystander, NULL, 0);
    start_bystander(c);
    return true;
}

/* ---- passing on */

/* What a program of the recording sends to us was not meant for the command,
 * which it knows. */
static bool is_of_the_recording(const struct wndl_collector *c, pid_t pid)
{
    enum { GENERATIONS = 64 };
    struct wndl_proc_stat stat;
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (pid == c->spawn.pid || wndl_processes_find(c, pid) != NULL)
            return true;
        if (!wndl_proc_stat(pid, &stat))
            return false;
        pid = stat.parent;
    }
    return false;
}

/* timeout(1) sends to its child and then to the group. */
static void pass_on(struct wndl_collector *c, int number)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t *before = &c->passed_on[number];
    bool again = *before != 0 && now - *before < ONCE_WITHIN_NS;
    *before = now;
    if (c->ended)
        c->stopped = true;
    else if (!was_sent_to_all(c, number) && !again)
        kill(c->spawn.pid, number);
}

void wndl_signals_take(struct wndl_collector *c)
{
    struct signalfd_siginfo info;
    if (read(c->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int number = (int)info.ssi_signo;
    if (number == SIGCHLD)
        reap(c);
    else if (info.ssi_code <= 0 && number < _NSIG &&
             !is_of_the_recording(c, (pid_t)info.ssi_pid))
        pass_on(c, number);
}

bool wndl_signals_open(struct wndl_collector *c, sigset_t *before)
{
    static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaddset(&set, caught[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (c->request.pid == 0)
        start_bystander(c);
    return c->signals >= 0;
}

void wndl_signals_close(struct wndl_collector *c)
{
    if (c->bystander > 0)
        kill(c->bystander, SIGKILL); /* we end too: nobody need wait for it */
    if (c->signals >= 0)
        close(c->signals);
}
