/* SPDX-License-Identifier: MIT */
/*
 * loop: waits for descriptors and calls their owners. It must not know what
 * they are.
 */
#ifndef WNDL_COLLECT_LOOP_LOOP_H
#define WNDL_COLLECT_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct wndl_loop {
    int poll; /* epoll(7); -1: not open */
};

/* The owner of a descriptor. `ready` is called when it can be read. */
struct wndl_source {
    void (*ready)(void *owner);
    void *owner;
};

/* Opens the loop. False, with errno, on failure. */
bool wndl_loop_open(struct wndl_loop *loop);

/*
 * Watches `fd`, and calls `source` when it can be read. `source` outlives
 * wndl_loop_unwatch. False, with errno, on failure.
 */
bool wndl_loop_watch(
    const struct wndl_loop *loop, int fd, struct wndl_source *source);

/* Stops to watch `fd`, before it is closed. */
void wndl_loop_unwatch(const struct wndl_loop *loop, int fd);

/*
 * Waits for a descriptor until `until` at most, and calls those that are ready.
 * CLOCK_MONOTONIC ns.
 */
void wndl_loop_wait(const struct wndl_loop *loop, uint64_t now, uint64_t until);

#endif
