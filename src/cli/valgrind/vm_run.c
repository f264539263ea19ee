/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_run.h"

#include "base/buf.h"
#include "cli/core/command.h"
#include "cli/core/terminal.h"
#include "cli/valgrind/launch.h"
#include "cli/valgrind/vm_show.h"
#include "in/vm.h"
#include "os/file.h"
#include "wndl/put_aside.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

struct texts {
    char mem[128], page[64], startup[64], stacks[64], out[PATH_MAX + 64];
};

static void fill_options(const struct wndl_vmprof_options *o, struct texts *t,
    const char *options[16])
{
    size_t n = 0;
    snprintf(t->mem, sizeof t->mem, "--mem=%s", o->mem);
    snprintf(t->page, sizeof t->page, "--page=%s", o->page);
    snprintf(t->startup, sizeof t->startup, "--startup=%" PRIu64, o->startup);
    snprintf(t->stacks, sizeof t->stacks, "--stacks-every=%" PRIu64,
        o->stacks_every);
    snprintf(t->out, sizeof t->out, "--vmprof-out-file=%s", o->out);
    options[n++] = t->mem;
    options[n++] = t->page;
    options[n++] = t->startup;
    options[n++] = t->stacks;
    options[n++] = t->out;
    options[n++] = o->no_paths ? "--paths=no" : "--paths=yes";
    options[n++] = o->no_system ? "--system=no" : "--system=yes";
    options[n++] = o->blocks ? "--blocks=yes" : "--blocks=no";
    options[n++] =
        o->trace_children ? "--trace-children=yes" : "--trace-children=no";
    options[n] = NULL;
}

static bool are_results(const char *path)
{
    struct wndl_file file;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool are = wndl_vm_is(file.bytes);
    wndl_file_close(&file);
    return are;
}

/* Earlier results of this name are kept. A pid makes a name of its own. */
static bool make_room(const char *out, bool *moved)
{
    struct wndl_error err = {0};
    *moved = false;
    if (strchr(out, '%') != NULL ||
        wndl_put_aside(out, are_results, moved, &err) == WNDL_OK)
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

/* The exit code: the command's, unless it hides that there are no results. */
static int show_results(const struct wndl_vmprof_options *o, const char *path,
    const struct stat *before, int exit_code)
{
    if (!is_new(path, before)) {
        wndl_cli_error("the run left no results; see Valgrind's messages "
                       "above; if it gives up on debug information, strip "
                       "the program");
        return exit_code == 0 ? WNDL_EXIT_FAILURE : exit_code;
    }
    if (o->quiet)
        return exit_code;
    wndl_cli_note("results: %s", path);
    wndl_vm_show(o, path);
    return exit_code;
}

int wndl_vm_run(
    const struct wndl_vmprof_options *o, struct wndl_operands operands)
{
    struct texts texts;
    const char *options[16];
    bool moved;
    struct stat before = {0};
    if (stat(o->out, &before) != 0)
        before = (struct stat){0};
    if (!make_room(o->out, &moved))
        return WNDL_EXIT_FAILURE;
    fill_options(o, &texts, options);
    pid_t pid = -1;
    const struct wndl_valgrind_run run = {
        .tool = "vmprof",
        .replaces_malloc = o->blocks,
        .tool_options = options,
        .options = &o->valgrind,
        .command = operands.texts,
    };
    int exit_code = wndl_valgrind_run(&run, &pid);
    if (moved)
        wndl_put_back(o->out); /* if there are no new ones */
    if (pid < 0)
        return exit_code;
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    expand_name(o->out, pid, &name);
    exit_code = name.failed ? wndl_cli_error("out of memory")
                            : show_results(o, (const char *)name.data, &before,
                                  exit_code);
    wndl_buf_free(&name);
    return exit_code;
}
