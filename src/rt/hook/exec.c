/* SPDX-License-Identifier: MIT */
/*
 * exec: replacing the program. libc's exec functions do not call each other by
 * name, so each is hooked. If the start fails with our variables, it is tried
 * again as requested, because the variables may be too large.
 */
#include "os/raw.h"
#include "rt/core/environment.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/sample/engine.h"

#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

/* A child of vfork shares this memory, but has no running engine. */
static bool pause_engine(void)
{
    if (wndl_rt_is_silent())
        return false;
    wndl_rt_note_start(wndl_raw_getpid());
    if (wndl_rt.signals == 0 || !wndl_rt_is_own_process())
        return false;
    wndl_rt_engine_pause();
    return true;
}

/* Only a failed exec returns. */
static int came_back(bool paused, int result)
{
    if (paused)
        wndl_rt_engine_resume();
    return result;
}

WNDL_RT_HOOK int execve(
    const char *path, char *const arguments[], char *const environment[])
{
    const struct wndl_rt_real *real = wndl_rt_real();
    char *const *completed;
    WNDL_RT_ENVIRONMENT(completed, environment);
    bool paused = pause_engine();
    int result = real->execve(path, arguments, completed);
    if (completed != environment)
        result = real->execve(path, arguments, environment);
    return came_back(paused, result);
}

WNDL_RT_HOOK int execvpe(
    const char *file, char *const arguments[], char *const environment[])
{
    const struct wndl_rt_real *real = wndl_rt_real();
    char *const *completed;
    WNDL_RT_ENVIRONMENT(completed, environment);
    bool paused = pause_engine();
    int result = real->execvpe(file, arguments, completed);
    if (completed != environment)
        result = real->execvpe(file, arguments, environment);
    return came_back(paused, result);
}

WNDL_RT_HOOK int fexecve(
    int fd, char *const arguments[], char *const environment[])
{
    const struct wndl_rt_real *real = wndl_rt_real();
    char *const *completed;
    WNDL_RT_ENVIRONMENT(completed, environment);
    bool paused = pause_engine();
    int result = real->fexecve(fd, arguments, completed);
    if (completed != environment)
        result = real->fexecve(fd, arguments, environment);
    return came_back(paused, result);
}

/* Headers of libc have it from 2.34 on. */
extern int execveat(int fd, const char *path, char *const arguments[],
    char *const variables[], int flags);

WNDL_RT_HOOK int execveat(int fd, const char *path, char *const arguments[],
    char *const environment[], int flags)
{
    const struct wndl_rt_real *real = wndl_rt_real();
    char *const *completed;
    WNDL_RT_ENVIRONMENT(completed, environment);
    bool paused = pause_engine();
    int result = real->execveat(fd, path, arguments, completed, flags);
    if (completed != environment)
        result = real->execveat(fd, path, arguments, environment, flags);
    return came_back(paused, result);
}

WNDL_RT_HOOK int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

WNDL_RT_HOOK int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

/* The number of arguments before the NULL, including `first`. */
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
 * Makes an array of the list on the caller's stack, because a child of vfork
 * must leave no other memory changed. Arguments after the NULL stay unread in
 * `list`.
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
