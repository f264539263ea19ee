/* SPDX-License-Identifier: MIT */
#include "collect/loop/collector_impl.h"
#include "os/clock.h"

#include <sys/epoll.h>

#define NS_PER_MS UINT64_C(1000000)

enum { DRAIN_EVERY_MS = 100 };

bool wndl_loop_watch(
    struct wndl_collector *c, int fd, struct wndl_source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void wndl_loop_unwatch(struct wndl_collector *c, int fd)
{
    (void)epoll_ctl(c->poll, EPOLL_CTL_DEL, fd, NULL);
}

static void handle(struct wndl_collector *c, const struct wndl_source *source)
{
    switch (source->kind) {
    case WNDL_SOURCE_SIGNAL:
        wndl_signals_take(c);
        break;
    case WNDL_SOURCE_LISTENER:
        wndl_processes_accept(c);
        break;
    case WNDL_SOURCE_SOCKET:
        wndl_processes_on_message(c, source->live);
        break;
    case WNDL_SOURCE_END:
        wndl_processes_end(c, source->live, WNDL_ENDED_EXIT);
        break;
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What has its time; when the next has. */
static uint64_t see_to_the_clock(struct wndl_collector *c, uint64_t now)
{
    if (now >= c->begin_at)
        wndl_control_pause(c, false);
    if (now >= c->end_at)
        c->stopped = true;
    if (now >= c->drain) {
        wndl_processes_drain(c);
        wndl_unrecorded_look(c);
        wndl_collector_flush(c);
        wndl_collector_report(c);
        c->drain = now + DRAIN_EVERY_MS * NS_PER_MS;
    }
    uint64_t next = earlier(c->begin_at, c->end_at);
    next = earlier(next, c->drain);
    return earlier(next, wndl_processes_turn(c, now));
}

/* One event at a time: handling one may take away what others point to. */
void wndl_loop_turn(struct wndl_collector *c, uint64_t until)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t next = see_to_the_clock(c, now);
    next = earlier(next, until);
    uint64_t wait = next <= now ? 0 : (next - now + NS_PER_MS - 1) / NS_PER_MS;
    struct epoll_event event;
    if (epoll_wait(c->poll, &event, 1, (int)wait) == 1)
        handle(c, event.data.ptr);
}
