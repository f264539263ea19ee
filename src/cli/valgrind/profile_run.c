/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/profile_run.h"

#include "base/buf.h"
#include "os/file.h"
#include "wndl/put_aside.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Whether %p alone stands for something: Valgrind would expand other percent
 * signs, or refuse them. */
static bool is_name(const char *pattern)
{
    for (const char *p = strchr(pattern, '%'); p != NULL;
         p = strchr(p + 2, '%'))
        if (p[1] != 'p')
            return false;
    return pattern[0] != '\0';
}

/* %p is the pid of the command, as in the name that Valgrind writes. */
static void expand_name(const char *pattern, pid_t pid, struct wndl_buf *name)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == 'p') {
            wndl_buf_printf(name, "%ld", (long)pid);
            p++;
        } else {
            wndl_buf_byte(name, (uint8_t)*p);
        }
    }
    wndl_buf_byte(name, '\0');
}

const char *wndl_profile_problem(
    const struct wndl_profile_options *o, size_t operands)
{
    if (o->show == NULL && operands == 0)
        return "COMMAND is missing";
    if (o->show != NULL && operands != 0)
        return "--show takes no command";
    if (!is_name(o->out))
        return "--output takes a name in which only %p stands for something";
    return NULL;
}

/* ---- results that are there already */

bool wndl_profile_file_is(const char *path, bool (*is)(struct wndl_bytes file))
{
    struct wndl_file file;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool result = is(file.bytes);
    wndl_file_close(&file);
    return result;
}

/* Earlier results of this name are kept. A pid makes a name of its own. */
static bool make_room(const struct wndl_profile_run *run, bool *moved)
{
    struct wndl_error err = {0};
    *moved = false;
    if (strchr(run->shared->out, '%') != NULL ||
        wndl_put_aside(run->shared->out, run->are_results, moved, &err) ==
            WNDL_OK)
        return true;
    wndl_cli_fail(&err);
    return false;
}

/* Results of this run, not of one before: the tool renames a new file. */
static bool is_new(const char *path, const struct stat *before)
{
    struct stat now;
    return stat(path, &now) == 0 &&
           (now.st_ino != before->st_ino || now.st_dev != before->st_dev ||
               now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
               now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Valgrind has said which bytes it does not know. */
static void explain_end(int exit_code)
{
    if (exit_code == 128 + SIGILL)
        wndl_cli_note(
            "SIGILL ended the command: Valgrind 3.19 does not know AVX-512 "
            "instructions (\"unhandled instruction bytes: 0x62\"); run a build "
            "without them (-mno-avx512f), or let it choose other code");
}

/* The exit code: the command's, unless it hides that there are no results. */
static int show_results(const struct wndl_profile_run *run, const char *path,
    const struct stat *before, int exit_code)
{
    if (!is_new(path, before)) {
        wndl_cli_error("the run left no results; see Valgrind's messages "
                       "above; if it gives up on debug information, strip "
                       "the program");
        return exit_code == 0 ? WNDL_EXIT_FAILURE : exit_code;
    }
    if (run->shared->quiet)
        return exit_code;
    wndl_cli_note("results: %s", path);
    run->show(run->options, path);
    return exit_code;
}

/* ---- the run */

struct tool_options {
    char out[PATH_MAX + 64];
    const char *texts[24]; /* ends with NULL */
};

static void fill_options(
    const struct wndl_profile_run *run, struct tool_options *o)
{
    const size_t room = sizeof o->texts / sizeof *o->texts;
    size_t n = 0;
    snprintf(
        o->out, sizeof o->out, "--%s-out-file=%s", run->tool, run->shared->out);
    o->texts[n++] = o->out;
    o->texts[n++] = run->shared->trace_children ? "--trace-children=yes"
                                                : "--trace-children=no";
    for (const char *const *t = run->tool_options; *t != NULL && n + 1 < room;
         t++)
        o->texts[n++] = *t;
    o->texts[n] = NULL;
}

static int run_tool(const struct wndl_profile_run *run,
    struct wndl_operands operands, pid_t *pid)
{
    struct tool_options options;
    fill_options(run, &options);
    const struct wndl_valgrind_run valgrind = {
        .tool = run->tool,
        .on_our_malloc = run->on_our_malloc,
        .tool_options = options.texts,
        .options = &run->shared->valgrind,
        .command = operands.texts,
    };
    return wndl_valgrind_run(&valgrind, pid);
}

int wndl_profile_run(
    const struct wndl_profile_run *run, struct wndl_operands operands)
{
    const char *out = run->shared->out;
    bool moved;
    struct stat before = {0};
    if (stat(out, &before) != 0)
        before = (struct stat){0};
    if (!make_room(run, &moved))
        return WNDL_EXIT_FAILURE;
    pid_t pid = -1;
    int exit_code = run_tool(run, operands, &pid);
    if (moved)
        wndl_put_back(out); /* if there are no new ones */
    if (pid < 0)
        return exit_code;
    explain_end(exit_code);
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    expand_name(out, pid, &name);
    exit_code = name.failed ? wndl_cli_error("out of memory")
                            : show_results(run, (const char *)name.data,
                                  &before, exit_code);
    wndl_buf_free(&name);
    return exit_code;
}
