/* SPDX-License-Identifier: MIT */
#include "cli/memlog/run.h"

#include "cli/core/command.h"
#include "cli/shared/runtime.h"
#include "collect/loop/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* ---- the object that is preloaded */

/* For free(); NULL: said why. */
static char *find_object(void)
{
    static const char name[] = "libwindlass-memlog.so";
    char text[200];
    struct wndl_error err = {0};
    char *path = wndl_runtime_find(name, &err);
    if (path == NULL)
        wndl_cli_error("%s", wndl_error_text(&err, text, sizeof text));
    else if (!wndl_runtime_can_be_preloaded(path))
        wndl_cli_error("cannot preload '%s': the loader splits its list at "
                       "spaces and colons; install windlass in another folder",
            path);
    else
        return path;
    free(path);
    return NULL;
}

int wndl_memlog_enable(void)
{
    char *path = find_object();
    if (path == NULL)
        return WNDL_EXIT_FAILURE;
    printf("# For a shell and all that it starts: eval \"$(windlass memlog "
           "enable)\"\n"
           "# For a session: put this line into ~/.profile, and log in again.\n"
           "export LD_PRELOAD='%s'${LD_PRELOAD:+:$LD_PRELOAD}\n",
        path);
    free(path);
    return WNDL_EXIT_OK;
}

/* ---- the command */

static bool set_environment(const char *object, uint64_t above)
{
    const char *old = getenv("LD_PRELOAD");
    char size[32];
    char *list = NULL;
    snprintf(size, sizeof size, "%" PRIu64, above);
    if (asprintf(&list, "%s%s%s", object, old == NULL || !*old ? "" : ":",
            old == NULL ? "" : old) < 0)
        return false;
    const bool is_set = setenv("LD_PRELOAD", list, 1) == 0 &&
                        setenv("WINDLASS_MEMLOG_ABOVE", size, 1) == 0;
    free(list);
    return is_set;
}

static _Noreturn void execute(char **command, const sigset_t *mask, int failure)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    const int why = errno;
    if (write(failure, &why, sizeof why) < 0)
        _exit(1);
    _exit(0);
}

/* The errno of exec, or 0. */
static int wait_for_exec(int failure)
{
    int why = 0;
    ssize_t got;
    do
        got = read(failure, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(failure);
    return got == (ssize_t)sizeof why ? why : 0;
}

/* Starts the command; `why` is the errno of a failure. */
static pid_t start(char **command, const sigset_t *mask, int *why)
{
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0) {
        *why = errno;
        return -1;
    }
    const pid_t pid = fork();
    if (pid == 0)
        execute(command, mask, failure[1]);
    *why = errno;
    close(failure[1]);
    if (pid < 0) {
        close(failure[0]);
        return -1;
    }
    *why = wait_for_exec(failure[0]);
    if (*why == 0)
        return pid;
    waitpid(pid, NULL, 0);
    return -1;
}

static int say_start(const char *command, int why)
{
    wndl_cli_error("cannot execute %s: %s", command, strerror(why));
    return why == ENOENT ? 127 : 126;
}

/* ---- until it ends */

static void wanted_signals(sigset_t *set)
{
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(set, numbers[i]);
}

/* Signals of the terminal come to the command by themselves. */
static void wait_for_signal(pid_t pid, const sigset_t *set, uint64_t pause)
{
    const struct timespec time = {
        (time_t)(pause / SECOND), (long)(pause % SECOND)};
    siginfo_t info;
    const int number = sigtimedwait(set, &info, &time);
    if (number > 0 && number != SIGCHLD && info.si_code <= 0)
        (void)kill(pid, number);
}

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int watch_to_the_end(
    struct wndl_watch_request *request, const sigset_t *set)
{
    struct wndl_watch watch;
    const bool is_watched = wndl_watch_begin(&watch, request);
    int status = 0;
    watch.pause = SECOND;
    while (waitpid(request->tree, &status, WNOHANG) == 0) {
        if (is_watched)
            (void)wndl_watch_round(&watch);
        wait_for_signal(request->tree, set, watch.pause);
    }
    if (is_watched)
        wndl_watch_end(&watch);
    return exit_code_of(status);
}

int wndl_memlog_run(char **command, struct wndl_watch_request *request)
{
    sigset_t set;
    sigset_t before;
    int why = ENOMEM;
    if (command[0] == NULL) {
        wndl_cli_error("name the command; see 'windlass memlog --help'");
        return WNDL_EXIT_USAGE;
    }
    char *object = find_object();
    if (object == NULL)
        return WNDL_EXIT_START;
    wanted_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    (void)signal(SIGCHLD, SIG_DFL); /* else nobody learns how it ended */
    if (set_environment(object, request->above))
        request->tree = start(command, &before, &why);
    free(object);
    if (request->tree <= 0)
        return say_start(command[0], why);
    return watch_to_the_end(request, &set);
}
