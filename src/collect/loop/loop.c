/* SPDX-License-Identifier: MIT */
#include "collect/loop/loop.h"

#include <stddef.h>
#include <sys/epoll.h>

#define NS_PER_MS UINT64_C(1000000)

bool wndl_loop_open(struct wndl_loop *loop)
{
    loop->poll = epoll_create1(EPOLL_CLOEXEC);
    return loop->poll >= 0;
}

bool wndl_loop_watch(
    const struct wndl_loop *loop, int fd, struct wndl_source *source)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(loop->poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void wndl_loop_unwatch(const struct wndl_loop *loop, int fd)
{
    (void)epoll_ctl(loop->poll, EPOLL_CTL_DEL, fd, NULL);
}

/* One event at a time: handling one may free what the others point to. */
void wndl_loop_wait(const struct wndl_loop *loop, uint64_t now, uint64_t until)
{
    uint64_t wait =
        until <= now ? 0 : (until - now + NS_PER_MS - 1) / NS_PER_MS;
    struct epoll_event event;
    if (epoll_wait(loop->poll, &event, 1, (int)wait) != 1)
        return;
    const struct wndl_source *source = event.data.ptr;
    source->ready(source->owner);
}
