/* SPDX-License-Identifier: MIT */
/*
 * collector_spawn: the command's process, held back until the recording is
 * ready. Apart from two environment variables it is started as a shell would
 * have: same descriptors, signal mask and dispositions, and process group.
 */
#ifndef WNDL_COLLECT_START_SPAWN_H
#define WNDL_COLLECT_START_SPAWN_H

#include "base/status.h"

#include <signal.h>
#include <sys/types.h>

struct wndl_spawn {
    pid_t pid;
    int hold;    /* closed or written to: let it go */
    int failure; /* the errno of exec comes here, or nothing */
};

struct wndl_spawn_request {
    char **command;      /* ends with NULL */
    const char *runtime; /* to be preloaded; NULL: the command is left alone */
    const char *session; /* path of the socket */
    sigset_t mask;       /* the command's */
};

/* Forks; the child waits. */
enum wndl_status wndl_spawn_fork(const struct wndl_spawn_request *request,
    struct wndl_spawn *spawn, struct wndl_error *err) WNDL_MUST_USE;

/* Lets the child run the command. Returns 0, or why it cannot be run. */
int wndl_spawn_exec(struct wndl_spawn *spawn);

/* Makes the child go away without having run anything. */
void wndl_spawn_cancel(struct wndl_spawn *spawn);

#endif
