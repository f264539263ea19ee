/* SPDX-License-Identifier: MIT */
#include "collect/start/engine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int wndl_engine_setting(const char *name)
{
    int value = -2;
    char path[64];
    snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return value;
    if (fscanf(file, "%d", &value) != 1)
        value = -2;
    fclose(file);
    return value;
}

/*
 * Opens an event as the runtime will, but never starts it. Returns 0 or an
 * errno.
 */
static int try_event(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000000,
        .disabled = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(
        SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Whether a thread may have a timer of its own. Returns 0 or an errno. */
static int try_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return errno;
    timer_delete(timer);
    return 0;
}

/* Starts a process of ours that waits for its end, for trial reads. */
static pid_t start_still(void)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        pause();
    _exit(0);
}

static int look_into(pid_t pid)
{
    static char here;
    char there;
    struct iovec to = {&there, 1};
    struct iovec from = {&here, 1};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return errno;
    bool readable = fgetc(file) != EOF;
    int why = readable ? 0 : errno;
    fclose(file);
    if (readable && process_vm_readv(pid, &to, 1, &from, 1, 0) != 1)
        why = errno;
    return readable ? why : (why == 0 ? ENOSYS : why);
}

/* Whether a child's system calls and stack may be read. 0 or an errno. */
static int try_outside(void)
{
    pid_t pid = start_still();
    if (pid < 0)
        return errno;
    int why = look_into(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return why;
}

static void probe_perf(struct wndl_collector_engine *engine)
{
    errno = 0;
    const int paranoid = wndl_engine_setting("perf_event_paranoid");
    const int unread = paranoid == -2 ? errno : 0;
    *engine = (struct wndl_collector_engine){
        .engine = WNDL_ENGINE_PERF,
        .fallback = WNDL_ENGINE_TIMER,
        .refusal = try_event(),
        .paranoid = paranoid,
        .unread = unread,
    };
}

static void take_engine(
    struct wndl_collector_engine *engine, enum wndl_engine taken)
{
    engine->engine = taken;
    engine->fallback = WNDL_ENGINE_NONE;
}

void wndl_collector_probe(struct wndl_collector_engine *engine)
{
    probe_perf(engine);
    if (engine->refusal != 0)
        take_engine(engine, WNDL_ENGINE_TIMER);
}

static enum wndl_status refuse_perf(
    const struct wndl_collector_engine *engine, struct wndl_error *err)
{
    if (engine->paranoid == -2)
        return wndl_fail_errno(
            err, engine->refusal, "the kernel refuses perf events");
    return wndl_fail_errno(err, engine->refusal,
        "the kernel refuses perf events; the setting "
        "kernel.perf_event_paranoid is %d, and --engine timer does without "
        "them",
        engine->paranoid);
}

static enum wndl_status refuse_outside(int why, struct wndl_error *err)
{
    int scope = wndl_engine_setting("yama/ptrace_scope");
    if (scope == -2)
        return wndl_fail_errno(
            err, why, "the kernel refuses to read another process");
    return wndl_fail_errno(err, why,
        "the kernel refuses to read another process; the setting "
        "kernel.yama.ptrace_scope is %d",
        scope);
}

enum wndl_status wndl_collector_choose(struct wndl_collector_engine *engine,
    enum wndl_engine wanted, struct wndl_error *err)
{
    if (wanted >= WNDL_ENGINE_COUNTED)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "this engine is for processes that run already: windlass record "
            "--engine stop -p PID");
    probe_perf(engine);
    if (wanted == WNDL_ENGINE_NONE && engine->refusal == 0)
        return WNDL_OK;
    if (wanted == WNDL_ENGINE_PERF) {
        engine->fallback = WNDL_ENGINE_NONE;
        return engine->refusal == 0 ? WNDL_OK : refuse_perf(engine, err);
    }
    take_engine(
        engine, wanted == WNDL_ENGINE_NONE ? WNDL_ENGINE_TIMER : wanted);
    int why = wanted == WNDL_ENGINE_OUTSIDE ? try_outside() : try_timer();
    if (why == 0)
        return WNDL_OK;
    if (wanted == WNDL_ENGINE_OUTSIDE)
        return refuse_outside(why, err);
    return wndl_fail_errno(err, why, "the kernel refuses timers");
}
