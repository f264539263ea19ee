/* SPDX-License-Identifier: MIT */
/*
 * Replacing the program. The libc's functions of the exec family do not call
 * each other by name, so each is here.
 */
#include "os/raw.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

/* A child of vfork shares this memory but has no engine running. */
static bool pause_engine(void)
{
    if (wndl_rt.shm == NULL || wndl_raw_getpid() != wndl_rt.pid)
        return false;
    wndl_rt_engine_pause();
    return true;
}

/* Only a failed exec comes back. */
static int came_back(bool paused, int result)
{
    if (paused)
        wndl_rt_engine_resume();
    return result;
}

WNDL_RT_HOOK int execve(
    const char *path, char *const arguments[], char *const environment[])
{
    bool paused = pause_engine();
    return came_back(
        paused, wndl_rt_real()->execve(path, arguments, environment));
}

WNDL_RT_HOOK int execvpe(
    const char *file, char *const arguments[], char *const environment[])
{
    bool paused = pause_engine();
    return came_back(
        paused, wndl_rt_real()->execvpe(file, arguments, environment));
}

WNDL_RT_HOOK int fexecve(
    int fd, char *const arguments[], char *const environment[])
{
    bool paused = pause_engine();
    return came_back(
        paused, wndl_rt_real()->fexecve(fd, arguments, environment));
}

WNDL_RT_HOOK int execveat(int fd, const char *path, char *const arguments[],
    char *const environment[], int flags)
{
    bool paused = pause_engine();
    return came_back(paused,
        wndl_rt_real()->execveat(fd, path, arguments, environment, flags));
}

WNDL_RT_HOOK int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

WNDL_RT_HOOK int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

/* How many arguments stand before the NULL; `first` is one of them. */
static size_t count_list(const char *first, va_list list)
{
    size_t count = 0;
    for (const char *a = first; a != NULL; a = va_arg(list, const char *))
        count++;
    return count;
}

static void fill_list(char **to, const char *first, va_list *list)
{
    for (const char *a = first; a != NULL; a = va_arg(*list, const char *))
        *to++ = (char *)a;
    *to = NULL;
}

/*
 * The list as an array, on the caller's stack: a child of vfork must leave no
 * other memory behind. What follows the NULL in `list` is left to be read.
 */
#define LIST_TO_ARRAY(array, first, list)                                      \
    do {                                                                       \
        va_list counted;                                                       \
        va_copy(counted, list);                                                \
        size_t count = count_list(first, counted);                             \
        va_end(counted);                                                       \
        (array) = __builtin_alloca((count + 1) * sizeof *(array));             \
        fill_list(array, first, &(list));                                      \
    } while (0)

WNDL_RT_HOOK int execl(const char *path, const char *first, ...)
{
    char **arguments;
    va_list list;
    va_start(list, first);
    LIST_TO_ARRAY(arguments, first, list);
    va_end(list);
    return execve(path, arguments, environ);
}

WNDL_RT_HOOK int execlp(const char *file, const char *first, ...)
{
    char **arguments;
    va_list list;
    va_start(list, first);
    LIST_TO_ARRAY(arguments, first, list);
    va_end(list);
    return execvpe(file, arguments, environ);
}

WNDL_RT_HOOK int execle(const char *path, const char *first, ...)
{
    char **arguments;
    va_list list;
    va_start(list, first);
    LIST_TO_ARRAY(arguments, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}
