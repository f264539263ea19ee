/* SPDX-License-Identifier: MIT */
/*
 * The asking side of control.h. The environment of recorded processes has the
 * path of the recorder's socket. For a recorder itself, and for a process whose
 * environment was changed, all sockets are asked at once. Only a recorder that
 * has said that the process is its own gets a request that changes something.
 */
#include "base/mem.h"
#include "collect/proc/proc.h"
#include "collect/start/control.h"
#include "collect/start/root.h"
#include "collect/start/session.h"
#include "os/clock.h"

#include <errno.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    ENVIRONMENT_MAX = 1024 * 1024,
    RECORDERS_MAX = 256,
    /* Until a recorder says whether the process is its own. */
    PATIENCE_MS = 2000,
    /* Until the recorder that has said so has done what is asked. */
    WORK_MS = 60000,
};

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

/*
 * Whether it is the socket of a session: a link of somebody else may lead to
 * any socket. *user is its owner, and its folder's.
 */
static bool is_session(const char *path, uid_t *user)
{
    char folder[WNDL_SOCKET_PATH_MAX];
    struct stat st, above;
    const char *end = strrchr(path, '/');
    if (end == NULL || strcmp(end, "/socket") != 0 ||
        (size_t)(end - path) >= sizeof folder)
        return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
    if (lstat(folder, &above) != 0 || !S_ISDIR(above.st_mode) ||
        lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    *user = st.st_uid;
    return above.st_uid == st.st_uid;
}

/* Checks the listener, which need not be the owner of the path. */
static bool is_peer(int fd, uid_t user)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == user;
}

/* Never waits: a recorder that accepts nobody does not answer either. */
static int connect_to(const char *path, pid_t pid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uid_t user;
    if (strlen(path) >= sizeof address.sun_path || !is_session(path, &user) ||
        !may_record(user, pid))
        return -1;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        is_peer(fd, user))
        return fd;
    close(fd);
    return -1;
}

/* ---- questions */

/* A question to some recorders, and the first answer of one to whom it is. */
struct asking {
    struct wndl_control control;
    char *line;                           /* WNDL_CONTROL_LINE bytes */
    char answer;                          /* NOT_MINE: none so far */
    char path[WNDL_SOCKET_PATH_MAX];      /* of who gave it */
    struct pollfd waiting[RECORDERS_MAX]; /* those who have not answered */
    char paths[RECORDERS_MAX][WNDL_SOCKET_PATH_MAX];
    nfds_t count;
};

static void put_question(struct asking *a, const char *path)
{
    int fd = a->count == RECORDERS_MAX
                 ? -1
                 : connect_to(path, (pid_t)a->control.pid);
    if (fd < 0)
        return;
    if (send(fd, &a->control, sizeof a->control, MSG_NOSIGNAL) !=
        (ssize_t)sizeof a->control) {
        close(fd);
        return;
    }
    a->waiting[a->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    snprintf(a->paths[a->count++], WNDL_SOCKET_PATH_MAX, "%s", path);
}

static void put_questions_in(struct asking *a, const char *folder)
{
    char pattern[256];
    glob_t found;
    snprintf(
        pattern, sizeof pattern, "%s/" WNDL_SESSION_FOLDER "*/socket", folder);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        put_question(a, found.gl_pathv[i]);
    globfree(&found);
}

/* Takes the answer of recorder `i`, who then waits no more. */
static void take_answer(struct asking *a, nfds_t i)
{
    char answer[WNDL_CONTROL_LINE];
    const ssize_t got = recv(a->waiting[i].fd, answer, sizeof answer - 1, 0);
    if (got > 0 && answer[0] != WNDL_CONTROL_NOT_MINE) {
        answer[got] = '\0';
        a->answer = answer[0];
        memcpy(a->line, answer + 1, (size_t)got);
        for (char *c = a->line; (c = strchr(c, '\n')) != NULL;)
            *c = ' '; /* an answer is one line */
        memcpy(a->path, a->paths[i], sizeof a->path);
    }
    close(a->waiting[i].fd);
    a->waiting[i] = a->waiting[--a->count];
    memcpy(a->paths[i], a->paths[a->count], sizeof a->paths[i]);
}

/* Afterwards `count` recorders have not answered, unless one has. */
static void await_answers(struct asking *a, unsigned ms)
{
    const uint64_t end =
        wndl_clock_monotonic_ns() + (uint64_t)ms * UINT64_C(1000000);
    for (;;) {
        const uint64_t now = wndl_clock_monotonic_ns();
        if (a->answer != WNDL_CONTROL_NOT_MINE || a->count == 0 || now >= end)
            return;
        if (poll(a->waiting, a->count, (int)((end - now) / 1000000 + 1)) < 0 &&
            errno != EINTR)
            return;
        for (nfds_t i = a->count; i-- > 0;)
            if (a->waiting[i].revents != 0 &&
                a->answer == WNDL_CONTROL_NOT_MINE)
                take_answer(a, i);
    }
}

static void hang_up(struct asking *a)
{
    while (a->count > 0)
        close(a->waiting[--a->count].fd);
}

/* ---- the recorder of a process */

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

/* Returns the number of recorders that may record it and do not answer. */
static nfds_t find_recorder(struct asking *a, const char *text, size_t size)
{
    const char *session = variable(text, size, WNDL_SESSION_ENV);
    const char *folders[] = {variable(text, size, "XDG_RUNTIME_DIR"),
        variable(text, size, "TMPDIR"), wndl_session_root(0),
        wndl_session_root(1), wndl_session_root(2)};
    if (session != NULL) {
        put_question(a, session);
        await_answers(a, PATIENCE_MS);
    }
    if (a->answer != WNDL_CONTROL_NOT_MINE || a->count != 0)
        return a->count;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (folders[i] != NULL)
            put_questions_in(a, folders[i]);
    }
    await_answers(a, PATIENCE_MS);
    return a->count;
}

/* Asks the one that was found for `verb`; false if it does not answer. */
static bool ask_recorder(struct asking *a, enum wndl_control_verb verb)
{
    if (verb == WNDL_CONTROL_STATUS)
        return true;
    hang_up(a);
    a->answer = WNDL_CONTROL_NOT_MINE;
    a->control.verb = verb;
    put_question(a, a->path);
    await_answers(a, WORK_MS);
    return a->answer != WNDL_CONTROL_NOT_MINE;
}

static enum wndl_status ask(struct asking *a, enum wndl_control_verb verb,
    const char *text, size_t size, struct wndl_error *err)
{
    const int pid = (int)a->control.pid;
    const nfds_t silent = find_recorder(a, text, size);
    if (a->answer == WNDL_CONTROL_NOT_MINE && silent != 0)
        return wndl_fail(err, WNDL_DENIED,
            "process %d: its recorder does not answer, or it has none and %u "
            "other%s not; a recorder that is stopped or busy cannot answer",
            pid, (unsigned)silent, silent == 1 ? " does" : "s do");
    if (a->answer == WNDL_CONTROL_NOT_MINE)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "process %d is in no running recording; give the pid of a recorded "
            "command, of one of its processes, or of its 'windlass record'",
            pid);
    if (!ask_recorder(a, verb))
        return wndl_fail(err, WNDL_DENIED,
            "the recorder of process %d went away, or is still at it after "
            "%d seconds",
            pid, WORK_MS / 1000);
    return a->answer == WNDL_CONTROL_DONE
               ? WNDL_OK
               : wndl_fail(err, WNDL_DENIED, "%s", a->line);
}

enum wndl_status wndl_control_ask(pid_t pid, enum wndl_control_verb verb,
    char line[WNDL_CONTROL_LINE], struct wndl_error *err)
{
    struct wndl_mem *mem = wndl_mem_libc();
    enum wndl_status status = WNDL_NOMEM;
    struct asking *a = wndl_mem_zalloc(mem, sizeof *a);
    char *text = wndl_mem_zalloc(mem, ENVIRONMENT_MAX + 1);
    (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (a != NULL && text != NULL) {
        a->control = (struct wndl_control){
            .magic = WNDL_CONTROL_MAGIC,
            .verb = WNDL_CONTROL_STATUS,
            .pid = (uint32_t)pid,
        };
        a->line = line;
        a->answer = WNDL_CONTROL_NOT_MINE;
        size_t size = wndl_proc_read(pid, "environ", text, ENVIRONMENT_MAX);
        status = ask(a, verb, text, size, err);
        hang_up(a);
    }
    wndl_mem_free(mem, text);
    wndl_mem_free(mem, a);
    return status;
}
