/* SPDX-License-Identifier: MIT */
#include "collect/process/reporters.h"

#include "os/clock.h"
#include "os/memory_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* For how long polled reporters may wait for the program's polls. */
enum { POLLS_MS = 1000 };

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

/* The answer's text is not needed. False: it does not end in time. */
static bool await_end(int fd, uint64_t end)
{
    char text[64 * 1024];
    struct pollfd one = {.fd = fd, .events = POLLIN};
    ssize_t got = -1;
    while (got != 0) {
        const int ready = poll(&one, 1, milliseconds_until(end));
        if (ready == 0)
            return false;
        got = recv(fd, text, sizeof text, MSG_DONTWAIT);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return true; /* it has died */
    }
    return true;
}

bool wndl_reporters_run(pid_t pid, uint64_t patience)
{
    const uint64_t end = wndl_clock_monotonic_ns() + patience;
    bool is_first = true;
    bool in_time = true;
    for (unsigned name = 0; name < WNDL_MEMORY_SOCKETS && in_time; name++) {
        bool is_busy = false;
        const int fd = wndl_memory_socket_connect(pid, name, &is_busy);
        if (fd < 0)
            continue;
        in_time = ask(fd, is_first) && await_end(fd, end);
        is_first = false;
        close(fd);
    }
    return in_time;
}
