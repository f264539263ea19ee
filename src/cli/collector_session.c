/* SPDX-License-Identifier: MIT */
#include "cli/collector_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

/*
 * $XDG_RUNTIME_DIR is the user's own; /tmp is for everyone, which the mode of
 * the folder answers. A socket's path has little room.
 */
static bool make_folder(struct wndl_session *session)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *roots[] = {runtime, "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        if (roots[i] == NULL || roots[i][0] != '/')
            continue;
        int size = snprintf(session->folder, sizeof session->folder,
            "%s/windlass-XXXXXX", roots[i]);
        bool fits = size > 0 && (size_t)size < sizeof session->folder;
        if (fits && mkdtemp(session->folder) != NULL)
            return true;
    }
    return false;
}

static bool listen_at(struct wndl_session *session)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(session->socket_path, sizeof session->socket_path, "%s/socket",
        session->folder);
    memcpy(address.sun_path, session->socket_path,
        strlen(session->socket_path) + 1);
    session->listener =
        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return session->listener >= 0 &&
           bind(session->listener, (struct sockaddr *)&address,
               sizeof address) == 0 &&
           listen(session->listener, BACKLOG) == 0;
}

enum wndl_status wndl_session_open(
    struct wndl_session *session, struct wndl_error *err)
{
    *session = (struct wndl_session){.listener = -1};
    if (!make_folder(session))
        return wndl_fail_errno(
            err, errno, "cannot make a folder for the recording's socket");
    if (listen_at(session))
        return WNDL_OK;
    enum wndl_status status =
        wndl_fail_errno(err, errno, "cannot listen on the recording's socket");
    wndl_session_close(session);
    return status;
}

void wndl_session_close(struct wndl_session *session)
{
    if (session->listener >= 0)
        close(session->listener);
    session->listener = -1;
    unlink(session->socket_path);
    rmdir(session->folder);
}

int wndl_session_accept(const struct wndl_session *session, pid_t *pid)
{
    int fd =
        accept4(session->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.pid > 0) {
        *pid = peer.pid;
        return fd;
    }
    close(fd);
    return -1;
}

bool wndl_session_hello(int socket)
{
    struct wndl_hello hello;
    return recv(socket, &hello, sizeof hello, 0) == (ssize_t)sizeof hello &&
           hello.version == WNDL_SHM_VERSION;
}

/* Room for one descriptor beside a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool wndl_session_go(int socket, const struct wndl_go *go, int memfd)
{
    union control control = {0};
    struct iovec part = {(void *)go, sizeof *go};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    control.header.cmsg_len = CMSG_LEN(sizeof memfd);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&control.header), &memfd, sizeof memfd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *go;
}

bool wndl_session_ready(int socket, struct wndl_ready *ready, int *event_fd)
{
    union control control = {0};
    struct iovec part = {ready, sizeof *ready};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    *event_fd = -1;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got >= 0 && control.header.cmsg_len == CMSG_LEN(sizeof(int)) &&
        control.header.cmsg_level == SOL_SOCKET &&
        control.header.cmsg_type == SCM_RIGHTS)
        memcpy(event_fd, CMSG_DATA(&control.header), sizeof *event_fd);
    return got == (ssize_t)sizeof *ready;
}
