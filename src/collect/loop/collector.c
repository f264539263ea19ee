/* SPDX-License-Identifier: MIT */
#include "collect/loop/collector.h"

#include "collect/loop/collector_impl.h"
#include "os/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(10000000000)

/* ---- starting */

static bool is_outside(const struct wndl_collector_request *r)
{
    return r->engine.engine == WNDL_ENGINE_OUTSIDE;
}

static enum wndl_status set_up(
    struct wndl_collector *c, sigset_t *mask, struct wndl_error *err)
{
    c->on_signal.kind = WNDL_SOURCE_SIGNAL;
    c->on_listener.kind = WNDL_SOURCE_LISTENER;
    c->poll = epoll_create1(EPOLL_CLOEXEC);
    if (c->poll < 0 || !wndl_signals_open(c, mask) ||
        !wndl_loop_watch(c, c->signals, &c->on_signal) ||
        !wndl_loop_watch(c, c->session.listener, &c->on_listener))
        return wndl_fail_errno(err, errno, "cannot wait for events");
    wndl_unrecorded_begin(c);
    return WNDL_OK;
}

/* Of one that is not our child there is no end to be waited for. */
static enum wndl_status hold_command(
    struct wndl_collector *c, sigset_t mask, struct wndl_error *err)
{
    const struct wndl_spawn_request spawn = {
        .command = c->request.command,
        .runtime = is_outside(&c->request) ? NULL : c->request.runtime,
        .session = c->session.socket_path,
        .mask = mask,
    };
    if (c->request.pid == 0)
        return wndl_spawn_fork(&spawn, &c->spawn, err);
    c->spawn.pid = c->request.pid;
    c->ended = true;
    return WNDL_OK;
}

static void raise_limit(__rlimit_resource_t resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(resource, &limit);
}

/*
 * The command has its own limits and dispositions by now. A block of shared
 * memory is a file as far as the limit of file sizes goes.
 */
static void make_room(struct wndl_collector *c)
{
    raise_limit(RLIMIT_NOFILE);
    raise_limit(RLIMIT_FSIZE);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    c->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void open_recording(struct wndl_collector *c)
{
    const struct wndl_collector_request *r = &c->request;
    const struct wndl_recording_meta meta = {
        .interval = r->interval,
        .engine = r->engine.engine,
        .kernel_sampled = r->engine.sample_kernel,
        .by_ticks =
            r->engine.engine == WNDL_ENGINE_PERF && !r->engine.sample_kernel,
        .max_frames = r->max_frames,
        .offcpu_interval = r->offcpu_interval,
        .command = r->command,
    };
    wndl_recording_open(&c->recording, c->file, &meta);
    if (r->tail_size != 0)
        wndl_recording_keep_tail(&c->recording, r->tail_size);
    const struct wndl_offcpu_request watched = {
        .max_frames = r->max_frames,
        .unwind = r->unwind,
        .wanted = r->threads,
        .tables = r->tables,
        .is_alone = r->engine.engine == WNDL_ENGINE_OUTSIDE,
    };
    if (r->offcpu_interval != 0)
        c->offcpu = wndl_offcpu_shared_new(&watched);
}

static void set_times(struct wndl_collector *c)
{
    uint64_t now = wndl_clock_monotonic_ns();
    const struct wndl_collector_request *r = &c->request;
    if (r->delay != 0) {
        wndl_control_pause(c, true);
        c->begin_at = now + r->delay;
    } else if (r->duration != 0) {
        c->end_at = now + r->duration;
    }
}

static enum wndl_status let_go(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    int why = c->request.pid != 0 ? 0 : wndl_spawn_exec(&c->spawn);
    if (why == 0)
        return WNDL_OK;
    bool absent = why == ENOENT || why == ENOTDIR;
    *exit_code = absent ? WNDL_EXIT_NOT_FOUND : WNDL_EXIT_NOT_EXECUTABLE;
    unlink(c->path);
    wndl_error_set_file(err, c->request.command[0]);
    return wndl_fail_errno(err, why, "cannot run the command");
}

static enum wndl_status begin(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    enum wndl_status status = wndl_collector_output(c, err);
    if (status == WNDL_OK)
        return let_go(c, exit_code, err);
    if (c->request.pid == 0)
        wndl_spawn_cancel(&c->spawn);
    return status;
}

static enum wndl_status start(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    sigset_t mask;
    enum wndl_status status = wndl_session_open(&c->session, err);
    if (status == WNDL_OK)
        status = set_up(c, &mask, err);
    if (status == WNDL_OK)
        status = hold_command(c, mask, err);
    if (status == WNDL_OK)
        status = begin(c, exit_code, err);
    if (status != WNDL_OK)
        return status;
    make_room(c);
    open_recording(c);
    set_times(c);
    return WNDL_OK;
}

/* What is said on a closed stderr is not to go into the recording. */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static uint64_t time_of(struct timeval t)
{
    return ((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec) * 1000;
}

/* Of those that this process waited for, also before it became windlass. */
static uint64_t children_cpu(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

enum wndl_status wndl_collector_start(
    const struct wndl_collector_request *request, struct wndl_collector **out,
    int *exit_code, struct wndl_error *err)
{
    *exit_code = WNDL_EXIT_START;
    struct wndl_collector *c = wndl_mem_zalloc(wndl_mem_libc(), sizeof *c);
    if (c == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    fill_standard_streams();
    c->request = *request;
    c->cpu_before = children_cpu();
    c->session.listener = -1;
    c->poll = c->signals = c->file = c->reserve = c->asker = -1;
    c->begin_at = c->end_at = UINT64_MAX;
    enum wndl_status status = start(c, exit_code, err);
    if (status == WNDL_OK) {
        *out = c;
        return status;
    }
    wndl_collector_free(c);
    return status;
}

const char *wndl_collector_socket(const struct wndl_collector *c)
{
    return c->session.socket_path;
}

/* ---- running */

static uint64_t duration_of(const struct wndl_collector *c)
{
    return wndl_clock_monotonic_ns() - c->recording.time_base;
}

void wndl_collector_tell(struct wndl_collector *c,
    void (*tell)(void *context, const struct wndl_collector_result *so_far),
    void *context)
{
    c->tell = tell;
    c->tell_context = context;
}

void wndl_collector_report(struct wndl_collector *c)
{
    struct wndl_collector_result so_far;
    if (c->tell == NULL)
        return;
    wndl_collector_result(c, &so_far);
    c->tell(c->tell_context, &so_far);
}

void wndl_collector_flush(struct wndl_collector *c)
{
    wndl_recording_flush(&c->recording);
    if (c->recording.status != WNDL_OK)
        wndl_processes_give_up(c);
    else if (c->recording.tail.bytes == NULL)
        c->safe = c->totals;
}

static int status_of(const struct wndl_collector *c, int killed_from)
{
    return WIFSIGNALED(c->status) ? killed_from + WTERMSIG(c->status)
                                  : WEXITSTATUS(c->status);
}

/*
 * What the command started last may not have said hello, and what it took
 * with it may not have been heard of.
 */
static void settle(struct wndl_collector *c)
{
    uint64_t end = wndl_clock_monotonic_ns() + GRACE_NS;
    bool more = wndl_unrecorded_new(c) || c->processes != NULL;
    while (more && wndl_clock_monotonic_ns() < end) {
        wndl_loop_turn(c, end);
        more = wndl_unrecorded_new(c) || c->processes != NULL;
    }
}

enum wndl_collector_stage wndl_collector_run(struct wndl_collector *c)
{
    while (!c->ended && !c->stopped)
        wndl_loop_turn(c, UINT64_MAX);
    if (!c->ended)
        return WNDL_COLLECTOR_STOPPED;
    settle(c);
    return wndl_processes_running(c) == 0 ? WNDL_COLLECTOR_OVER
                                          : WNDL_COLLECTOR_LEFT;
}

static void await_first(struct wndl_collector *c)
{
    uint64_t end = wndl_clock_monotonic_ns() + PATIENCE_NS;
    while (c->totals.processes == 0 && !c->stopped &&
           wndl_clock_monotonic_ns() < end)
        wndl_loop_turn(c, end);
}

void wndl_collector_run_rest(struct wndl_collector *c)
{
    await_first(c);
    while (c->processes != NULL && !c->stopped) {
        wndl_loop_turn(c, UINT64_MAX);
        if (c->processes == NULL)
            settle(c);
    }
}

int wndl_collector_wait(struct wndl_collector *c)
{
    struct pollfd signals = {.fd = c->signals, .events = POLLIN};
    while (!c->ended) {
        if (poll(&signals, 1, -1) > 0)
            wndl_signals_take(c);
    }
    return status_of(c, 128);
}

/* Everything of ours is close-on-exec; what is not came from the caller. */
static void close_callers_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return;
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        int fd = atoi(e->d_name);
        int flags = fcntl(fd, F_GETFD);
        if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0)
            close(fd);
    }
    closedir(all);
}

/* A poll hears of the signals of the process that put them in. */
static void take_over_signals(struct wndl_collector *c)
{
    wndl_loop_unwatch(c, c->signals);
    (void)wndl_loop_watch(c, c->signals, &c->on_signal);
}

static void leave_caller(void)
{
    (void)setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    close_callers_descriptors();
}

pid_t wndl_collector_detach(struct wndl_collector *c)
{
    wndl_collector_flush(c);
    c->duration = duration_of(c);
    c->discarded = c->recording.tail.discarded;
    pid_t pid = fork();
    if (pid > 0)
        c->left_behind = true;
    if (pid != 0)
        return pid;
    leave_caller();
    take_over_signals(c);
    c->bystander = 0; /* it is in the group that was left */
    return pid;
}

/* ---- ending */

static uint32_t status_for_file(const struct wndl_collector *c)
{
    bool known = c->ended && c->request.pid == 0;
    return known ? (uint32_t)status_of(c, 256) : WNDL_STATUS_UNKNOWN;
}

enum wndl_status wndl_collector_finish(
    struct wndl_collector *c, struct wndl_error *err)
{
    wndl_processes_end_all(c);
    wndl_unrecorded_end(c);
    const struct wndl_recording_done done = {
        .status = status_for_file(c),
        .processes = c->totals.processes,
        .unrecorded = c->totals.unrecorded,
        .interrupted_calls = c->totals.interrupted_calls,
    };
    c->discarded = c->recording.tail.discarded;
    c->outcome = wndl_recording_close(&c->recording, &done, err);
    if (c->outcome == WNDL_OK)
        c->safe = c->totals;
    else
        wndl_error_set_file(err, c->path);
    c->duration = duration_of(c);
    wndl_session_close(&c->session);
    wndl_control_tell_end(c);
    return c->outcome;
}

void wndl_collector_result(
    struct wndl_collector *c, struct wndl_collector_result *result)
{
    *result = (struct wndl_collector_result){
        .exit_code =
            c->outcome == WNDL_OK ? status_of(c, 128) : WNDL_EXIT_START,
        .path = c->path,
        .bytes = c->recording.bytes,
        .duration = c->duration != 0 ? c->duration : duration_of(c),
        .cpu = children_cpu() - c->cpu_before,
        .left = wndl_processes_running(c),
        .other_engine = c->other_engine,
        .traced = c->traced,
        .discarded = c->discarded,
        .tables = c->request.tables,
        .images = c->recording.announced.data,
        .image_count = c->recording.announced.len,
        .totals = c->recording.status == WNDL_OK ? c->totals : c->safe,
    };
    if (c->offcpu != NULL)
        result->offcpu = *wndl_offcpu_totals(c->offcpu);
    wndl_processes_add_frames(c, result->totals.frames_by);
    wndl_processes_add_heaps(c, &result->totals.heap);
    for (size_t i = 0; i < WNDL_COLLECTOR_NAMED; i++)
        result->unrecorded[i] = c->unrecorded[i];
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* The session is the other one's by now. */
static void leave_behind(struct wndl_collector *c)
{
    wndl_processes_leave_all(c);
    wndl_unrecorded_end(c);
}

void wndl_collector_free(struct wndl_collector *c)
{
    if (c == NULL)
        return;
    if (c->left_behind)
        leave_behind(c);
    else
        wndl_session_close(&c->session);
    wndl_recording_free(&c->recording);
    wndl_offcpu_shared_free(c->offcpu);
    close_if_open(c->file);
    close_if_open(c->reserve);
    wndl_signals_close(c);
    close_if_open(c->poll);
    wndl_mem_free(wndl_mem_libc(), c->path);
    wndl_mem_free(wndl_mem_libc(), c);
}
