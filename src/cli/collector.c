/* SPDX-License-Identifier: MIT */
#include "cli/collector.h"

#include "cli/collector_session.h"
#include "cli/collector_spawn.h"
#include "cli/command.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRAIN_EVERY_MS = 100 };

struct live;

/* What a descriptor of the event loop stands for. */
struct source {
    enum { SOURCE_SIGNAL, SOURCE_LISTENER, SOURCE_SOCKET, SOURCE_END } kind;
    struct live *live; /* SOCKET and END */
};

/* A process from its connecting on; `process` is NULL before its hello. */
struct live {
    struct live *next;
    pid_t pid;
    int socket; /* -1 once the handshake is over */
    struct wndl_collector_process *process;
    struct source on_socket, on_end;
};

struct collector {
    const struct wndl_collector_request *request;
    struct wndl_collector_result *result;
    struct wndl_recording recording;
    struct wndl_session session;
    struct wndl_spawn spawn;
    struct live *processes;
    int poll;
    int signals;
    int status; /* of the command, as waitpid gives it */
    bool ended; /* the command has */
};

/* ---- processes */

static bool watch(struct collector *c, int fd, struct source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static struct live *find_process(struct collector *c, pid_t pid)
{
    struct live *found = c->processes;
    while (found != NULL && (found->pid != pid || found->process == NULL))
        found = found->next;
    return found;
}

/* The nearest recorded ancestor, as index + 1; 0 for none. */
static uint32_t parent_index(struct collector *c, pid_t pid)
{
    enum { GENERATIONS = 16 };
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        pid = wndl_collector_parent_of(pid);
        const struct live *parent = find_process(c, pid);
        if (parent != NULL)
            return parent->process->index + 1;
    }
    return 0;
}

static void forget(struct collector *c, struct live *live)
{
    struct live **link = &c->processes;
    while (*link != live)
        link = &(*link)->next;
    *link = live->next;
    if (live->socket >= 0)
        close(live->socket);
    if (live->process != NULL)
        wndl_collector_process_free(live->process);
    wndl_mem_free(wndl_mem_libc(), live);
}

static void end_process(
    struct collector *c, struct live *live, enum wndl_recording_how how)
{
    if (live->process->gone)
        c->result->totals.unfollowed++;
    else
        wndl_collector_process_end(live->process, how);
    forget(c, live);
}

static void accept_process(struct collector *c)
{
    pid_t pid;
    int fd = wndl_session_accept(&c->session, &pid);
    if (fd < 0)
        return;
    struct live *live = wndl_mem_zalloc(wndl_mem_libc(), sizeof *live);
    if (live == NULL || (c->request->only_first && pid != c->spawn.pid)) {
        wndl_mem_free(wndl_mem_libc(), live);
        close(fd);
        return;
    }
    *live = (struct live){
        .next = c->processes,
        .pid = pid,
        .socket = fd,
        .on_socket = {SOURCE_SOCKET, live},
        .on_end = {SOURCE_END, live},
    };
    c->processes = live;
    if (!watch(c, fd, &live->on_socket))
        forget(c, live);
}

static bool send_go(struct collector *c, struct live *live, int memfd)
{
    const struct wndl_go go = {
        .version = WNDL_SHM_VERSION,
        .engine = c->request->engine.engine,
        .sample_kernel = c->request->engine.sample_kernel,
        .interval = c->request->interval,
    };
    live->process->pid_fd = (int)syscall(SYS_pidfd_open, live->pid, 0);
    return live->process->pid_fd >= 0 &&
           watch(c, live->process->pid_fd, &live->on_end) &&
           wndl_session_go(live->socket, &go, memfd);
}

/* The same pid again is the same process after exec. */
static void begin_process(struct collector *c, struct live *live)
{
    struct wndl_recording_process origin = {
        .pid = (uint32_t)live->pid,
        .time = wndl_clock_monotonic_ns(),
    };
    struct live *before = find_process(c, live->pid);
    if (before != NULL) {
        origin.generation = before->process->generation + 1;
        origin.parent = before->process->index + 1;
        if (before->process->gone)
            before->process->gone = false;
        else
            wndl_collector_process_end(before->process, WNDL_ENDED_EXEC);
        forget(c, before);
    } else {
        origin.parent = parent_index(c, live->pid);
    }
    int memfd;
    live->process = wndl_collector_process_new(
        &c->recording, &c->result->totals, &origin, &memfd);
    if (live->process == NULL) {
        c->result->totals.unfollowed++;
        forget(c, live);
        return;
    }
    bool sent = send_go(c, live, memfd);
    close(memfd);
    if (!sent)
        end_process(c, live, WNDL_ENDED_UNKNOWN);
}

static void take_ready(struct collector *c, struct live *live)
{
    struct wndl_ready ready;
    if (wndl_session_ready(live->socket, &ready, &live->process->event_fd))
        c->result->other_engine += ready.engine != c->request->engine.engine;
    close(live->socket);
    live->socket = -1;
}

static void hear(struct collector *c, struct live *live)
{
    if (live->process != NULL)
        take_ready(c, live);
    else if (wndl_session_hello(live->socket))
        begin_process(c, live);
    else
        forget(c, live);
}

/* ---- signals */

static void reap(struct collector *c)
{
    if (waitpid(c->spawn.pid, &c->status, WNOHANG) == c->spawn.pid)
        c->ended = true;
}

/* The terminal sends to the command itself; others we hand on. */
static void take_signal(struct collector *c)
{
    struct signalfd_siginfo info;
    if (read(c->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGCHLD)
        reap(c);
    else if (info.ssi_code <= 0)
        kill(c->spawn.pid, (int)info.ssi_signo);
}

static bool watch_signals(struct collector *c, sigset_t *before)
{
    static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaddset(&set, caught[i]);
    sigprocmask(SIG_BLOCK, &set, before);
    c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return c->signals >= 0;
}

/* ---- loop */

/* Looks after those that changed their program without telling. */
static void drain_all(struct collector *c)
{
    for (struct live *l = c->processes; l != NULL; l = l->next) {
        if (l->process == NULL || l->process->gone)
            continue;
        wndl_collector_process_drain(l->process, false);
        if (l->socket < 0 && wndl_collector_process_replaced(l->process)) {
            wndl_collector_process_end(l->process, WNDL_ENDED_EXEC);
            l->process->gone = true;
        }
    }
    wndl_recording_flush(&c->recording);
}

static void handle(struct collector *c, const struct source *source)
{
    switch (source->kind) {
    case SOURCE_SIGNAL:
        take_signal(c);
        break;
    case SOURCE_LISTENER:
        accept_process(c);
        break;
    case SOURCE_SOCKET:
        hear(c, source->live);
        break;
    case SOURCE_END:
        end_process(c, source->live, WNDL_ENDED_EXIT);
        break;
    }
}

/* One event at a time: handling one may take away what others point to. */
static void loop(struct collector *c)
{
    uint64_t next = wndl_clock_monotonic_ns();
    while (!c->ended) {
        uint64_t now = wndl_clock_monotonic_ns();
        if (now >= next) {
            drain_all(c);
            next = now + DRAIN_EVERY_MS * UINT64_C(1000000);
        }
        struct epoll_event event;
        if (epoll_wait(c->poll, &event, 1, DRAIN_EVERY_MS) == 1)
            handle(c, event.data.ptr);
    }
}

static bool has_ended(const struct live *live)
{
    struct pollfd end = {.fd = live->process->pid_fd, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

/* Ends that have not been heard of yet are told from processes left behind. */
static void end_all(struct collector *c)
{
    while (c->processes != NULL) {
        struct live *live = c->processes;
        if (live->process == NULL) {
            forget(c, live);
            continue;
        }
        bool ended = has_ended(live);
        c->result->left += !ended;
        end_process(c, live, ended ? WNDL_ENDED_EXIT : WNDL_ENDED_UNKNOWN);
    }
}

/* ---- the file */

static void expand(
    struct wndl_buf *path, const char *pattern, pid_t pid, const char *command)
{
    const char *slash = strrchr(command, '/');
    struct utsname host;
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%' || c[1] == '\0') {
            wndl_buf_byte(path, (uint8_t)*c);
            continue;
        }
        c++;
        if (*c == 'p')
            wndl_buf_printf(path, "%d", (int)pid);
        else if (*c == 'n')
            wndl_buf_text(path, slash == NULL ? command : slash + 1);
        else if (*c == 'h')
            wndl_buf_text(path, uname(&host) == 0 ? host.nodename : "host");
        else
            wndl_buf_byte(path, (uint8_t)*c);
    }
    wndl_buf_byte(path, '\0');
}

/* A recording is never written over another file. */
static enum wndl_status make_file(
    struct collector *c, int *fd, struct wndl_error *err)
{
    struct wndl_buf path;
    wndl_buf_init(&path, wndl_mem_libc());
    expand(&path, c->request->file, c->spawn.pid, c->request->command[0]);
    if (path.failed) {
        wndl_buf_free(&path);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    c->result->path = (char *)path.data;
    *fd = open(c->result->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd >= 0)
        return WNDL_OK;
    wndl_error_set_file(err, c->result->path);
    return wndl_fail_errno(
        err, errno, "cannot make the recording; name another file with -o");
}

/* ---- the whole */

static enum wndl_status set_up(struct collector *c, struct wndl_error *err)
{
    struct wndl_spawn_request spawn = {
        .command = c->request->command,
        .runtime = c->request->runtime,
        .session = c->session.socket_path,
    };
    static struct source on_signal = {SOURCE_SIGNAL, NULL};
    static struct source on_listener = {SOURCE_LISTENER, NULL};
    c->poll = epoll_create1(EPOLL_CLOEXEC);
    if (c->poll < 0 || !watch_signals(c, &spawn.mask) ||
        !watch(c, c->signals, &on_signal) ||
        !watch(c, c->session.listener, &on_listener))
        return wndl_fail_errno(err, errno, "cannot wait for events");
    return wndl_spawn_fork(&spawn, &c->spawn, err);
}

/* Two descriptors a process: the command keeps its own limit. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static uint64_t time_of(struct timeval t)
{
    return ((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec) * 1000;
}

/* All that we waited for is the command. */
static uint64_t command_cpu(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

static enum wndl_status finish(struct collector *c, struct wndl_error *err)
{
    bool killed = WIFSIGNALED(c->status);
    int number = killed ? WTERMSIG(c->status) : WEXITSTATUS(c->status);
    end_all(c);
    const struct wndl_recording_done done = {
        .status = (uint32_t)(killed ? 256 + number : number),
        .processes = c->result->totals.processes,
        .unfollowed = c->result->totals.unfollowed,
    };
    enum wndl_status status = wndl_recording_close(&c->recording, &done, err);
    c->result->exit_code = killed ? 128 + number : number;
    c->result->bytes = c->recording.bytes;
    c->result->cpu = command_cpu();
    c->result->duration = wndl_clock_monotonic_ns() - c->recording.time_base;
    if (status == WNDL_OK)
        return status;
    c->result->exit_code = WNDL_EXIT_START;
    wndl_error_set_file(err, c->result->path);
    return status;
}

static enum wndl_status run_command(
    struct collector *c, int fd, struct wndl_error *err)
{
    const struct wndl_recording_meta meta = {
        .interval = c->request->interval,
        .engine = c->request->engine.engine,
        .kernel_sampled = c->request->engine.sample_kernel,
        .command = c->request->command,
    };
    int why = wndl_spawn_exec(&c->spawn);
    if (why != 0) {
        bool absent = why == ENOENT || why == ENOTDIR;
        c->result->exit_code =
            absent ? WNDL_EXIT_NOT_FOUND : WNDL_EXIT_NOT_EXECUTABLE;
        unlink(c->result->path);
        wndl_error_set_file(err, c->request->command[0]);
        return wndl_fail_errno(err, why, "cannot run the command");
    }
    c->result->started = true;
    wndl_recording_open(&c->recording, fd, &meta);
    raise_descriptor_limit();
    loop(c);
    return finish(c, err);
}

enum wndl_status wndl_collector_run(
    const struct wndl_collector_request *request,
    struct wndl_collector_result *result, struct wndl_error *err)
{
    struct collector c = {
        .request = request, .result = result, .poll = -1, .signals = -1};
    *result = (struct wndl_collector_result){.exit_code = WNDL_EXIT_START};
    enum wndl_status status = wndl_session_open(&c.session, err);
    if (status != WNDL_OK)
        return status;
    status = set_up(&c, err);
    if (status == WNDL_OK) {
        int fd = -1;
        status = make_file(&c, &fd, err);
        if (status != WNDL_OK) {
            wndl_spawn_cancel(&c.spawn);
        } else {
            status = run_command(&c, fd, err);
            close(fd);
        }
    }
    wndl_session_close(&c.session);
    if (c.signals >= 0)
        close(c.signals);
    if (c.poll >= 0)
        close(c.poll);
    return status;
}
