/* SPDX-License-Identifier: MIT */
/*
 * loop: waits for descriptors and calls who waits for them. It must not know
 * whose they are.
 */
#ifndef WNDL_COLLECT_LOOP_LOOP_H
#define WNDL_COLLECT_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct wndl_loop {
    int poll; /* -1: not open */
};

/* What a descriptor stands for: `ready` is called when it can be read. */
struct wndl_source {
    void (*ready)(void *owner);
    void *owner;
};

bool wndl_loop_open(struct wndl_loop *loop);

/* `source` lives until its descriptor is no longer watched. */
bool wndl_loop_watch(
    const struct wndl_loop *loop, int fd, struct wndl_source *source);

void wndl_loop_unwatch(const struct wndl_loop *loop, int fd);

/* Waits for a descriptor, from `now` at most until then, and sees to it.
 * CLOCK_MONOTONIC ns. */
void wndl_loop_wait(const struct wndl_loop *loop, uint64_t now, uint64_t until);

#endif
