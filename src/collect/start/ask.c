/* SPDX-License-Identifier: MIT */
/*
 * The asking side of control.h. The environment of recorded processes has the
 * path of the recorder's socket. For a recorder itself, and for a process whose
 * environment was changed, every socket is asked.
 */
#include "base/mem.h"
#include "collect/proc/proc.h"
#include "collect/start/control.h"
#include "collect/start/session.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 1024 * 1024, PATIENCE_SECONDS = 60 };

/*
 * In /tmp anybody may listen. We, root and the owner of the process may record
 * it.
 */
static bool may_record(uid_t user, pid_t pid)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return user == geteuid() || user == 0 ||
           (stat(path, &st) == 0 && st.st_uid == user);
}

/* Checks the listener, which need not be the owner of the path. */
static bool peer_may_record(int fd, pid_t pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           may_record(peer.uid, pid);
}

static int connect_to(const char *path, pid_t pid)
{
    struct stat st;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    if (strlen(path) >= sizeof address.sun_path || stat(path, &st) != 0 ||
        !may_record(st.st_uid, pid))
        return -1;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        peer_may_record(fd, pid))
        return fd;
    close(fd);
    return -1;
}

/* The letter of the answer, NOT_MINE when there is none. */
static char ask_at(const char *path, const struct wndl_control *control,
    char line[WNDL_CONTROL_LINE])
{
    char answer[WNDL_CONTROL_LINE];
    int fd = connect_to(path, (pid_t)control->pid);
    if (fd < 0)
        return WNDL_CONTROL_NOT_MINE;
    ssize_t got = -1;
    if (send(fd, control, sizeof *control, MSG_NOSIGNAL) ==
        (ssize_t)sizeof *control)
        got = recv(fd, answer, sizeof answer - 1, 0);
    close(fd);
    if (got < 1)
        return WNDL_CONTROL_NOT_MINE;
    answer[got] = '\0';
    memcpy(line, answer + 1, (size_t)got);
    return answer[0];
}

static char ask_in_folder(const char *folder,
    const struct wndl_control *control, char line[WNDL_CONTROL_LINE])
{
    char pattern[256];
    glob_t found;
    char answer = WNDL_CONTROL_NOT_MINE;
    snprintf(
        pattern, sizeof pattern, "%s/" WNDL_SESSION_FOLDER "*/socket", folder);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return answer;
    for (size_t i = 0; i < found.gl_pathc && answer == WNDL_CONTROL_NOT_MINE;
         i++)
        answer = ask_at(found.gl_pathv[i], control, line);
    globfree(&found);
    return answer;
}

/* A variable of the process, or NULL; `text` is its environment. */
static const char *variable(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
        if (strncmp(text + at, name, length) == 0 && text[at + length] == '=')
            return text + at + length + 1;
    }
    return NULL;
}

static char ask_all(const struct wndl_control *control, const char *text,
    size_t size, char line[WNDL_CONTROL_LINE])
{
    const char *session = variable(text, size, WNDL_SESSION_ENV);
    const char *its = variable(text, size, "XDG_RUNTIME_DIR");
    const char *folders[] = {its, wndl_session_root(0), wndl_session_root(1)};
    char answer = WNDL_CONTROL_NOT_MINE;
    if (session != NULL)
        answer = ask_at(session, control, line);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (answer == WNDL_CONTROL_NOT_MINE && folders[i] != NULL)
            answer = ask_in_folder(folders[i], control, line);
    }
    return answer;
}

enum wndl_status wndl_control_ask(pid_t pid, enum wndl_control_verb verb,
    char line[WNDL_CONTROL_LINE], struct wndl_error *err)
{
    const struct wndl_control control = {
        .magic = WNDL_CONTROL_MAGIC, .verb = verb, .pid = (uint32_t)pid};
    char *text = wndl_mem_zalloc(wndl_mem_libc(), ENVIRONMENT_MAX + 1);
    if (text == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    size_t size = wndl_proc_read(pid, "environ", text, ENVIRONMENT_MAX);
    char answer = ask_all(&control, text, size, line);
    wndl_mem_free(wndl_mem_libc(), text);
    if (answer == WNDL_CONTROL_DONE)
        return WNDL_OK;
    if (answer == WNDL_CONTROL_FAILED)
        return wndl_fail(err, WNDL_DENIED, "%s", line);
    return wndl_fail(err, WNDL_NOT_FOUND,
        "process %d is in no running recording; give the pid of a recorded "
        "command, of one of its processes, or of its 'windlass record'",
        (int)pid);
}
