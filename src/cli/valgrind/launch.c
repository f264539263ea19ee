/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/launch.h"

#include "cli/core/command.h"
#include "cli/core/find_program.h"
#include "collect/proc/unrecordable.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Valgrind and its tools */

bool wndl_valgrind_find(char path[PATH_MAX])
{
    if (wndl_program_find("valgrind", path))
        return true;
    wndl_cli_error("cannot find valgrind; install it (Debian: valgrind)");
    return false;
}

bool wndl_valgrind_version(const char *valgrind, char *text, int size)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(valgrind, valgrind, "--version", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    bool read = answer != NULL && fgets(text, size, answer) != NULL;
    if (answer != NULL)
        fclose(answer);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return pid > 0 && read;
}

static bool check_version(const char *valgrind)
{
    char version[64];
    if (!wndl_valgrind_version(valgrind, version, sizeof version)) {
        wndl_cli_error("%s --version gives no answer", valgrind);
        return false;
    }
    if (strcmp(version, WNDL_VALGRIND_VERSION) == 0)
        return true;
    wndl_cli_error(
        "%s is %s, but this windlass was built for %s; build windlass again",
        valgrind, version, WNDL_VALGRIND_VERSION);
    return false;
}

/* The folder that Valgrind takes tools from. */
static bool find_tools(const struct wndl_valgrind_run *run, char path[PATH_MAX])
{
    static const char *const places[] = {
        "../../valgrind", WNDL_VALGRIND_FROM_BINDIR};
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0)
        return false;
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char folder[2 * PATH_MAX];
        snprintf(folder, sizeof folder, "%s/%s/%s", self, places[i],
            run->on_our_malloc ? "malloc" : "plain");
        char tool[3 * PATH_MAX];
        snprintf(tool, sizeof tool, "%s/%s-amd64-linux", folder, run->tool);
        if (access(tool, X_OK) == 0 && realpath(folder, path) != NULL)
            return true;
    }
    wndl_cli_error("this windlass was built without the Valgrind tool %s; "
                   "install Valgrind's headers and libraries (Debian: "
                   "valgrind) and build windlass again",
        run->tool);
    return false;
}

/* ---- the program */

enum { SCRIPTS_FOLLOWED = 4 };

/* Valgrind refuses these even to root, whose rights they are. */
static bool has_rights(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) != 0;
}

bool wndl_valgrind_can_run(const char *path, bool *is_static)
{
    const enum wndl_unrecorded_reason reason =
        has_rights(path) ? WNDL_UNRECORDED_SETUID
                         : wndl_unrecordable_executable(path);
    *is_static = reason == WNDL_UNRECORDED_STATIC;
    if (reason == WNDL_UNRECORDED_SETUID)
        wndl_cli_error("%s is set-user-ID, set-group-ID or has capabilities: "
                       "Valgrind refuses it; run a copy without these rights",
            path);
    else if (reason == WNDL_UNRECORDED_MACHINE)
        wndl_cli_error("%s is made for another processor", path);
    return reason != WNDL_UNRECORDED_SETUID &&
           reason != WNDL_UNRECORDED_MACHINE;
}

/* The same of a command. Valgrind itself says if there is none. */
static bool can_start(const char *command)
{
    char path[PATH_MAX], next[PATH_MAX];
    bool is_static;
    if (!wndl_program_find(command, path))
        return true;
    for (int i = 0;
         i < SCRIPTS_FOLLOWED && wndl_program_interpreter(path, next); i++)
        snprintf(path, sizeof path, "%s", next);
    return wndl_valgrind_can_run(path, &is_static);
}

/* ---- the command line */

struct arguments {
    const char *texts[256];
    size_t count;
};

static bool add_argument(struct arguments *arguments, const char *text)
{
    const size_t room = sizeof arguments->texts / sizeof *arguments->texts;
    if (arguments->count + 1 == room)
        return false;
    arguments->texts[arguments->count++] = text;
    arguments->texts[arguments->count] = NULL;
    return true;
}

static char **join_arguments(
    const struct arguments *first, char *const *command)
{
    size_t count = 0;
    while (command[count] != NULL)
        count++;
    char **all = calloc(first->count + count + 1, sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, first->texts, first->count * sizeof *all);
    memcpy(all + first->count, command, count * sizeof *all);
    return all;
}

static char **command_line(
    const struct wndl_valgrind_run *run, const char *valgrind, char *tool)
{
    struct arguments arguments = {0};
    bool fits = add_argument(&arguments, valgrind) &&
                add_argument(&arguments, tool) &&
                add_argument(&arguments, "-q");
    for (const char *const *o = run->tool_options; fits && *o != NULL; o++)
        fits = add_argument(&arguments, *o);
    for (size_t i = 0; fits && i < run->options->count; i++)
        fits = add_argument(&arguments, run->options->texts[i]);
    fits = fits && add_argument(&arguments, "--");
    return fits ? join_arguments(&arguments, run->command) : NULL;
}

/* ---- the run */

int wndl_valgrind_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void wndl_valgrind_ignore_terminal(struct sigaction old[2])
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &old[0]);
    sigaction(SIGQUIT, &ignore, &old[1]);
}

void wndl_valgrind_restore_terminal(const struct sigaction old[2])
{
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGQUIT, &old[1], NULL);
}

/* CPython's own allocator would hide blocks that it cuts from large ones. */
static int run_line(const struct wndl_valgrind_run *run, char **line,
    const char *folder, pid_t *started)
{
    struct sigaction old[2];
    int status = 0;
    wndl_valgrind_ignore_terminal(old);
    pid_t pid = fork();
    if (pid == 0) {
        wndl_valgrind_restore_terminal(old);
        setenv("VALGRIND_LIB", folder, 1);
        if (run->on_our_malloc)
            setenv("PYTHONMALLOC", "malloc", 0);
        execv(line[0], line);
        _exit(WNDL_VALGRIND_EXIT_START);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    wndl_valgrind_restore_terminal(old);
    *started = pid;
    if (pid > 0)
        return wndl_valgrind_exit_code(status);
    wndl_cli_error("cannot start a process: %s", strerror(errno));
    return WNDL_VALGRIND_EXIT_START;
}

int wndl_valgrind_run(const struct wndl_valgrind_run *run, pid_t *pid)
{
    *pid = -1;
    char valgrind[PATH_MAX];
    char folder[PATH_MAX];
    char tool[64];
    if (!wndl_valgrind_find(valgrind) || !find_tools(run, folder) ||
        !check_version(valgrind) || !can_start(run->command[0]))
        return WNDL_VALGRIND_EXIT_START;
    snprintf(tool, sizeof tool, "--tool=%s", run->tool);
    char **line = command_line(run, valgrind, tool);
    if (line == NULL) {
        wndl_cli_error("too many options for Valgrind");
        return WNDL_VALGRIND_EXIT_START;
    }
    int exit_code = run_line(run, line, folder, pid);
    free(line);
    return exit_code;
}
