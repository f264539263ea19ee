/* SPDX-License-Identifier: MIT */
#include "rt/start/launch.h"

#include "os/dlfind.h"
#include "os/raw.h"
#include "rt/core/child.h"
#include "rt/core/environment.h"
#include "rt/core/variable.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 5, NOTIFY = 3, DECIMAL = 16 };

static const char OPTIONS[] = "WINDLASS_OPTIONS=";

struct launch {
    char **options; /* of the variable in the environment */
    char **environment;
    char executable[PATH_MAX];
};

static char **find_options(char **environment)
{
    while (*environment != NULL && !wndl_rt_variable_is(*environment, OPTIONS))
        environment++;
    return *environment == NULL ? NULL : environment;
}

static size_t count_of(char **environment)
{
    size_t count = 0;
    while (environment[count] != NULL)
        count++;
    return count;
}

/* The collector must not be recorded itself. */
static void copy_without_us(char **to, char **environment)
{
    for (; *environment != NULL; environment++) {
        if (!wndl_rt_variable_is(*environment, "LD_PRELOAD=") &&
            !wndl_rt_variable_is(*environment, "WINDLASS_SESSION="))
            *to++ = *environment;
    }
    *to = NULL;
}

static size_t directory_size(const char *path)
{
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] != '/')
        size--;
    return size;
}

/*
 * Finds it beside this object, or as installed. Objects of other processors are
 * in deeper folders.
 */
static bool find_executable(char to[PATH_MAX])
{
    static const char *const places[] = {
        "../cli/windlass",
        WNDL_BINDIR_FROM_RUNTIME "/windlass",
        "../../../cli/windlass",
        "../../" WNDL_BINDIR_FROM_RUNTIME "/windlass",
        "../../../" WNDL_BINDIR_FROM_RUNTIME "/windlass",
    };
    struct wndl_dlmodule self;
    if (!wndl_dlfind((uintptr_t)places, &self))
        return false;
    size_t folder = directory_size(self.name);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t size = strlen(places[i]) + 1;
        if (folder + size > PATH_MAX)
            continue;
        memcpy(to, self.name, folder);
        memcpy(to + folder, places[i], size);
        if (wndl_raw3(SYS_faccessat, AT_FDCWD, (long)to, X_OK) == 0)
            return true;
    }
    return false;
}

/* Whoever asked for a recording this way reads the program's errors. */
static void complain(void)
{
    static const char text[] =
        "windlass: error: cannot start the collector of WINDLASS_OPTIONS; "
        "the program runs unrecorded\n";
    (void)wndl_raw3(SYS_write, STDERR_FILENO, (long)text, sizeof text - 1);
}

static void run(const struct launch *launch, const char *const arguments[])
{
    (void)wndl_raw3(SYS_execve, (long)launch->executable, (long)arguments,
        (long)launch->environment);
}

static const char *decimal(char text[DECIMAL], unsigned number)
{
    char *at = text + DECIMAL - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return at;
}

/* Starts a session of its own, without the program's descriptors but stderr. */
static void detach(int notify)
{
    (void)wndl_raw3(SYS_setsid, 0, 0, 0);
    if (notify != NOTIFY)
        (void)wndl_raw3(SYS_dup3, notify, NOTIFY, 0);
    int nothing = wndl_raw_open("/dev/null", O_RDWR);
    (void)wndl_raw3(SYS_dup3, nothing, STDIN_FILENO, 0);
    (void)wndl_raw3(SYS_dup3, nothing, STDOUT_FILENO, 0);
    (void)wndl_raw3(SYS_close_range, NOTIFY + 1, (long)~0u, 0);
}

static _Noreturn void become_collector(
    const struct launch *launch, const char *pid, int notify)
{
    const char *const arguments[] = {
        "windlass", "collect", "--pid", pid, "--notify", "3", NULL};
    detach(notify);
    run(launch, arguments);
    wndl_rt_child_exit(127);
}

/* The child in between ends at once: the collector is an orphan. */
static void start_collector(const struct launch *launch, int notify)
{
    char text[DECIMAL];
    const char *pid = decimal(text, (unsigned)wndl_raw_getpid());
    long child = wndl_rt_child_fork();
    if (child == 0) {
        if (wndl_rt_child_fork() == 0)
            become_collector(launch, pid, notify);
        wndl_rt_child_exit(0);
    }
    if (child > 0)
        (void)wndl_rt_child_wait(child);
}

/* The collector writes the path, and perhaps a newline. */
static const char *read_session(int notified)
{
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];
    struct pollfd wanted = {.fd = notified, .events = POLLIN};
    const struct timespec patience = {.tv_sec = PATIENCE_SECONDS};
    if (wndl_raw4(SYS_ppoll, (long)&wanted, 1, (long)&patience, 0) != 1)
        return NULL;
    long size = wndl_raw_read(notified, path, sizeof path - 1);
    if (size > 0 && path[size - 1] == '\n')
        size--;
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    return wndl_rt_environment_join(path);
}

static const char *launch_and_wait(const struct launch *launch)
{
    int ends[2];
    if (wndl_raw3(SYS_pipe2, (long)ends, 0, 0) != 0)
        return NULL;
    start_collector(launch, ends[1]);
    wndl_raw_close(ends[1]);
    const char *session = read_session(ends[0]);
    wndl_raw_close(ends[0]);
    return session;
}

static const char *start(struct launch *launch)
{
    if (!find_executable(launch->executable))
        return NULL;
    if (strcmp(*launch->options + sizeof OPTIONS - 1, "help") == 0) {
        const char *const arguments[] = {
            "windlass", "collect", "--help-options", NULL};
        run(launch, arguments);
        return NULL;
    }
    return launch_and_wait(launch);
}

const char *wndl_rt_launch(char **environment)
{
    struct launch launch = {.options = find_options(environment)};
    if (launch.options == NULL)
        return NULL;
    launch.environment =
        __builtin_alloca((count_of(environment) + 1) * sizeof(char *));
    copy_without_us(launch.environment, environment);
    const char *session = start(&launch);
    if (session == NULL)
        complain();
    else
        *launch.options = wndl_rt_environment_session();
    return session;
}
