/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "collect/process/reporters.h"

#include "os/clock.h"
#include "os/memory_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* For how long polled reporters may wait for the program's polls. */
enum { POLLS_MS = 3000 };

static bool ask(int fd, bool is_first)
{
    char text[64];
    const int size = snprintf(text, sizeof text, "windlass-memory 1 %d %d\n",
        WNDL_ASK_MARKED | (is_first ? WNDL_ASK_NEW_RUN : 0), POLLS_MS);
    return send(fd, text, (size_t)size, MSG_NOSIGNAL) == size;
}

static int milliseconds_until(uint64_t end)
{
    const uint64_t now = wndl_clock_monotonic_ns();
    return now >= end ? 0 : (int)((end - now) / 1000000) + 1;
}

/* An answer: its end, which may have a part of what is searched for. */
struct answer {
    char text[64 * 1024];
    size_t kept;
};

/* The reporters that did not run, from the whole answer. */
static void find_missed(
    struct answer *a, size_t size, char missed[WNDL_REPORTER_NAME])
{
    static const char start[] = "\"missing\": \"";
    enum { START = sizeof start - 1, MOST = START + WNDL_REPORTER_NAME };
    const char *at = memmem(a->text, size, start, START);
    const char *name = at == NULL ? NULL : at + START;
    const size_t left = at == NULL ? 0 : size - (size_t)(name - a->text);
    const char *quote = left == 0 ? NULL : memchr(name, '"', left);
    size_t length = quote == NULL ? left : (size_t)(quote - name);
    a->kept = size < MOST ? size : MOST;
    if (missed[0] == '\0' && (quote != NULL || length >= WNDL_REPORTER_NAME)) {
        length = length < WNDL_REPORTER_NAME ? length : WNDL_REPORTER_NAME - 1;
        memcpy(missed, name, length);
        missed[length] = '\0';
    }
    memmove(a->text, a->text + size - a->kept, a->kept);
}

/* False: it does not end in time. */
static bool await_end(int fd, uint64_t end, char missed[WNDL_REPORTER_NAME])
{
    struct answer a = {.kept = 0};
    struct pollfd one = {.fd = fd, .events = POLLIN};
    ssize_t got = -1;
    while (got != 0) {
        const int ready = poll(&one, 1, milliseconds_until(end));
        if (ready == 0)
            return false;
        got = recv(fd, a.text + a.kept, sizeof a.text - a.kept, MSG_DONTWAIT);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return true; /* it has died */
        if (got > 0)
            find_missed(&a, a.kept + (size_t)got, missed);
    }
    return true;
}

bool wndl_reporters_run(
    pid_t pid, uint64_t patience, char missed[WNDL_REPORTER_NAME])
{
    const uint64_t end = wndl_clock_monotonic_ns() + patience;
    bool is_first = true;
    bool in_time = true;
    missed[0] = '\0';
    for (unsigned name = 0; name < WNDL_MEMORY_SOCKETS && in_time; name++) {
        bool is_busy = false;
        const int fd = wndl_memory_socket_connect(pid, name, &is_busy);
        if (fd < 0)
            continue;
        in_time = ask(fd, is_first) && await_end(fd, end, missed);
        is_first = false;
        close(fd);
    }
    return in_time;
}
