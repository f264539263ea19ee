/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_run.h"

#include "base/buf.h"
#include "cli/core/command.h"
#include "cli/core/terminal.h"
#include "cli/valgrind/launch.h"
#include "cli/valgrind/vm_show.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

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

int wndl_vm_run(
    const struct wndl_vmprof_options *o, struct wndl_operands operands)
{
    struct texts texts;
    const char *options[16];
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
    if (o->quiet || pid < 0)
        return exit_code;
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    expand_name(o->out, pid, &name);
    if (name.failed)
        return wndl_cli_error("out of memory");
    wndl_cli_note("results: %s", (const char *)name.data);
    if (access((const char *)name.data, R_OK) == 0)
        wndl_vm_show(o, (const char *)name.data);
    else
        wndl_cli_note(
            "warning: the run left no results; see Valgrind's messages above");
    wndl_buf_free(&name);
    return exit_code;
}
