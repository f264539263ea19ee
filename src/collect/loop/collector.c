/* SPDX-License-Identifier: MIT */
#include "collect/loop/collector.h"

#include "collect/loop/attachment.h"
#include "collect/loop/control.h"
#include "collect/loop/kernel_stacks.h"
#include "collect/loop/output.h"
#include "collect/loop/settings.h"
#include "collect/loop/signals.h"
#include "collect/loop/unrecorded.h"
#include "os/clock.h"
#include "wndl/write_heap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)
#define GRACE_NS UINT64_C(50000000)
#define PATIENCE_NS UINT64_C(10000000000)

enum { DRAIN_EVERY_MS = 100 };

struct wndl_collector {
    struct wndl_run run;
    struct wndl_processes processes;
    struct wndl_unrecorded unrecorded;
    struct wndl_signals signals;
    struct wndl_controller controller;
    struct wndl_attachment attachment; /* of processes that ran already */
    struct wndl_kernel_stacks kernel;
    uint64_t cpu_before; /* ns, of this process's children before the command */
    uint64_t drain;      /* when to drain next */
    uint64_t duration;   /* ns, of the recording */
    uint64_t discarded;  /* samples */
    bool left_after;     /* another process goes on with the recording */
    enum wndl_status outcome; /* the status of closing the recording */
    void (*progress)(
        void *, const struct wndl_collector_result *); /* or NULL */
    void *progress_context;
    void (*warn)(const struct wndl_collector_writing *); /* or NULL */
    bool warned;  /* the last warning was that writing fails */
    uint64_t cpu; /* ns, of the command; set when another goes on */
};

/* ---- events about processes */

static void greeted(void *owner, pid_t pid)
{
    struct wndl_collector *c = owner;
    wndl_unrecorded_greeted(&c->unrecorded, pid);
    wndl_attachment_release(&c->attachment, pid);
    wndl_kernel_stacks_know(&c->kernel, pid);
}

static void refused(void *owner, pid_t pid, enum wndl_unrecorded_reason reason)
{
    struct wndl_collector *c = owner;
    wndl_unrecorded_refused(&c->unrecorded, pid, reason);
}

static void replaced(void *owner, const struct wndl_process_entry *entry)
{
    struct wndl_collector *c = owner;
    wndl_attachment_release(&c->attachment, entry->pid);
    wndl_unrecorded_replaced(&c->unrecorded, entry);
}

static int asked(void *owner, int socket, const struct wndl_control *control)
{
    struct wndl_collector *c = owner;
    return wndl_controller_take(&c->controller, socket, control);
}

static void connect_parts(struct wndl_collector *c)
{
    c->processes.run = &c->run;
    c->processes.events = (struct wndl_processes_events){
        .owner = c,
        .greeted = greeted,
        .refused = refused,
        .replaced = replaced,
        .asked = asked,
    };
    c->unrecorded.run = c->signals.run = c->controller.run = &c->run;
    c->unrecorded.processes = &c->processes;
    c->signals.processes = &c->processes;
    c->controller.processes = &c->processes;
    c->attachment.run = &c->run;
    c->attachment.processes = &c->processes;
    c->processes.attachment = &c->attachment;
    c->processes.kernel = &c->kernel;
}

/* ---- starting */

/* Whether nothing of ours is in the processes. */
static bool is_outside(const struct wndl_collector_request *r)
{
    return r->engine.engine == WNDL_ENGINE_OUTSIDE ||
           r->engine.engine == WNDL_ENGINE_COPIES ||
           r->engine.engine == WNDL_ENGINE_STOP;
}

/* Whether we start a command. */
static bool has_command(const struct wndl_collector_request *r)
{
    return r->pid == 0 || r->meanwhile != NULL;
}

static enum wndl_status set_up(
    struct wndl_collector *c, sigset_t *mask, struct wndl_error *err)
{
    if (!wndl_loop_open(&c->run.loop) ||
        !wndl_signals_open(&c->signals, mask) ||
        !wndl_processes_listen(&c->processes))
        return wndl_fail_errno(err, errno, "cannot wait for events");
    wndl_unrecorded_begin(&c->unrecorded);
    return WNDL_OK;
}

/*
 * Forks the command, which waits to be executed. A process that was given
 * counts as ended, because only a child's end can be waited for.
 */
static enum wndl_status hold_command(
    struct wndl_collector *c, sigset_t mask, struct wndl_error *err)
{
    const struct wndl_spawn_request spawn = {
        .command = c->run.request.meanwhile != NULL ? c->run.request.meanwhile
                                                    : c->run.request.command,
        .runtime = is_outside(&c->run.request) ? NULL : c->run.request.runtime,
        .session = c->run.session.socket_path,
        .mask = mask,
    };
    if (has_command(&c->run.request))
        return wndl_spawn_fork(&spawn, &c->run.spawn, err);
    c->run.spawn.pid = c->run.request.pid;
    c->run.ended = true;
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
 * Raises our limits; the command has started with its own by now. A block of
 * shared memory counts as a file under the limit of file sizes.
 */
static void make_room(struct wndl_collector *c)
{
    raise_limit(RLIMIT_NOFILE);
    raise_limit(RLIMIT_FSIZE);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    c->processes.reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void open_recording(struct wndl_collector *c)
{
    const struct wndl_collector_request *r = &c->run.request;
    const struct wndl_recording_meta meta = {
        .interval = r->interval,
        .engine = r->engine.engine,
        .kernel_sampled =
            r->engine.engine == WNDL_ENGINE_TICK ||
            r->engine.engine == WNDL_ENGINE_TIMER ||
            r->engine.engine == WNDL_ENGINE_STOP ||
            (c->attachment.is_open &&
                !c->attachment.attach.targets.event.leaves_out_kernel),
        .by_ticks = r->engine.engine == WNDL_ENGINE_PERF,
        .kernel_stacks = c->kernel.is_open,
        .max_frames = r->max_frames,
        .offcpu_interval = r->offcpu_interval,
        .command = r->command,
    };
    wndl_recording_open(&c->run.recording, c->run.file, &meta);
    wndl_recording_libraries(
        &c->run.recording, r->heap.libraries, r->heap.library_count);
    if (r->tail_size != 0)
        wndl_recording_keep_tail(&c->run.recording, r->tail_size);
    const struct wndl_offcpu_request watched = {
        .max_frames = r->max_frames,
        .unwind = r->unwind,
        .wanted = r->threads,
        .binaries = &c->run.binaries,
        .is_alone = is_outside(r),
    };
    wndl_lost_shared_init(&c->run.lost, &c->run.recording, &c->run.totals);
    c->run.has_binaries =
        wndl_binaries_init(&c->run.binaries, r->tables, r->debug_dirs);
    if (c->run.has_binaries &&
        (r->unwind == WNDL_UNWIND_AUTO || r->unwind == WNDL_UNWIND_SCAN))
        wndl_binaries_follow_code(&c->run.binaries, r->kept_tables);
    if (c->run.has_binaries)
        wndl_lost_shared_begin(
            &c->run.lost, &c->run.binaries, r->unwind, r->max_frames);
    if (r->offcpu_interval != 0 && c->run.has_binaries)
        c->processes.offcpu = wndl_offcpu_shared_new(&watched);
}

static enum wndl_status let_go(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    const struct wndl_collector_request *r = &c->run.request;
    int why = has_command(r) ? wndl_spawn_exec(&c->run.spawn) : 0;
    if (why == 0)
        return WNDL_OK;
    bool absent = why == ENOENT || why == ENOTDIR;
    *exit_code = absent ? WNDL_EXIT_NOT_FOUND : WNDL_EXIT_NOT_EXECUTABLE;
    unlink(c->run.path);
    wndl_error_set_file(
        err, r->meanwhile == NULL ? r->command[0] : r->meanwhile[0]);
    return wndl_fail_errno(err, why, "cannot run the file");
}

/*
 * Opens the events of processes that run already. A command was forked before
 * our limits are raised, and waits.
 */
static enum wndl_status attach(struct wndl_collector *c, struct wndl_error *err)
{
    if (c->run.request.pid_count == 0) {
        wndl_kernel_stacks_open(&c->kernel, &c->run);
        return WNDL_OK;
    }
    raise_limit(RLIMIT_NOFILE);
    const enum wndl_status status = wndl_attachment_open(&c->attachment, err);
    if (status != WNDL_OK && has_command(&c->run.request))
        wndl_spawn_cancel(&c->run.spawn);
    return status;
}

static enum wndl_status begin(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    enum wndl_status status = wndl_output_open(&c->run, err);
    if (status == WNDL_OK)
        return let_go(c, exit_code, err);
    if (has_command(&c->run.request))
        wndl_spawn_cancel(&c->run.spawn);
    return status;
}

/*
 * Without its settings a process that we let wait is not recorded. One that is
 * not wanted must not record itself.
 */
static void leave_settings(const struct wndl_run *run)
{
    struct wndl_settings settings;
    if (run->request.only_first || is_outside(&run->request))
        return;
    wndl_settings_fill(&settings, &run->request);
    (void)wndl_session_settings(&run->session, &settings);
}

static enum wndl_status start(
    struct wndl_collector *c, int *exit_code, struct wndl_error *err)
{
    sigset_t mask;
    enum wndl_status status = wndl_session_open(&c->run.session, err);
    if (status == WNDL_OK)
        status = set_up(c, &mask, err);
    if (status == WNDL_OK)
        leave_settings(&c->run);
    if (status == WNDL_OK)
        status = hold_command(c, mask, err);
    if (status == WNDL_OK)
        status = attach(c, err);
    if (status == WNDL_OK)
        status = begin(c, exit_code, err);
    if (status != WNDL_OK)
        return status;
    make_room(c);
    open_recording(c);
    if (c->run.request.pid_count != 0)
        status = wndl_attachment_begin(&c->attachment, err);
    wndl_controller_begin(&c->controller);
    return status;
}

/*
 * Opens the standard streams if they are closed: a message on a closed stderr
 * must not go into the recording.
 */
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

/*
 * The CPU time of children that this process waited for, also before it became
 * windlass.
 */
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
    connect_parts(c);
    c->run.request = *request;
    c->cpu_before = children_cpu();
    c->run.session.listener = c->run.session.nameless = -1;
    c->run.loop.poll = c->signals.fd = c->run.file = -1;
    c->processes.reserve = c->controller.asker = -1;
    c->processes.spare.memfd = -1;
    c->controller.begin_at = c->controller.end_at = UINT64_MAX;
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
    return c->run.session.socket_path;
}

/* ---- running */

static uint64_t duration_of(const struct wndl_collector *c)
{
    return wndl_clock_monotonic_ns() - c->run.recording.time_base;
}

void wndl_collector_set_progress(struct wndl_collector *c,
    void (*progress)(void *context, const struct wndl_collector_result *so_far),
    void *context)
{
    c->progress = progress;
    c->progress_context = context;
}

void wndl_collector_warn(struct wndl_collector *c,
    void (*warn)(const struct wndl_collector_writing *writing))
{
    c->warn = warn;
}

/* Calls `warn`, if set, when the file can no longer be written, or again. */
static void warn(struct wndl_collector *c)
{
    const struct wndl_recording *r = &c->run.recording;
    const struct wndl_collector_writing writing = {
        .path = c->run.path,
        .error = r->write_error,
        .lost = r->lost_before + r->unwritten,
        .is_over = r->status != WNDL_OK,
    };
    const bool failing = r->write_error != 0;
    if (c->warn == NULL || failing == c->warned)
        return;
    c->warned = failing;
    c->warn(&writing);
}

/* Calls `progress`, if set. */
static void report(struct wndl_collector *c)
{
    struct wndl_collector_result so_far;
    if (c->progress == NULL)
        return;
    wndl_collector_result(c, &so_far);
    c->progress(c->progress_context, &so_far);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Runs due timers; returns when the next is due. */
static uint64_t see_to_the_clock(struct wndl_collector *c, uint64_t now)
{
    uint64_t next = wndl_controller_turn(&c->controller, now);
    if (now >= c->drain) {
        wndl_processes_drain(&c->processes);
        wndl_unrecorded_look(&c->unrecorded);
        wndl_output_flush(&c->processes);
        warn(c);
        report(c);
        c->drain = now + DRAIN_EVERY_MS * NS_PER_MS;
    }
    next = earlier(next, c->drain);
    next = earlier(next, wndl_attachment_turn(&c->attachment, now));
    return earlier(next, wndl_processes_turn(&c->processes, now));
}

/* Waits for an event until `until` at most, and handles it. */
static void turn(struct wndl_collector *c, uint64_t until)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t next = earlier(see_to_the_clock(c, now), until);
    wndl_loop_wait(&c->run.loop, now, next);
}

static int status_of(const struct wndl_collector *c, int killed_from)
{
    return WIFSIGNALED(c->run.status) ? killed_from + WTERMSIG(c->run.status)
                                      : WEXITSTATUS(c->run.status);
}

static bool may_come(const struct wndl_collector *c)
{
    return wndl_unrecorded_new(&c->unrecorded) || c->processes.first != NULL;
}

/*
 * Runs a little longer: the last processes that the command started may not
 * have said hello, and their descendants may not have been noticed. All that
 * was said already is heard, also by many and after we were stopped.
 */
static void settle(struct wndl_collector *c)
{
    const uint64_t begin = wndl_clock_monotonic_ns();
    uint64_t now = begin;
    while ((now < begin + GRACE_NS && may_come(c)) ||
           (now < begin + PATIENCE_NS && wndl_processes_wait(&c->processes))) {
        turn(c, begin + GRACE_NS);
        now = wndl_clock_monotonic_ns();
    }
}

/* Until the processes have ended, or the command in whose time it is. */
static enum wndl_collector_stage run_attached(struct wndl_collector *c)
{
    const bool waits = c->run.request.meanwhile != NULL;
    while (c->processes.first != NULL && !c->run.stopped &&
           !(waits && c->run.ended))
        turn(c, UINT64_MAX);
    return c->run.ended ? WNDL_COLLECTOR_OVER : WNDL_COLLECTOR_STOPPED;
}

enum wndl_collector_stage wndl_collector_run(struct wndl_collector *c)
{
    if (c->run.request.pid_count != 0)
        return run_attached(c);
    while (!c->run.ended && !c->run.stopped)
        turn(c, UINT64_MAX);
    if (!c->run.ended)
        return WNDL_COLLECTOR_STOPPED;
    settle(c);
    return wndl_processes_running(&c->processes) == 0 ? WNDL_COLLECTOR_OVER
                                                      : WNDL_COLLECTOR_LEFT;
}

static void await_first(struct wndl_collector *c)
{
    uint64_t end = wndl_clock_monotonic_ns() + PATIENCE_NS;
    while (c->run.totals.processes == 0 && !c->run.stopped &&
           wndl_clock_monotonic_ns() < end)
        turn(c, end);
}

void wndl_collector_run_rest(struct wndl_collector *c)
{
    await_first(c);
    while (c->processes.first != NULL && !c->run.stopped) {
        turn(c, UINT64_MAX);
        if (c->processes.first == NULL)
            settle(c);
    }
}

int wndl_collector_wait(struct wndl_collector *c)
{
    struct pollfd signals = {.fd = c->signals.fd, .events = POLLIN};
    while (!c->run.ended) {
        if (poll(&signals, 1, -1) > 0)
            wndl_signals_take(&c->signals);
    }
    return status_of(c, 128);
}

/* Waits until the child has closed its end. */
static void await_child(const int ends[2])
{
    char byte;
    close(ends[1]);
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
        continue;
    close(ends[0]);
}

/* The child maps the rings before we give them up. */
static pid_t fork_successor(struct wndl_collector *c)
{
    int ends[2];
    const bool waits = (c->attachment.is_open || c->kernel.is_open) &&
                       pipe2(ends, O_CLOEXEC) == 0;
    const pid_t pid = fork();
    if (pid == 0)
        wndl_attachment_take_over(&c->attachment);
    if (pid == 0)
        wndl_kernel_stacks_take_over(&c->kernel);
    if (waits && pid == 0) {
        close(ends[0]);
        close(ends[1]);
    } else if (waits) {
        await_child(ends);
    }
    return pid;
}

pid_t wndl_collector_detach(struct wndl_collector *c)
{
    wndl_output_flush(&c->processes);
    c->duration = duration_of(c);
    c->discarded = c->run.recording.tail.discarded;
    c->cpu = children_cpu() - c->cpu_before;
    if (c->run.has_binaries)
        wndl_binaries_rest(&c->run.binaries);
    pid_t pid = fork_successor(c);
    if (pid > 0)
        c->left_after = true;
    if (pid != 0)
        return pid;
    wndl_spawn_leave_caller();
    wndl_signals_take_over(&c->signals);
    return pid;
}

/* ---- ending */

static uint32_t status_for_file(const struct wndl_collector *c)
{
    bool known = c->run.ended && c->run.request.pid == 0 &&
                 c->run.request.pid_count == 0;
    return known ? (uint32_t)status_of(c, 256) : WNDL_STATUS_UNKNOWN;
}

/*
 * The command's, and that of the processes that it waited for. Not known of
 * processes that ran already.
 */
static uint64_t cpu_of(const struct wndl_collector *c)
{
    if (c->run.request.pid_count != 0)
        return 0;
    const uint64_t now = children_cpu(); /* 0 in a child that goes on */
    return now > c->cpu_before ? now - c->cpu_before : c->cpu;
}

enum wndl_status wndl_collector_finish(
    struct wndl_collector *c, struct wndl_error *err)
{
    wndl_attachment_take(c->processes.attachment, true);
    wndl_processes_end_all(&c->processes);
    wndl_lost_finish(&c->run.lost);
    wndl_kernel_stacks_finish(&c->kernel);
    wndl_attachment_close(&c->attachment);
    wndl_unrecorded_end(&c->unrecorded);
    const struct wndl_recording_done done = {
        .status = status_for_file(c),
        .processes = c->run.totals.processes,
        .unrecorded = c->run.totals.unrecorded,
        .interrupted_calls = c->run.totals.interrupted_calls,
        .cpu = cpu_of(c),
    };
    c->discarded = c->run.recording.tail.discarded;
    c->outcome = wndl_recording_close(&c->run.recording, &done, err);
    if (c->outcome == WNDL_OK)
        c->run.safe = c->run.totals;
    else
        wndl_error_set_file(err, c->run.path);
    c->duration = duration_of(c);
    wndl_session_close(&c->run.session);
    wndl_controller_send_end(&c->controller, c->outcome == WNDL_OK);
    return c->outcome;
}

/* Copies the totals that are in the result. */
static uint64_t unwritten_of(const struct wndl_recording *r)
{
    return r->lost_before + (r->status == WNDL_OK ? r->unwritten : 0);
}

void wndl_collector_result(
    struct wndl_collector *c, struct wndl_collector_result *result)
{
    *result = (struct wndl_collector_result){
        .exit_code = status_of(c, 128),
        .path = c->run.path,
        .kept_old = c->run.kept_old,
        .bytes = c->run.recording.bytes,
        .duration = c->duration != 0 ? c->duration : duration_of(c),
        .cpu = cpu_of(c),
        .left = wndl_processes_running(&c->processes),
        .other_engine = c->processes.other_engine,
        .unsampled = c->processes.unsampled,
        .traced = c->processes.traced,
        .kept = wndl_recording_kept(&c->run.recording),
        .discarded = c->discarded,
        .unwritten = unwritten_of(&c->run.recording),
        .tables = c->run.request.tables,
        .trouble_with_kept = c->run.has_binaries && c->run.binaries.has_trouble
                                 ? &c->run.binaries.trouble
                                 : NULL,
        .images = c->run.recording.announced.data,
        .image_count = c->run.recording.announced.len,
        .totals =
            c->run.recording.status == WNDL_OK ? c->run.totals : c->run.safe,
    };
    if (c->processes.offcpu != NULL)
        result->offcpu = *wndl_offcpu_totals(c->processes.offcpu);
    wndl_processes_add_frames(&c->processes, result->totals.frames_by);
    wndl_processes_add_heaps(&c->processes, &result->totals.heap);
    for (size_t i = 0; i < WNDL_COLLECTOR_NAMED; i++)
        result->unrecorded[i] = c->unrecorded.named[i];
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Leaves the session to the process that goes on with the recording. */
static void leave_after(struct wndl_collector *c)
{
    wndl_processes_leave_all(&c->processes);
    wndl_unrecorded_end(&c->unrecorded);
}

void wndl_collector_free(struct wndl_collector *c)
{
    if (c == NULL)
        return;
    if (c->left_after)
        leave_after(c);
    else
        wndl_session_close(&c->run.session);
    wndl_attachment_close(&c->attachment);
    wndl_kernel_stacks_close(&c->kernel);
    wndl_recording_free(&c->run.recording);
    wndl_offcpu_shared_free(c->processes.offcpu);
    wndl_lost_shared_free(&c->run.lost);
    if (c->run.has_binaries)
        wndl_binaries_free(&c->run.binaries);
    close_if_open(c->run.file);
    close_if_open(c->processes.reserve);
    wndl_collector_block_free(&c->processes.spare);
    wndl_signals_close(&c->signals);
    close_if_open(c->run.loop.poll);
    wndl_mem_free(wndl_mem_libc(), c->run.path);
    wndl_mem_free(wndl_mem_libc(), c);
}
