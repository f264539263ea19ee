/* SPDX-License-Identifier: MIT */
/*
 * collector_spawn: the command's process, held back until the recording is
 * ready. Apart from two environment variables it starts as a shell would start
 * it: with the same descriptors, signal mask and dispositions, and process
 * group.
 */
#ifndef WNDL_COLLECT_START_SPAWN_H
#define WNDL_COLLECT_START_SPAWN_H

#include "base/status.h"

#include <signal.h>
#include <sys/types.h>

struct wndl_spawn {
    pid_t pid;
    int hold;    /* a byte lets the child run; closing it ends the child */
    int failure; /* read end: the errno of exec, or end of file */
};

struct wndl_spawn_request {
    char **command; /* ends with NULL */
    /* to be preloaded; NULL: the environment is unchanged */
    const char *runtime;
    const char *session; /* path of the socket */
    sigset_t mask;       /* the command's signal mask */
};

/* Forks; the child waits. `request` is only read during the call. */
enum wndl_status wndl_spawn_fork(const struct wndl_spawn_request *request,
    struct wndl_spawn *spawn, struct wndl_error *err) WNDL_MUST_USE;

/* Lets the child run the command. Returns 0, or the errno of exec. */
int wndl_spawn_exec(struct wndl_spawn *spawn);

/* Ends the child before it has run anything. */
void wndl_spawn_cancel(struct wndl_spawn *spawn);

/*
 * In a forked child of ours that goes on without its caller: a session of its
 * own, no standard streams, none of the caller's descriptors.
 */
void wndl_spawn_leave_caller(void);

#endif
