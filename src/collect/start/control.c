/* SPDX-License-Identifier: MIT */
/*
 * The answering side of control.h, and what can be done to a recording while
 * it runs.
 */
#include "collect/start/control.h"

#include "collect/loop/collector_impl.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void answer(int socket, char letter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void answer(int socket, char letter, const char *format, ...)
{
    char line[WNDL_CONTROL_LINE - 1] = {letter};
    va_list args;
    va_start(args, format);
    vsnprintf(line + 1, sizeof line - 1, format, args);
    va_end(args);
    (void)send(socket, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The asker may be in another folder than we are. */
static const char *full_path(const char *path, char to[PATH_MAX])
{
    return realpath(path, to) == NULL ? path : to;
}

/* ---- pause */

void wndl_control_pause(struct wndl_collector *c, bool paused)
{
    uint64_t now = wndl_clock_monotonic_ns();
    c->begin_at = UINT64_MAX;
    if (c->paused == paused)
        return;
    c->paused = paused;
    /* Not set yet: the delay at the start ends with this. */
    if (!paused && c->request.duration != 0 && c->end_at == UINT64_MAX)
        c->end_at = now + c->request.duration;
    wndl_processes_pause(c, paused, now);
    wndl_processes_drain(c);
    wndl_recording_paused(&c->recording, now, paused);
}

/* ---- dump */

/* "app.wndl" -> "app.1.wndl". */
static void dump_name(const struct wndl_collector *c, char to[PATH_MAX])
{
    static const char suffix[] = ".wndl";
    size_t size = strlen(c->path);
    size_t cut = sizeof suffix - 1;
    bool has = size > cut && strcmp(c->path + size - cut, suffix) == 0;
    snprintf(to, PATH_MAX, "%.*s.%u%s", (int)(has ? size - cut : size), c->path,
        c->dumps, has ? suffix : "");
}

static int open_dump(struct wndl_collector *c, char path[PATH_MAX])
{
    int fd;
    do {
        c->dumps++;
        dump_name(c, path);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static void dump_kept(struct wndl_collector *c, int socket)
{
    const struct wndl_recording_done done = {
        .status = WNDL_STATUS_UNKNOWN,
        .processes = c->totals.processes,
        .unrecorded = c->totals.unrecorded,
        .interrupted_calls = c->totals.interrupted_calls,
    };
    char path[PATH_MAX];
    char full[PATH_MAX];
    char text[512];
    struct wndl_error err = {0};
    int fd = open_dump(c, path);
    if (fd < 0) {
        answer(socket, WNDL_CONTROL_FAILED, "%s: %s", path, strerror(errno));
        return;
    }
    if (wndl_recording_dump(&c->recording, fd, &done, &err) == WNDL_OK)
        answer(socket, WNDL_CONTROL_DONE, "%s", full_path(path, full));
    else
        answer(socket, WNDL_CONTROL_FAILED, "%s: %s", path,
            wndl_error_text(&err, text, sizeof text));
    close(fd);
}

static void dump(struct wndl_collector *c, int socket)
{
    char full[PATH_MAX];
    wndl_processes_drain(c);
    wndl_processes_settle(c);
    wndl_processes_snapshot(c);
    if (c->recording.tail.bytes != NULL) {
        dump_kept(c, socket);
        return;
    }
    wndl_collector_flush(c);
    answer(socket, WNDL_CONTROL_DONE, "%s", full_path(c->path, full));
}

/* ---- the others */

/* "; 1.5 MB live in 12 blocks", if any heap is recorded. */
static void heap_status(const struct wndl_collector *c, char *text, size_t size)
{
    struct wndl_collector_heap_totals heap = {0};
    wndl_processes_add_heaps(c, &heap);
    text[0] = '\0';
    if (c->request.heap.flags != 0)
        snprintf(text, size,
            "; %.1f kB live in %" PRIu64 " block%s, of %" PRIu64 " allocated",
            (double)heap.live_bytes / 1e3, heap.live_blocks,
            heap.live_blocks == 1 ? "" : "s", heap.allocs);
}

static void tell_status(const struct wndl_collector *c, int socket)
{
    char full[PATH_MAX];
    char heap[120];
    uint64_t time = wndl_clock_monotonic_ns() - c->recording.time_base;
    heap_status(c, heap, sizeof heap);
    answer(socket, WNDL_CONTROL_DONE,
        "%s %s for %.1f s: %" PRIu64 " samples, %" PRIu32 " of %" PRIu32
        " processes run%s%s",
        c->paused ? "paused:" : "recording", full_path(c->path, full),
        (double)time / 1e9, c->totals.samples - c->recording.tail.discarded,
        wndl_processes_running(c), c->totals.processes, heap,
        c->paused && heap[0] != '\0' ? "; heaps do not pause" : "");
}

/* The answer comes when the file is whole. */
static void stop(struct wndl_collector *c, int socket)
{
    c->stopped = true;
    if (c->asker >= 0)
        close(c->asker);
    c->asker = socket;
}

void wndl_control_tell_end(struct wndl_collector *c)
{
    char full[PATH_MAX];
    if (c->asker < 0)
        return;
    answer(c->asker,
        c->outcome == WNDL_OK ? WNDL_CONTROL_DONE : WNDL_CONTROL_FAILED, "%s",
        full_path(c->path, full));
    close(c->asker);
    c->asker = -1;
}

static bool is_ours(const struct wndl_collector *c, pid_t pid)
{
    return pid == getpid() || pid == c->spawn.pid ||
           wndl_processes_find(c, pid) != NULL;
}

int wndl_control_take(
    struct wndl_collector *c, int socket, const struct wndl_control *asked)
{
    if (!is_ours(c, (pid_t)asked->pid)) {
        answer(socket, WNDL_CONTROL_NOT_MINE, "not mine");
        return socket;
    }
    switch (asked->verb) {
    case WNDL_CONTROL_START:
    case WNDL_CONTROL_PAUSE:
        wndl_control_pause(c, asked->verb == WNDL_CONTROL_PAUSE);
        tell_status(c, socket);
        return socket;
    case WNDL_CONTROL_STATUS:
        tell_status(c, socket);
        return socket;
    case WNDL_CONTROL_DUMP:
        dump(c, socket);
        return socket;
    case WNDL_CONTROL_STOP:
        stop(c, socket);
        return -1;
    default:
        answer(socket, WNDL_CONTROL_FAILED, "this recorder cannot do that");
        return socket;
    }
}
