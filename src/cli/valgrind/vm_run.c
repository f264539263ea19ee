/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_run.h"

#include "cli/valgrind/profile_run.h"
#include "cli/valgrind/vm_show.h"
#include "in/vm.h"

#include <inttypes.h>
#include <stdio.h>

struct texts {
    char mem[128], page[64], startup[64], stacks[64];
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
    options[n++] = t->mem;
    options[n++] = t->page;
    options[n++] = t->startup;
    options[n++] = t->stacks;
    options[n++] = o->no_paths ? "--paths=no" : "--paths=yes";
    options[n++] = o->no_system ? "--system=no" : "--system=yes";
    options[n++] = o->blocks ? "--blocks=yes" : "--blocks=no";
    options[n] = NULL;
}

static bool are_results(const char *path)
{
    return wndl_profile_file_is(path, wndl_vm_is);
}

static int show(const void *options, const char *path)
{
    return wndl_vm_show(options, path);
}

int wndl_vm_run(
    const struct wndl_vmprof_options *o, struct wndl_operands operands)
{
    struct texts texts;
    const char *options[16];
    fill_options(o, &texts, options);
    const struct wndl_profile_run run = {
        .shared = &o->shared,
        .tool = "vmprof",
        .on_our_malloc = o->blocks,
        .tool_options = options,
        .are_results = are_results,
        .show = show,
        .options = o,
    };
    return wndl_profile_run(&run, operands);
}
