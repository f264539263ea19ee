/* SPDX-License-Identifier: MIT */
#include "collect/start/session.h"

#include "collect/start/root.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * As many processes may begin while we are stopped: the kernel's default limit
 * of a backlog.
 */
enum { BACKLOG = 4096, VERSIONS_MAX = 0xffff };

/* A socket's path must be short. */
static bool make_folder(struct wndl_session *session)
{
    for (unsigned i = 0; i < WNDL_SESSION_ROOTS; i++) {
        const char *root = wndl_session_root(i);
        if (root == NULL)
            continue;
        int size = snprintf(session->folder, sizeof session->folder,
            "%s/" WNDL_SESSION_FOLDER "XXXXXX", root);
        bool fits = size > 0 && (size_t)size < sizeof session->folder;
        if (fits && mkdtemp(session->folder) != NULL)
            return true;
    }
    session->folder[0] = '\0';
    return false;
}

/*
 * If a process can lock the file "lock" of a folder, the folder's recorder is
 * gone. The file gets that name only after it is locked.
 */
static bool lock_folder(struct wndl_session *session)
{
    char made[WNDL_SOCKET_PATH_MAX];
    char path[WNDL_SOCKET_PATH_MAX];
    snprintf(made, sizeof made, "%s/new", session->folder);
    snprintf(path, sizeof path, "%s/lock", session->folder);
    session->lock = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return session->lock >= 0 && flock(session->lock, LOCK_EX) == 0 &&
           rename(made, path) == 0;
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {
        "socket", "lock", "new", WNDL_SETTINGS_FILE, WNDL_LATE_FILE};
    char path[3 * WNDL_SOCKET_PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Other users may put a link to any folder into /tmp under such a name. */
static int open_own_folder(const char *folder)
{
    struct stat st;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid()))
        return fd;
    close(fd);
    return -1;
}

static void remove_if_left(const char *folder)
{
    int own = open_own_folder(folder);
    if (own < 0)
        return;
    int lock = openat(own, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    close(own);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        remove_folder(folder);
    close(lock);
}

static void remove_left_folders(void)
{
    for (unsigned i = 0; i < WNDL_SESSION_ROOTS; i++) {
        char pattern[256];
        glob_t found;
        const char *root = wndl_session_root(i);
        if (root == NULL)
            continue;
        snprintf(
            pattern, sizeof pattern, "%s/" WNDL_SESSION_FOLDER "??????", root);
        if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
            continue;
        for (size_t n = 0; n < found.gl_pathc; n++)
            remove_if_left(found.gl_pathv[n]);
        globfree(&found);
    }
}

/* Returns a socket that listens, or -1. */
static int listen_at(const struct sockaddr_un *address, size_t size)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 &&
        bind(fd, (const struct sockaddr *)address, (socklen_t)size) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

/*
 * The second socket has the first one's path in a name that is no file's. A
 * process that has become another user, or has another root directory, reaches
 * only that one.
 */
static bool listen_for_all(struct wndl_session *session)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(session->socket_path, sizeof session->socket_path, "%s/socket",
        session->folder);
    size_t size = strlen(session->socket_path) + 1;
    memcpy(address.sun_path, session->socket_path, size);
    session->listener = listen_at(&address, sizeof address);
    size_t head = offsetof(struct sockaddr_un, sun_path) + 1;
    address.sun_path[0] = '\0';
    memcpy(address.sun_path + 1, session->socket_path, size - 1);
    session->nameless = listen_at(&address, head + size - 1);
    return session->listener >= 0 && session->nameless >= 0;
}

enum wndl_status wndl_session_open(
    struct wndl_session *session, struct wndl_error *err)
{
    *session =
        (struct wndl_session){.listener = -1, .nameless = -1, .lock = -1};
    remove_left_folders();
    if (!make_folder(session))
        return wndl_fail_errno(err, errno,
            "cannot create a folder for the recording's socket; set TMPDIR to "
            "a folder of yours that can be written to, with a short path");
    if (listen_for_all(session) && lock_folder(session))
        return WNDL_OK;
    enum wndl_status status =
        wndl_fail_errno(err, errno, "cannot listen on the recording's socket");
    wndl_session_close(session);
    return status;
}

void wndl_session_close(struct wndl_session *session)
{
    if (session->listener < 0 && session->folder[0] == '\0')
        return;
    if (session->listener >= 0)
        close(session->listener);
    if (session->nameless >= 0)
        close(session->nameless);
    remove_folder(session->folder);
    if (session->lock >= 0)
        close(session->lock);
    *session =
        (struct wndl_session){.listener = -1, .nameless = -1, .lock = -1};
}

bool wndl_session_settings(
    const struct wndl_session *session, const struct wndl_settings *settings)
{
    char path[WNDL_SOCKET_PATH_MAX];
    snprintf(path, sizeof path, "%s/" WNDL_SETTINGS_FILE, session->folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool written =
        write(fd, settings, sizeof *settings) == (ssize_t)sizeof *settings;
    return close(fd) == 0 && written;
}

void wndl_session_be_patient(const struct wndl_session *session)
{
    char path[WNDL_SOCKET_PATH_MAX];
    snprintf(path, sizeof path, "%s/" WNDL_LATE_FILE, session->folder);
    (void)unlink(path);
}

int wndl_session_accept(int listener, struct ucred *peer)
{
    socklen_t size = sizeof *peer;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 &&
        peer->pid > 0)
        return fd;
    close(fd);
    return -1;
}

enum wndl_session_status wndl_session_hear(
    int socket, union wndl_session_first *first)
{
    const ssize_t size = recv(socket, first, sizeof *first, MSG_TRUNC);
    if (size == (ssize_t)sizeof first->control &&
        first->control.magic == WNDL_CONTROL_MAGIC)
        return WNDL_SESSION_CONTROL;
    if (size < (ssize_t)sizeof first->hello.version ||
        first->hello.version == 0 || first->hello.version > VERSIONS_MAX)
        return WNDL_SESSION_NOBODY;
    if (size == (ssize_t)sizeof first->hello &&
        first->hello.version == WNDL_SHM_VERSION)
        return WNDL_SESSION_PROCESS;
    /* The fields after its version are of an unknown form. */
    first->hello = (struct wndl_hello){.refusal = WNDL_UNRECORDED_VERSION};
    return WNDL_SESSION_PROCESS;
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

static int kind_of(ssize_t size)
{
    if (size < 0 && errno == EAGAIN)
        return WNDL_SESSION_NOTHING;
    if (size == (ssize_t)sizeof(struct wndl_ready))
        return WNDL_SESSION_READY;
    return size == (ssize_t)sizeof(struct wndl_late) ? WNDL_SESSION_LATE
                                                     : WNDL_SESSION_OVER;
}

void wndl_session_next(int socket, struct wndl_session_message *message)
{
    union control control = {0};
    struct iovec part = {&message->late, sizeof message->late};
    struct msghdr head = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_LEN(sizeof(int)), /* has room for one only */
    };
    message->fd = -1;
    ssize_t got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    message->kind = kind_of(got);
    if (got >= 0 && control.header.cmsg_len == CMSG_LEN(sizeof(int)) &&
        control.header.cmsg_level == SOL_SOCKET &&
        control.header.cmsg_type == SCM_RIGHTS)
        memcpy(&message->fd, CMSG_DATA(&control.header), sizeof message->fd);
}
