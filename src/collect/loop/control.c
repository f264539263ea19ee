/* SPDX-License-Identifier: MIT */
#include "collect/loop/control.h"

#include "collect/loop/kernel_stacks.h"
#include "collect/loop/output.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The asker may be in another folder than we are. */
static const char *full_path(const char *path, char to[PATH_MAX])
{
    return realpath(path, to) == NULL ? path : to;
}

/* ---- pause */

static void pause_all(struct wndl_controller *c, bool paused)
{
    uint64_t now = wndl_clock_monotonic_ns();
    struct wndl_run *run = c->run;
    c->begin_at = UINT64_MAX;
    if (run->paused == paused)
        return;
    run->paused = paused;
    /* Not set yet: the delay at the start ends here. */
    if (!paused && run->request.duration != 0 && c->end_at == UINT64_MAX)
        c->end_at = now + run->request.duration;
    wndl_processes_pause(c->processes, paused, now);
    wndl_processes_drain(c->processes);
    wndl_recording_paused(&run->recording, now, paused);
}

/* ---- times */

void wndl_controller_begin(struct wndl_controller *c)
{
    uint64_t now = wndl_clock_monotonic_ns();
    const struct wndl_collector_request *r = &c->run->request;
    if (r->delay != 0) {
        pause_all(c, true);
        c->begin_at = now + r->delay;
    } else if (r->duration != 0) {
        c->end_at = now + r->duration;
    }
}

uint64_t wndl_controller_turn(struct wndl_controller *c, uint64_t now)
{
    if (now >= c->begin_at)
        pause_all(c, false);
    if (now >= c->end_at)
        c->run->stopped = true;
    return c->begin_at < c->end_at ? c->begin_at : c->end_at;
}

/* ---- dump */

/* "app.wndl" -> "app.1.wndl". */
static void dump_name(const struct wndl_controller *c, char to[PATH_MAX])
{
    static const char suffix[] = ".wndl";
    size_t size = strlen(c->run->path);
    size_t cut = sizeof suffix - 1;
    bool has = size > cut && strcmp(c->run->path + size - cut, suffix) == 0;
    snprintf(to, PATH_MAX, "%.*s.%u%s", (int)(has ? size - cut : size),
        c->run->path, c->dumps, has ? suffix : "");
}

static int open_dump(struct wndl_controller *c, char path[PATH_MAX])
{
    int fd;
    do {
        c->dumps++;
        dump_name(c, path);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static void dump_kept(struct wndl_controller *c, int socket)
{
    const struct wndl_recording_done done = {
        .status = WNDL_STATUS_UNKNOWN,
        .processes = c->run->totals.processes,
        .unrecorded = c->run->totals.unrecorded,
        .interrupted_calls = c->run->totals.interrupted_calls,
    };
    char path[PATH_MAX];
    char full[PATH_MAX];
    char text[512];
    struct wndl_error err = {0};
    int fd = open_dump(c, path);
    if (fd < 0) {
        wndl_control_answer(
            socket, WNDL_CONTROL_FAILED, "%s: %s", path, strerror(errno));
        return;
    }
    if (wndl_recording_dump(&c->run->recording, fd, &done, &err) == WNDL_OK)
        wndl_control_answer(
            socket, WNDL_CONTROL_DONE, "%s", full_path(path, full));
    else {
        wndl_control_answer(socket, WNDL_CONTROL_FAILED, "%s: %s", path,
            wndl_error_text(&err, text, sizeof text));
        (void)unlink(path);
    }
    close(fd);
}

static bool is_written(const struct wndl_controller *c)
{
    return c->run->recording.write_error == 0 &&
           c->run->recording.status == WNDL_OK;
}

static void dump(struct wndl_controller *c, int socket)
{
    char full[PATH_MAX];
    wndl_processes_drain(c->processes);
    wndl_processes_settle(c->processes);
    wndl_kernel_stacks_name(c->processes->kernel);
    wndl_processes_snapshot(c->processes);
    if (c->run->recording.tail.bytes != NULL) {
        dump_kept(c, socket);
        return;
    }
    wndl_output_flush(c->processes);
    if (!is_written(c))
        wndl_control_answer(socket, WNDL_CONTROL_FAILED,
            "cannot write %s: %s; it ends where the disk was full",
            full_path(c->run->path, full),
            strerror(c->run->recording.write_error));
    else
        wndl_control_answer(
            socket, WNDL_CONTROL_DONE, "%s", full_path(c->run->path, full));
}

/* ---- the others */

/* "; 1.5 MB live in 12 blocks", if any heap is recorded. */
static void heap_status(
    const struct wndl_controller *c, char *text, size_t size)
{
    struct wndl_collector_heap_totals heap = {0};
    wndl_processes_add_heaps(c->processes, &heap);
    text[0] = '\0';
    if (c->run->request.heap.flags != 0)
        snprintf(text, size,
            "; %.1f kB live in %" PRIu64 " block%s, of %" PRIu64 " allocated",
            (double)heap.live_bytes / 1e3, heap.live_blocks,
            heap.live_blocks == 1 ? "" : "s", heap.allocs);
}

/* "; it cannot be written: No space left on device, ...", if so. */
static void writing_status(
    const struct wndl_controller *c, char *text, size_t size)
{
    const struct wndl_recording *r = &c->run->recording;
    text[0] = '\0';
    if (!is_written(c))
        snprintf(text, size,
            "; the file cannot be written: %s, %" PRIu64 " sample%s lost%s",
            strerror(r->write_error), r->lost_before + r->unwritten,
            r->lost_before + r->unwritten == 1 ? "" : "s",
            r->status == WNDL_OK ? " so far" : ", the recording has ended");
}

static void send_status(const struct wndl_controller *c, int socket)
{
    char full[PATH_MAX];
    char heap[120];
    char writing[200];
    const struct wndl_recording *r = &c->run->recording;
    uint64_t time = wndl_clock_monotonic_ns() - c->run->recording.time_base;
    heap_status(c, heap, sizeof heap);
    writing_status(c, writing, sizeof writing);
    wndl_control_answer(socket, WNDL_CONTROL_DONE,
        "%s %s for %.1f s: %" PRIu64 " samples, %" PRIu32 " of %" PRIu32
        " processes run%s%s%s",
        c->run->paused ? "paused:" : "recording", full_path(c->run->path, full),
        (double)time / 1e9, wndl_recording_kept(r),
        wndl_processes_running(c->processes), c->run->totals.processes, heap,
        c->run->paused && heap[0] != '\0' ? "; heaps do not pause" : "",
        writing);
}

/* The answer comes when the file is whole. */
static void stop(struct wndl_controller *c, int socket)
{
    c->run->stopped = true;
    if (c->asker >= 0)
        close(c->asker);
    c->asker = socket;
}

void wndl_controller_send_end(struct wndl_controller *c, bool well)
{
    char full[PATH_MAX];
    if (c->asker < 0)
        return;
    wndl_control_answer(c->asker,
        well ? WNDL_CONTROL_DONE : WNDL_CONTROL_FAILED, "%s",
        full_path(c->run->path, full));
    close(c->asker);
    c->asker = -1;
}

static bool is_ours(const struct wndl_controller *c, pid_t pid)
{
    return pid == getpid() || pid == c->run->spawn.pid ||
           wndl_processes_find(c->processes, pid) != NULL;
}

int wndl_controller_take(
    struct wndl_controller *c, int socket, const struct wndl_control *asked)
{
    if (!is_ours(c, (pid_t)asked->pid)) {
        wndl_control_answer(socket, WNDL_CONTROL_NOT_MINE, "not mine");
        return socket;
    }
    switch (asked->verb) {
    case WNDL_CONTROL_START:
    case WNDL_CONTROL_PAUSE:
        pause_all(c, asked->verb == WNDL_CONTROL_PAUSE);
        send_status(c, socket);
        return socket;
    case WNDL_CONTROL_STATUS:
        send_status(c, socket);
        return socket;
    case WNDL_CONTROL_DUMP:
        dump(c, socket);
        return socket;
    case WNDL_CONTROL_STOP:
        stop(c, socket);
        return -1;
    default:
        wndl_control_answer(
            socket, WNDL_CONTROL_FAILED, "this recorder does not support that");
        return socket;
    }
}
