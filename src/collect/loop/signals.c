/* SPDX-License-Identifier: MIT */
/*
 * Signals that are sent to us are meant for the command, unless they were sent
 * to our whole process group: the command has received those already. The
 * bystander distinguishes the two. It is a process of our group that does
 * nothing: a signal that is pending there was sent to all.
 */
#include "collect/loop/signals.h"

#include "collect/proc/proc.h"
#include "os/clock.h"
#include "os/raw.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONCE_WITHIN_NS UINT64_C(100000000)

/* Without a command there is no child of ours: others only stop for us. */
static void reap(struct wndl_signals *s)
{
    const struct wndl_collector_request *r = &s->run->request;
    if (r->pid_count != 0 && r->meanwhile == NULL)
        return;
    int status;
    if (waitpid(s->run->spawn.pid, &status, WNOHANG) != s->run->spawn.pid ||
        (!WIFEXITED(status) && !WIFSIGNALED(status)))
        return;
    s->run->status = status;
    s->run->ended = true;
}

/* ---- the bystander */

/* The bystander has no resources of ours and ends with us. */
static _Noreturn void stand_by(pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)syscall(SYS_close_range, 0u, ~0u, 0u);
    while (getppid() == parent)
        pause();
    _exit(0);
}

static void start_bystander(struct wndl_signals *s)
{
    pid_t parent = getpid();
    s->bystander = fork();
    if (s->bystander == 0)
        stand_by(parent);
}

/*
 * Waits a moment: the sender may not have reached the bystander yet. A new one
 * has nothing pending.
 */
static bool was_sent_to_all(struct wndl_signals *s, int number)
{
    enum { A_MOMENT_US = 2000 };
    usleep(A_MOMENT_US);
    if (s->bystander <= 0 || !wndl_proc_pending(s->bystander, number))
        return false;
    kill(s->bystander, SIGKILL);
    waitpid(s->bystander, NULL, 0);
    start_bystander(s);
    return true;
}

/* ---- passing on */

/*
 * A program of the recording that sends us a signal did not mean the command,
 * whose pid it knows.
 */
static bool is_of_the_recording(const struct wndl_signals *s, pid_t pid)
{
    enum { GENERATIONS = 64 };
    struct wndl_proc_stat stat;
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (pid == s->run->spawn.pid ||
            wndl_processes_find(s->processes, pid) != NULL)
            return true;
        if (!wndl_proc_stat(pid, &stat))
            return false;
        pid = stat.parent;
    }
    return false;
}

/* timeout(1) sends to its child and then to the group. */
static void pass_on(struct wndl_signals *s, int number)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t *before = &s->passed_on[number];
    bool again = *before != 0 && now - *before < ONCE_WITHIN_NS;
    *before = now;
    if (s->run->ended)
        s->run->stopped = true;
    else if (!was_sent_to_all(s, number) && !again)
        kill(s->run->spawn.pid, number);
}

void wndl_signals_take(struct wndl_signals *s)
{
    struct signalfd_siginfo info;
    if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int number = (int)info.ssi_signo;
    if (number == SIGCHLD)
        reap(s);
    else if (s->run->request.pid_count != 0 && s->run->ended)
        s->run->stopped = true; /* there is no command that it was meant for */
    else if (info.ssi_code <= 0 && number < _NSIG &&
             !is_of_the_recording(s, (pid_t)info.ssi_pid))
        pass_on(s, number);
}

static void on_signal(void *owner)
{
    wndl_signals_take(owner);
}

bool wndl_signals_open(struct wndl_signals *s, sigset_t *before)
{
    static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaddset(&set, caught[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->run->request.pid == 0 || s->run->request.meanwhile != NULL)
        start_bystander(s);
    s->on_signal = (struct wndl_source){on_signal, s};
    return s->fd >= 0 && wndl_loop_watch(&s->run->loop, s->fd, &s->on_signal);
}

void wndl_signals_take_over(struct wndl_signals *s)
{
    wndl_loop_unwatch(&s->run->loop, s->fd);
    (void)wndl_loop_watch(&s->run->loop, s->fd, &s->on_signal);
    s->bystander = 0;
}

void wndl_signals_close(struct wndl_signals *s)
{
    if (s->bystander > 0)
        kill(s->bystander, SIGKILL); /* we end too: nobody need wait for it */
    if (s->fd >= 0)
        close(s->fd);
}
