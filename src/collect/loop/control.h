/* SPDX-License-Identifier: MIT */
/* control: requests to a running recording, and its delay and duration. */
#ifndef WNDL_COLLECT_LOOP_CONTROL_H
#define WNDL_COLLECT_LOOP_CONTROL_H

#include "collect/loop/processes.h"

struct wndl_controller {
    struct wndl_run *run;
    struct wndl_processes *processes;
    uint64_t begin_at; /* CLOCK_MONOTONIC ns of the end of the first pause */
    uint64_t end_at;   /* CLOCK_MONOTONIC ns of the end of the recording */
    unsigned dumps;
    int asker; /* socket that waits for the recording's end; -1: none */
};

/* Sets the times of the requested delay and duration. */
void wndl_controller_begin(struct wndl_controller *controller);

/*
 * Runs what is due at `now`; returns when the next is due. CLOCK_MONOTONIC ns.
 */
uint64_t wndl_controller_turn(struct wndl_controller *controller, uint64_t now);

/*
 * Carries out a request and answers. Returns the socket for the caller to
 * close, or -1 if it is kept for an answer at the end.
 */
int wndl_controller_take(struct wndl_controller *controller, int socket,
    const struct wndl_control *asked);

/*
 * Answers the request to stop, if there is one. `well`: the recording is whole.
 */
void wndl_controller_send_end(struct wndl_controller *controller, bool well);

#endif
