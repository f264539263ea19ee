/* SPDX-License-Identifier: MIT */
#include "collect/start/spawn.h"

#include "base/buf.h"
#include "rec/shm.h"
#include "unwind/table/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Makes the table folders' paths absolute: a recorded program may have another
 * directory when a walk comes to a module.
 */
static bool set_table_folders(void)
{
    char here[PATH_MAX];
    struct wndl_buf folders;
    const char *list = getenv(WNDL_TABLE_FOLDERS_ENV);
    if (list == NULL || getcwd(here, sizeof here) == NULL)
        return true;
    wndl_buf_init(&folders, wndl_mem_libc());
    while (*list != '\0') {
        const size_t size = strcspn(list, ":");
        if (size != 0 && *list != '/')
            wndl_buf_printf(&folders, "%s/", here);
        wndl_buf_add(&folders, list, size + (list[size] == ':'));
        list += size + (list[size] == ':');
    }
    wndl_buf_byte(&folders, '\0');
    return !folders.failed &&
           setenv(WNDL_TABLE_FOLDERS_ENV, (const char *)folders.data, 1) == 0;
}

static bool set_environment(const struct wndl_spawn_request *request)
{
    struct wndl_buf preload;
    const char *old = getenv("LD_PRELOAD");
    if (request->runtime == NULL)
        return true;
    wndl_buf_init(&preload, wndl_mem_libc());
    wndl_buf_text(&preload, request->runtime);
    if (old != NULL && *old != '\0') {
        wndl_buf_byte(&preload, ':');
        wndl_buf_text(&preload, old);
    }
    wndl_buf_byte(&preload, '\0');
    return !preload.failed && set_table_folders() &&
           setenv("LD_PRELOAD", (const char *)preload.data, 1) == 0 &&
           setenv(WNDL_SESSION_ENV, request->session, 1) == 0;
}

/*
 * Executes the command, in the child. `hold` ends without a byte if the
 * recording was given up.
 */
static _Noreturn void run_command(
    const struct wndl_spawn_request *request, int hold, int failure)
{
    char byte;
    if (read(hold, &byte, 1) != 1)
        _exit(0);
    int why = ENOMEM;
    if (set_environment(request)) {
        sigprocmask(SIG_SETMASK, &request->mask, NULL);
        execvp(request->command[0], request->command);
        why = errno;
    }
    if (write(failure, &why, sizeof why) < 0)
        _exit(1);
    _exit(0);
}

enum wndl_status wndl_spawn_fork(const struct wndl_spawn_request *request,
    struct wndl_spawn *spawn, struct wndl_error *err)
{
    int hold[2];
    int failure[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold) != 0)
        return wndl_fail_errno(err, errno, "cannot make a socket");
    if (pipe2(failure, O_CLOEXEC) != 0) {
        close(hold[0]);
        close(hold[1]);
        return wndl_fail_errno(err, errno, "cannot make a pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(hold[1]);
        run_command(request, hold[0], failure[1]);
    }
    int why = errno;
    close(hold[0]);
    close(failure[1]);
    *spawn = (struct wndl_spawn){pid, hold[1], failure[0]};
    if (pid > 0)
        return WNDL_OK;
    close(hold[1]);
    close(failure[0]);
    return wndl_fail_errno(err, why, "cannot start a process");
}

int wndl_spawn_exec(struct wndl_spawn *spawn)
{
    int why = 0;
    /* If the child was killed meanwhile, its status says so. */
    if (send(spawn->hold, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
        why = errno;
    close(spawn->hold);
    ssize_t got;
    do
        got = read(spawn->failure, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(spawn->failure);
    if (why != 0)
        waitpid(spawn->pid, NULL, 0);
    return why;
}

void wndl_spawn_cancel(struct wndl_spawn *spawn)
{
    close(spawn->hold);
    close(spawn->failure);
    waitpid(spawn->pid, NULL, 0);
}

/* Closes the caller's descriptors. Ours are all close-on-exec. */
static void close_callers_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return;
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        int fd = atoi(e->d_name);
        int flags = fcntl(fd, F_GETFD);
        if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0)
            close(fd);
    }
    closedir(all);
}

void wndl_spawn_leave_caller(void)
{
    (void)setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2(null, fd);
    close_callers_descriptors();
}
