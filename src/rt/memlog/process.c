/* SPDX-License-Identifier: MIT */
/*
 * process: the start and the end of the program, its forks, and the programs
 * that it starts or becomes.
 */
#include "os/raw.h"
#include "rt/memlog/calls.h"
#include "rt/memlog/real.h"
#include "rt/memlog/thread.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MOST_A_SECOND = 100 };

/* glibc builds pthread_atfork() on this; other libcs may lack it. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
    void *) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

#define TYPE(name)                                                             \
    {                                                                          \
        name, WNDL_MEMLOG_OTHER, MOST_A_SECOND, {{NULL, NULL}},                \
        {                                                                      \
            0, 0                                                               \
        }                                                                      \
    }

static struct wndl_memlog_type type_start = TYPE("start");
static struct wndl_memlog_type type_exit = TYPE("exit");
static struct wndl_memlog_type type_fork = TYPE("fork");
static struct wndl_memlog_type type_exec = TYPE("exec");
static struct wndl_memlog_type type_spawn = TYPE("spawn");

static int own_pid;
static bool is_forked; /* and may not have a log of its own */

static void log_text(struct wndl_memlog_type *type, const char *text)
{
    wndl_memlog_append_text(type, NULL, 0, text);
}

/* ---- start, fork, end */

static void after_fork_in_parent(void)
{
    wndl_memlog_append(&type_fork, NULL, 0);
}

/* A child makes its log at its first event: most become another program. */
static void after_fork_in_child(void)
{
    own_pid = wndl_raw_getpid();
    is_forked = true;
    wndl_calls_after_fork();
}

__attribute__((constructor)) static void start(void)
{
    own_pid = wndl_raw_getpid();
    (void)wndl_calls_real();
    if (!wndl_memlog_active())
        return;
    wndl_calls_thread_start();
    log_text(&type_start, (const char *)getauxval(AT_EXECFN));
    wndl_calls_report(true);
    if (__register_atfork != NULL)
        (void)__register_atfork(
            NULL, after_fork_in_parent, after_fork_in_child, &__dso_handle);
}

/* Whether this process has a log, and no child would make one only now. */
static bool has_log(void)
{
    const struct wndl_memlog_page *page =
        __atomic_load_n(&wndl_memlog_state.page, __ATOMIC_ACQUIRE);
    return !is_forked || (page != NULL && page->kept != NULL);
}

__attribute__((destructor)) static void end(void)
{
    if (!has_log() || own_pid != wndl_raw_getpid())
        return;
    wndl_calls_report(true);
    log_text(&type_exit, NULL);
}

/* ---- other programs */

/* A child of vfork() shares this memory: the parent's log says "spawn". */
static void note_exec(const char *path)
{
    if (has_log())
        log_text(own_pid == wndl_raw_getpid() ? &type_exec : &type_spawn, path);
}

WNDL_CALLS_HOOK int execve(
    const char *path, char *const arguments[], char *const environment[])
{
    note_exec(path);
    return wndl_calls_real()->execve(path, arguments, environment);
}

WNDL_CALLS_HOOK int execv(const char *path, char *const arguments[])
{
    note_exec(path);
    return wndl_calls_real()->execv(path, arguments);
}

WNDL_CALLS_HOOK int execvp(const char *file, char *const arguments[])
{
    note_exec(file);
    return wndl_calls_real()->execvp(file, arguments);
}

WNDL_CALLS_HOOK int execvpe(
    const char *file, char *const arguments[], char *const environment[])
{
    note_exec(file);
    return wndl_calls_real()->execvpe(file, arguments, environment);
}

WNDL_CALLS_HOOK int fexecve(
    int fd, char *const arguments[], char *const environment[])
{
    note_exec("a file descriptor");
    return wndl_calls_real()->fexecve(fd, arguments, environment);
}

WNDL_CALLS_HOOK int posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[],
    char *const environment[])
{
    log_text(&type_spawn, path);
    return wndl_calls_real()->posix_spawn(
        pid, path, actions, attributes, arguments, environment);
}

WNDL_CALLS_HOOK int posix_spawnp(pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[],
    char *const environment[])
{
    log_text(&type_spawn, file);
    return wndl_calls_real()->posix_spawnp(
        pid, file, actions, attributes, arguments, environment);
}
