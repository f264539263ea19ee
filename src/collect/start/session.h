/* SPDX-License-Identifier: MIT */
/*
 * collector_session: the private folder with the socket where recorded
 * processes report, and the messages of rec/shm.h on the collector's side.
 */
#ifndef WNDL_COLLECT_START_SESSION_H
#define WNDL_COLLECT_START_SESSION_H

#include "base/status.h"
#include "collect/start/control.h"
#include "rec/shm.h"

#include <sys/types.h>

/* sun_path of struct sockaddr_un, unix(7). */
enum { WNDL_SOCKET_PATH_MAX = 108 };

/* What the names of the folders begin with. */
#define WNDL_SESSION_FOLDER "windlass-"

struct wndl_session {
    char folder[WNDL_SOCKET_PATH_MAX - sizeof "/socket"];
    char socket_path[WNDL_SOCKET_PATH_MAX];
    int listener; /* non-blocking, close-on-exec */
    int lock;     /* of a file in the folder, while we live */
};

/* Where such a folder is made: the first choice, the second; NULL: none. */
const char *wndl_session_root(unsigned choice);

/*
 * Makes folder and socket; only this user may enter. Takes away what recorders
 * that were killed have left.
 */
enum wndl_status wndl_session_open(
    struct wndl_session *session, struct wndl_error *err) WNDL_MUST_USE;

/* Takes them away. */
void wndl_session_close(struct wndl_session *session);

/* A process that wants to report, or -1; *pid is what the kernel says. */
int wndl_session_accept(const struct wndl_session *session, pid_t *pid);

/* What has come first: a hello, or a question. A runtime of another version,
 * whose hello may say anything, is made to refuse for that. */
union wndl_session_first {
    struct wndl_hello hello;
    struct wndl_control control;
};
enum wndl_session_status {
    WNDL_SESSION_NOBODY,
    WNDL_SESSION_PROCESS,
    WNDL_SESSION_CONTROL,
};
enum wndl_session_status wndl_session_hear(
    int socket, union wndl_session_first *first);

bool wndl_session_go(int socket, const struct wndl_go *go, int memfd);

/* False when the process went away. *event_fd is what it passed, or -1. */
bool wndl_session_ready(int socket, struct wndl_ready *ready, int *event_fd);

#endif
