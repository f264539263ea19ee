/* SPDX-License-Identifier: MIT */
/*
 * control: what can be done to a recording while it runs, and at its times.
 */
#ifndef WNDL_COLLECT_LOOP_CONTROL_H
#define WNDL_COLLECT_LOOP_CONTROL_H

#include "collect/loop/processes.h"

struct wndl_controller {
    struct wndl_run *run;
    struct wndl_processes *processes;
    uint64_t begin_at; /* CLOCK_MONOTONIC ns: the pause at the start ends */
    uint64_t end_at;   /* the recording does */
    unsigned dumps;
    int asker; /* waits to hear of the end of the recording; -1 */
};

/* Begins with the delay and the duration that were asked for. */
void wndl_controller_begin(struct wndl_controller *controller);

/* Does what has its time; when the next has. */
uint64_t wndl_controller_turn(struct wndl_controller *controller, uint64_t now);

/*
 * Does what was asked for and answers. Returns the socket, or -1 when it is
 * kept for an answer at the end.
 */
int wndl_controller_take(struct wndl_controller *controller, int socket,
    const struct wndl_control *asked);

/* Answers who asked for the end, which went well or not. */
void wndl_controller_tell_end(struct wndl_controller *controller, bool well);

#endif
