/* SPDX-License-Identifier: MIT */
/*
 * collector_session: the private folder with the socket where recorded
 * processes report, and the messages of rec/shm.h on the collector's side.
 */
#ifndef WNDL_CLI_COLLECTOR_SESSION_H
#define WNDL_CLI_COLLECTOR_SESSION_H

#include "base/status.h"
#include "rec/shm.h"

#include <sys/types.h>

/* sun_path of struct sockaddr_un, unix(7). */
enum { WNDL_SOCKET_PATH_MAX = 108 };

struct wndl_session {
    char folder[WNDL_SOCKET_PATH_MAX - sizeof "/socket"];
    char socket_path[WNDL_SOCKET_PATH_MAX];
    int listener; /* non-blocking, close-on-exec */
};

/* Makes folder and socket; only this user may enter. */
enum wndl_status wndl_session_open(
    struct wndl_session *session, struct wndl_error *err) WNDL_MUST_USE;

/* Takes them away. */
void wndl_session_close(struct wndl_session *session);

/* A process that wants to report, or -1; *pid is what the kernel says. */
int wndl_session_accept(const struct wndl_session *session, pid_t *pid);

/* Whether a hello of our version has come. */
bool wndl_session_hello(int socket);

bool wndl_session_go(int socket, const struct wndl_go *go, int memfd);

/* False when the process went away. *event_fd is what it passed, or -1. */
bool wndl_session_ready(int socket, struct wndl_ready *ready, int *event_fd);

#endif
