/* SPDX-License-Identifier: MIT */
#include "snapshot/core_ctl.h"

#include "snapshot/core_unpack.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBER_SIZE = 16 };

extern char **environ;

bool wndl_core_ctl_is_number(const char *text)
{
    const size_t size = strlen(text);
    return size != 0 && size < NUMBER_SIZE &&
           strspn(text, "0123456789") == size && access(text, F_OK) != 0;
}

/* Starts it with `out` as its standard output. Returns 0 or an errno. */
static int start(const char *pid, int out, pid_t *child)
{
    char name[] = "coredumpctl", quiet[] = "--quiet", dump[] = "dump";
    char number[NUMBER_SIZE];
    char *const words[] = {name, quiet, dump, number, NULL};
    posix_spawn_file_actions_t files;
    snprintf(number, sizeof number, "%s", pid);
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(child, name, &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static bool has_succeeded(pid_t child)
{
    int status = -1;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum wndl_status run(const char *pid, int out, struct wndl_error *err)
{
    pid_t child;
    const int error = start(pid, out, &child);
    if (error == ENOENT)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "no such file, and there is no coredumpctl that could have the "
            "core of a process of that number");
    if (error != 0)
        return wndl_fail_errno(err, error, "cannot run coredumpctl");
    if (!has_succeeded(child))
        return wndl_fail(err, WNDL_NOT_FOUND,
            "coredumpctl gives no core of process %s", pid);
    return WNDL_OK;
}

enum wndl_status wndl_core_ctl_fetch(
    const char *pid, struct wndl_file *file, struct wndl_error *err)
{
    int fd;
    enum wndl_status status = wndl_core_temporary(&fd, err);
    if (status != WNDL_OK)
        return status;
    status = run(pid, fd, err);
    if (status == WNDL_OK)
        status = wndl_file_of_descriptor(fd, file, err);
    close(fd);
    return status;
}
