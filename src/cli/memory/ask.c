/* SPDX-License-Identifier: MIT */
#include "cli/memory/ask.h"

#include "cli/core/command.h"
#include "in/memory_reports.h"
#include "os/clock.h"
#include "os/memory_socket.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WINDOW = 64 << 10, MOST_BYTES = 256 << 20, LONGEST_S = 3600 };

/* A talk with a process. */
struct talk {
    struct wndl_memory_reports *reports;
    pid_t pid;
    uint64_t end; /* CLOCK_MONOTONIC, ns */
    double timeout;
    int fd;
    unsigned answers;
    uint64_t received; /* bytes of this answer */
    bool is_late, in_copy;
    bool is_busy; /* its queue was full */
    uint8_t window[WINDOW];
};

/* ---- what the process is */

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

/* ---- the talk */

static int milliseconds_left(const struct talk *t)
{
    const uint64_t now = wndl_clock_monotonic_ns();
    return now >= t->end ? 0 : (int)((t->end - now) / 1000000) + 1;
}

/* A struct wndl_json_more. */
static enum wndl_status receive(
    void *context, struct wndl_bytes *piece, struct wndl_error *err)
{
    struct talk *t = context;
    struct pollfd one = {.fd = t->fd, .events = POLLIN};
    int ready;
    do {
        ready = poll(&one, 1, milliseconds_left(t));
    } while (ready < 0 && errno == EINTR && milliseconds_left(t) > 0);
    if (ready <= 0) {
        t->is_late = true;
        return wndl_fail(err, WNDL_LIMIT, "the time is over");
    }
    if (t->received > MOST_BYTES)
        return wndl_fail(err, WNDL_LIMIT, "more than 256 MiB of reports");
    const ssize_t got = recv(t->fd, t->window, sizeof t->window, 0);
    if (got < 0 && errno != ECONNRESET)
        return wndl_fail_errno(err, errno, "cannot receive");
    *piece = (struct wndl_bytes){t->window, got < 0 ? 0 : (size_t)got};
    t->received += piece->size;
    return WNDL_OK;
}

/* Most of the time is for polls; the rest is for what they say. */
static bool put_question(const struct talk *t)
{
    char text[64];
    const int size = snprintf(text, sizeof text, "windlass-memory 1 %d %d\n",
        (t->answers == 1 ? WNDL_ASK_BUILT_IN : 0) |
            (t->in_copy ? WNDL_ASK_IN_COPY : 0),
        milliseconds_left(t) * 3 / 4);
    return send(t->fd, text, (size_t)size, MSG_NOSIGNAL) == size;
}

static void say_reporter(const struct talk *t, const char *what)
{
    const struct wndl_bytes name = t->reports->running;
    wndl_cli_error("process %d: its reporter '%.*s' %s", (int)t->pid,
        (int)(name.size > 200 ? 200 : name.size), (const char *)name.data,
        what);
}

/* Says why an answer is not whole. */
static void say_failure(const struct talk *t, const struct wndl_error *err)
{
    char what[64];
    const bool has_reporter = t->reports->running.size != 0;
    snprintf(what, sizeof what, "did not return within %g s", t->timeout);
    if (t->is_late && has_reporter)
        say_reporter(t, what);
    else if (t->is_late)
        wndl_cli_error("process %d %s", (int)t->pid,
            t->received == 0 ? "did not answer in time; it is stopped, or a "
                               "reporter of an earlier question still runs"
                             : "did not answer in time");
    else if (t->received == 0)
        wndl_cli_error("process %d gave no answer: only its own user and root "
                       "may ask",
            (int)t->pid);
    else if (err->status == WNDL_TRUNCATED && has_reporter)
        say_reporter(t, t->in_copy ? "ended the copy of the process"
                                   : "ended the process, or the answer");
    else
        wndl_cli_fail(err);
}

static bool hear_answer(struct talk *t)
{
    struct wndl_error err = {0};
    t->reports->running = (struct wndl_bytes){0};
    t->received = 0;
    if (put_question(t) && wndl_memory_reports_read_text(
                               t->reports, "", receive, t, &err) == WNDL_OK)
        return true;
    say_failure(t, &err);
    return false;
}

static void say_nobody(pid_t pid, bool is_busy)
{
    if (!is_there(pid))
        wndl_cli_error("there is no process %d", (int)pid);
    else if (is_busy)
        wndl_cli_error("process %d is busy: a reporter of an earlier question "
                       "still runs",
            (int)pid);
    else if (!wndl_memory_socket_is_near(pid))
        wndl_cli_error("process %d is in another network namespace, or has no "
                       "memory reports: try as root",
            (int)pid);
    else
        wndl_cli_error("process %d has no memory reports: its program does not "
                       "use windlass/memory.h, or is a child that has not "
                       "called wndl_memory_start() since fork()",
            (int)pid);
}

bool wndl_memory_ask(struct wndl_memory_reports *reports, pid_t pid,
    double timeout, bool in_copy)
{
    struct talk *t = malloc(sizeof *t);
    bool fine = t != NULL;
    if (t == NULL) {
        wndl_cli_error("out of memory");
        return false;
    }
    t->reports = reports;
    t->pid = pid;
    timeout = timeout > LONGEST_S ? LONGEST_S : timeout;
    t->timeout = timeout;
    t->end = wndl_clock_monotonic_ns() + (uint64_t)(timeout * 1e9);
    t->answers = 0;
    t->is_busy = false;
    t->is_late = false;
    t->in_copy = in_copy;
    for (unsigned name = 0; name < WNDL_MEMORY_SOCKETS && fine; name++) {
        t->fd = wndl_memory_socket_connect(pid, name, &t->is_busy);
        if (t->fd < 0)
            continue;
        t->answers++;
        fine = hear_answer(t);
        close(t->fd);
    }
    if (t->answers == 0)
        say_nobody(pid, t->is_busy);
    fine = fine && t->answers != 0;
    free(t);
    return fine;
}
