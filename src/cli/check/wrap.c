/* SPDX-License-Identifier: MIT */
#include "cli/check/wrap.h"

#include "cli/check/exec_instead.h"
#include "cli/core/command.h"
#include "cli/valgrind/launch.h"
#include "collect/proc/proc.h"
#include "os/tracee.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tracing {
    struct wndl_check_session *session;
    struct wndl_check_part part; /* of the last program */
    pid_t command;
    int status; /* of the command, once it has ended */
};

/* A program that has just begun. */
struct begun {
    pid_t pid;
    char path[PATH_MAX];    /* resolved */
    char command[PATH_MAX]; /* its words, each with a NUL, as far as they fit */
    size_t size;
};

/* ---- which programs */

static bool matches_text(const struct tracing *t, const char *text)
{
    const struct wndl_option_list *wrap = &t->session->options->wrap;
    for (size_t i = 0; i < wrap->count; i++) {
        if (fnmatch(wrap->texts[i], text, 0) == 0 ||
            fnmatch(wrap->texts[i], wndl_check_base_name(text), 0) == 0)
            return true;
    }
    return false;
}

/* Whether it is Valgrind, which we have started, on the way to its tool. */
static bool is_checker(const struct tracing *t, const struct begun *b)
{
    char option[PATH_MAX + 32];
    const int size =
        snprintf(option, sizeof option, "--xml-file=%s/", t->session->folder);
    return memmem(b->command, b->size, option, (size_t)size) != NULL;
}

static bool read_begun(struct begun *b)
{
    b->size = wndl_proc_read(b->pid, "cmdline", b->command, PATH_MAX - 1);
    b->command[b->size] = '\0';
    return wndl_proc_link(b->pid, "exe", b->path);
}

/* The name that it was started by, if that leads to it, else its path. */
static const char *name_of(const struct begun *b)
{
    char path[2 * PATH_MAX];
    struct stat exe, named;
    const char *name = b->command;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)b->pid);
    if (strchr(name, '/') == NULL || stat(path, &exe) != 0)
        return b->path;
    if (name[0] != '/')
        snprintf(path, sizeof path, "/proc/%d/cwd/%s", (int)b->pid, name);
    return stat(name[0] == '/' ? name : path, &named) == 0 &&
                   named.st_dev == exe.st_dev && named.st_ino == exe.st_ino
               ? name
               : b->path;
}

/* ---- checking one */

/* Writes the notes on a program for the process that reads its results. */
static void keep_notes(const struct tracing *t, const struct wndl_vec *notes)
{
    char path[PATH_MAX + 128];
    FILE *file;
    wndl_check_part_path(t->session, &t->part, ".note", path, sizeof path);
    if (notes->len == 0 || (file = fopen(path, "we")) == NULL)
        return;
    for (size_t i = 0; i < notes->len; i++)
        fprintf(file, "%s\n", *(const char **)wndl_vec_at(notes, i));
    fclose(file);
}

static void check(struct tracing *t, const struct begun *b)
{
    struct wndl_check_session *s = t->session;
    struct wndl_vec notes;
    size_t count;
    t->part.program++;
    wndl_vec_init(&notes, &s->arena, sizeof(const char *));
    if (!wndl_check_examine(&s->program, b->path, &notes))
        return;
    char **words = wndl_check_line_start(s, &t->part, &count);
    if (words == NULL || !wndl_exec_instead(b->pid, words, count, name_of(b)))
        wndl_check_note(&notes,
            "%s was not checked: --wrap checks x86-64 programs with at most "
            "4096 arguments",
            b->path);
    keep_notes(t, &notes);
}

static void look_at(struct tracing *t, pid_t pid)
{
    struct begun b = {.pid = pid};
    if (read_begun(&b) && !is_checker(t, &b) &&
        (matches_text(t, b.path) || matches_text(t, b.command)))
        check(t, &b);
}

/* ---- tracing */

static pid_t command_pid;

/* A signal that is to end us ends the command, and that ends us. */
static void pass_on(int number)
{
    kill(command_pid, number);
}

static void take_event(struct tracing *t, pid_t pid, int status)
{
    if (WIFEXITED(status) || WIFSIGNALED(status))
        return;
    if (status >> 16 == PTRACE_EVENT_EXEC)
        look_at(t, pid);
    if (wndl_tracee_is_stopped(status))
        (void)ptrace(PTRACE_LISTEN, pid, NULL, NULL);
    else
        wndl_tracee_continue(pid, status >> 16 != 0 ? 0 : WSTOPSIG(status));
}

static int follow(struct tracing *t)
{
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    command_pid = t->command;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno != EINTR)
            return WNDL_VALGRIND_EXIT_START;
        if (pid < 0)
            continue;
        if (pid == t->command && (WIFEXITED(status) || WIFSIGNALED(status)))
            return wndl_valgrind_exit_code(status);
        take_event(t, pid, status);
    }
}

static void run(char **command, const struct sigaction old[2])
{
    wndl_valgrind_restore_terminal(old);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise(SIGSTOP);
    execvp(command[0], command);
    _exit(WNDL_VALGRIND_EXIT_START);
}

/* Once it stands; from then on we see whatever it starts. */
static bool seize(pid_t pid)
{
    const long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    int status;
    return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
           ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0 &&
           kill(pid, SIGCONT) == 0;
}

int wndl_check_wrap(struct wndl_check_session *session,
    const struct wndl_check_part *part, char **command,
    const struct sigaction old[2])
{
    struct tracing t = {.session = session, .part = *part, .command = fork()};
    if (t.command == 0)
        run(command, old);
    if (t.command > 0 && seize(t.command))
        return follow(&t);
    wndl_cli_error("cannot follow the command, as --wrap needs (ptrace): %s",
        strerror(errno));
    if (t.command > 0)
        kill(t.command, SIGKILL);
    return WNDL_VALGRIND_EXIT_START;
}
