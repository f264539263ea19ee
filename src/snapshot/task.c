/* SPDX-License-Identifier: MIT */
#include "snapshot/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_entry(const struct wndl_task *task, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)task->pid,
        (int)task->tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool wndl_task_read(
    const struct wndl_task *task, const char *name, char text[WNDL_TASK_TEXT])
{
    int fd = open_entry(task, name);
    text[0] = '\0';
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, WNDL_TASK_TEXT - 1);
    int why = errno;
    close(fd);
    errno = why;
    text[got < 0 ? 0 : got] = '\0';
    if (got > 0 && text[got - 1] == '\n')
        text[got - 1] = '\0';
    return got >= 0;
}

/* A blank and a number. False if there is none. */
static bool take_number(const char **at, uint64_t *number)
{
    char *end;
    if (**at != ' ')
        return false;
    *number = strtoull(*at + 1, &end, 16);
    if (end == *at + 1)
        return false;
    *at = end;
    return true;
}

bool wndl_task_call_parse(const char *text, struct wndl_task_call *call)
{
    char *end;
    *call = (struct wndl_task_call){0};
    call->is_running = strcmp(text, "running") == 0;
    if (call->is_running)
        return true;
    long number = strtol(text, &end, 10);
    if (end == text)
        return false;
    const char *at = end;
    call->is_call = number >= 0;
    call->number = call->is_call ? (uint64_t)number : 0;
    for (int i = 0; call->is_call && i < WNDL_TASK_ARGUMENTS; i++) {
        if (!take_number(&at, &call->arguments[i]))
            return false;
    }
    return take_number(&at, &call->sp) && take_number(&at, &call->pc) &&
           *at == '\0';
}

char wndl_task_state_parse(const char *text)
{
    const char *end_of_name = strrchr(text, ')');
    return end_of_name == NULL || end_of_name[1] != ' ' ? '\0' : end_of_name[2];
}

pid_t wndl_task_tracer(const struct wndl_task *task)
{
    static const char field[] = "\nTracerPid:";
    char text[WNDL_TASK_TEXT];
    if (!wndl_task_read(task, "status", text))
        return 0;
    const char *at = strstr(text, field);
    return at == NULL ? 0 : (pid_t)strtol(at + sizeof field - 1, NULL, 10);
}
