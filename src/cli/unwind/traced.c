/* SPDX-License-Identifier: MIT */
#include "cli/unwind/traced.h"

#include "os/clock.h"
#include "os/tracee.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { MOST_THREADS = 1024, STOP_MS = 200 };

/* The outcome of an event, for the thread that is waited for. */
enum outcome {
    NOTHING, /* it is of another thread, or was passed on */
    STEPPED, /* one instruction has run */
    STOPPED, /* as it was asked to */
    RUNS_ON, /* it was stopped by something else, and runs on */
    HAS_ENDED,
};

static void nap(uint64_t ns)
{
    const struct timespec t = {
        (time_t)(ns / (1000 * MS)), (long)(ns % (1000 * MS))};
    (void)nanosleep(&t, NULL);
}

void wndl_traced_continue(pid_t thread)
{
    wndl_tracee_continue(thread, 0);
}

/* ---- events */

/* Single steps of ours, which a thread that runs on does not expect. */
static bool is_leftover(pid_t thread, int signal)
{
    siginfo_t info;
    return signal == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) == 0 &&
           (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
}

static void pass_on(struct wndl_traced *t, pid_t thread, int status)
{
    const int event = status >> 16, signal = WSTOPSIG(status);
    t->execs += event == PTRACE_EVENT_EXEC;
    if (wndl_tracee_is_stopped(status))
        (void)ptrace(PTRACE_LISTEN, thread, NULL, NULL);
    else
        wndl_tracee_continue(
            thread, event != 0 || is_leftover(thread, signal) ? 0 : signal);
}

static enum outcome take_event(
    struct wndl_traced *t, pid_t thread, int status, pid_t wanted)
{
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        t->is_over |= thread == t->pid;
        return thread == wanted ? HAS_ENDED : NOTHING;
    }
    if (thread == wanted && WSTOPSIG(status) == SIGTRAP) {
        if (status >> 16 == PTRACE_EVENT_STOP)
            return STOPPED;
        if (status >> 16 == 0)
            return STEPPED;
    }
    pass_on(t, thread, status);
    return thread == wanted ? RUNS_ON : NOTHING;
}

/* Takes an event if there is one, or waits for it. False: there is none. */
static bool next_event(
    struct wndl_traced *t, bool waits, pid_t wanted, enum outcome *outcome)
{
    int status;
    *outcome = NOTHING;
    const pid_t thread = waitpid(-1, &status, __WALL | (waits ? 0 : WNOHANG));
    if (thread < 0 && errno == EINTR)
        return true;
    t->is_over |= thread < 0;
    if (thread <= 0)
        return false;
    *outcome = take_event(t, thread, status, wanted);
    return true;
}

/* ---- beginning and end */

static void run_child(char *const *command, int go, int failure)
{
    char byte;
    if (read(go, &byte, 1) == 1)
        (void)execvp(command[0], command);
    const int why = errno;
    if (write(failure, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

static bool seize(pid_t pid)
{
    const long options =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    return ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0;
}

/* The child waits until it is traced. errno on failure. */
static int begin(struct wndl_traced *t, char *const *command)
{
    int go[2], failure[2], why = 0;
    if (pipe2(go, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(failure, O_CLOEXEC) != 0) {
        why = errno;
        close(go[0]);
        close(go[1]);
        return why;
    }
    t->pid = fork();
    if (t->pid == 0)
        run_child(command, go[0], failure[1]);
    close(go[0]);
    close(failure[1]);
    if (t->pid < 0 || !seize(t->pid))
        why = errno;
    else if (write(go[1], "", 1) != 1)
        why = errno;
    close(go[1]);
    enum outcome outcome;
    while (why == 0 && t->execs == 0 && !t->is_over)
        (void)next_event(t, true, 0, &outcome);
    if (why == 0 && t->execs == 0 &&
        read(failure[0], &why, sizeof why) != (ssize_t)sizeof why)
        why = ECHILD;
    close(failure[0]);
    return why;
}

bool wndl_traced_start(
    struct wndl_traced *t, char *const *command, struct wndl_error *err)
{
    *t = (struct wndl_traced){0};
#if !defined(__x86_64__)
    (void)begin;
    (void)command;
    return wndl_fail(err, WNDL_UNSUPPORTED,
               "programs are run by single steps on x86-64 only") == WNDL_OK;
#else
    const int why = begin(t, command);
    if (why == 0)
        return true;
    wndl_error_set_file(err, command[0]);
    (void)wndl_fail_errno(err, why, "cannot run it under ptrace");
    wndl_traced_end(t);
    return false;
#endif
}

void wndl_traced_end(struct wndl_traced *t)
{
    enum outcome outcome;
    if (t->pid <= 0 || t->is_over)
        return;
    (void)kill(t->pid, SIGKILL);
    while (!t->is_over)
        (void)next_event(t, true, 0, &outcome);
}

void wndl_traced_run(struct wndl_traced *t, uint64_t ns)
{
    const uint64_t end = wndl_clock_monotonic_ns() + ns;
    enum outcome outcome;
    while (!t->is_over && wndl_clock_monotonic_ns() < end) {
        if (!next_event(t, false, 0, &outcome))
            nap(MS / 2);
    }
}

/* ---- threads */

static bool is_running(pid_t pid, const char *thread)
{
    char path[320], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'R';
}

/* A running thread; 0: there is none. */
static pid_t choose(const struct wndl_traced *t, uint64_t random)
{
    char path[32];
    pid_t running[MOST_THREADS];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
    DIR *all = opendir(path);
    if (all == NULL)
        return 0;
    for (struct dirent *e; count < MOST_THREADS && (e = readdir(all)) != NULL;)
        if (e->d_name[0] != '.' && is_running(t->pid, e->d_name))
            running[count++] = (pid_t)atoi(e->d_name);
    closedir(all);
    return count == 0 ? 0 : running[random % count];
}

/* Whether the thread stopped as asked, until `end`. */
static bool comes_to_stop(struct wndl_traced *t, pid_t thread, uint64_t end)
{
    enum outcome outcome;
    while (!t->is_over && wndl_clock_monotonic_ns() < end) {
        if (!next_event(t, false, thread, &outcome))
            nap(MS / 20);
        if (outcome == STOPPED || outcome == HAS_ENDED)
            return outcome == STOPPED;
        if (outcome == STEPPED)
            wndl_tracee_continue(thread, 0);
    }
    return false;
}

#if defined(__x86_64__)
static bool is_in_call(pid_t thread)
{
    struct user_regs_struct r;
    return ptrace(PTRACE_GETREGS, thread, NULL, &r) != 0 ||
           (long long)r.orig_rax >= 0;
}

bool wndl_traced_regs(pid_t thread, struct wndl_cfi_regs *regs)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &r) != 0)
        return false;
    const uint64_t values[WNDL_CFI_X86_REGS] = {r.rax, r.rdx, r.rcx, r.rbx,
        r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15, r.rip};
    memcpy(regs->regs, values, sizeof values);
    regs->valid = (UINT64_C(1) << WNDL_CFI_X86_REGS) - 1;
    return true;
}
#else
static bool is_in_call(pid_t thread)
{
    return thread != 0;
}

bool wndl_traced_regs(pid_t thread, struct wndl_cfi_regs *regs)
{
    (void)thread;
    (void)regs;
    return false;
}
#endif

pid_t wndl_traced_stop(struct wndl_traced *t, uint64_t random)
{
    const pid_t thread = choose(t, random);
    if (thread == 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 ||
        !comes_to_stop(t, thread, wndl_clock_monotonic_ns() + STOP_MS * MS))
        return 0;
    if (!is_in_call(thread))
        return thread;
    wndl_tracee_continue(thread, 0);
    return 0;
}

/* A thread that does not come to its end is asked to stop, and runs on. */
static enum outcome wait_for_step(
    struct wndl_traced *t, pid_t thread, bool waits, uint64_t end)
{
    enum outcome outcome = NOTHING;
    while (!t->is_over && outcome == NOTHING) {
        const bool is_event = next_event(t, !waits, thread, &outcome);
        if (is_event || outcome != NOTHING)
            continue;
        if (wndl_clock_monotonic_ns() < end) {
            nap(MS / 20);
            continue;
        }
        if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
            return HAS_ENDED;
        end = UINT64_MAX;
    }
    return outcome;
}

bool wndl_traced_step(
    struct wndl_traced *t, pid_t thread, bool waits, uint64_t end)
{
    if (ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) != 0)
        return false;
    const enum outcome outcome = wait_for_step(t, thread, waits, end);
    if (outcome == STOPPED)
        wndl_tracee_continue(thread, 0);
    return outcome == STEPPED;
}

void wndl_traced_hide(pid_t thread, uint64_t sp)
{
    enum { TRAP_FLAG = 0x100 };
    errno = 0;
    const long word =
        ptrace(PTRACE_PEEKDATA, thread, (void *)(uintptr_t)sp, NULL);
    if (errno == 0)
        (void)ptrace(PTRACE_POKEDATA, thread, (void *)(uintptr_t)sp,
            (void *)(word & ~(long)TRAP_FLAG));
}
