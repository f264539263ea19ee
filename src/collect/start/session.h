/* SPDX-License-Identifier: MIT */
/*
 * collector_session: the private folder with the socket where recorded
 * processes report, and the collector's side of the messages of rec/shm.h.
 */
#ifndef WNDL_COLLECT_START_SESSION_H
#define WNDL_COLLECT_START_SESSION_H

#include "base/status.h"
#include "collect/start/control.h"
#include "rec/shm.h"

#include <sys/socket.h>
#include <sys/types.h>

/* The size of sun_path in struct sockaddr_un, unix(7). */
enum { WNDL_SOCKET_PATH_MAX = 108 };

/* The prefix of the folders' names. */
#define WNDL_SESSION_FOLDER "windlass-"

struct wndl_session {
    char folder[WNDL_SOCKET_PATH_MAX - sizeof "/socket"];
    char socket_path[WNDL_SOCKET_PATH_MAX];
    int listener; /* non-blocking, close-on-exec */
    int nameless; /* the same, for those who cannot reach the folder */
    int lock;     /* lock on a file in the folder, held while we live */
};

/*
 * Makes the folder, which only this user may enter, and the socket. Removes
 * folders of recorders that were killed.
 */
enum wndl_status wndl_session_open(
    struct wndl_session *session, struct wndl_error *err) WNDL_MUST_USE;

/* Removes both. */
void wndl_session_close(struct wndl_session *session);

/* Accepts a process; -1: none. *peer is the kernel's answer. */
int wndl_session_accept(int listener, struct ucred *peer);

/*
 * The first message: a hello, or a request. A hello of another version may have
 * any contents; its runtime is made to refuse for that reason.
 */
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

/*
 * Sends the answer to a hello, with the descriptor `memfd`, which stays the
 * caller's. False when the process went away.
 */
bool wndl_session_go(int socket, const struct wndl_go *go, int memfd);

/*
 * Puts the settings beside the socket, for processes that begin alone. False,
 * with errno, on failure.
 */
bool wndl_session_settings(
    const struct wndl_session *session, const struct wndl_settings *settings);

/* Lets processes wait for us again: one that did not has been heard. */
void wndl_session_be_patient(const struct wndl_session *session);

/* The message after the hello, or after its answer. */
struct wndl_session_message {
    enum {
        WNDL_SESSION_NOTHING, /* none so far */
        WNDL_SESSION_OVER,    /* the process went away */
        WNDL_SESSION_READY,
        WNDL_SESSION_LATE,
    } kind;
    union {
        struct wndl_ready ready;
        struct wndl_late late;
    };
    int fd; /* the descriptor that it passed, for the caller to close; or -1 */
};

/* Receives it, without a wait. */
void wndl_session_next(int socket, struct wndl_session_message *message);

#endif
