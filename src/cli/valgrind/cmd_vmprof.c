/* SPDX-License-Identifier: MIT */
/* windlass vmprof: finds the code that pages when memory is short. */
#include "cli/core/command.h"
#include "cli/valgrind/vm_options.h"
#include "cli/valgrind/vm_run.h"
#include "cli/valgrind/vm_show.h"
#include "model/vm.h"

#include <stddef.h>
#include <string.h>

#define AT(field) offsetof(struct wndl_vmprof_options, field)

static const struct wndl_option option_table[] = {
    {0, "mem", "SIZES", NULL, "64M", NULL,
        "simulate real memory of this size, or of several sizes, such as "
        "64M,256M",
        WNDL_OPT_TEXT, AT(mem)},
    {0, "page", "SIZE", NULL, "4K", NULL, "size of a page, such as 2M",
        WNDL_OPT_TEXT, AT(page)},
    {0, "blocks", NULL, NULL, NULL, NULL,
        "also count faults by the site that allocated the heap block; the "
        "program runs on Valgrind's allocator",
        WNDL_OPT_FLAG, AT(blocks)},
    {0, "no-paths", NULL, NULL, NULL, NULL,
        "do not count faults by call path, which is faster", WNDL_OPT_FLAG,
        AT(no_paths)},
    {0, "no-system", NULL, NULL, NULL, NULL,
        "leave out the memory that system calls read and write", WNDL_OPT_FLAG,
        AT(no_system)},
    {0, "startup", "N", NULL, NULL, NULL,
        "record the order in which code runs in the first N instructions",
        WNDL_OPT_COUNT, AT(startup)},
    {0, "stacks-every", "N", NULL, NULL, NULL,
        "record a stack every N instructions", WNDL_OPT_COUNT,
        AT(stacks_every)},
    WNDL_PROFILE_RUN_OPTION_ROWS(
        struct wndl_vmprof_options, shared, "vmprof.%p.vm"),
    {0, "show-mem", "SIZE", NULL, NULL, NULL,
        "show the faults in memory of this size (default: the smallest)",
        WNDL_OPT_SIZE, AT(show_mem)},
    {0, "order-file", "OUT", NULL, NULL, NULL,
        "with --show: write the functions that ran at the start, for lld's "
        "--symbol-ordering-file",
        WNDL_OPT_TEXT, AT(order)},
    {0, "section-order-file", "OUT", NULL, NULL, NULL,
        "with --show: the same for --section-ordering-file of gold and mold",
        WNDL_OPT_TEXT, AT(section_order)},
    {0, "recording", "OUT", NULL, NULL, NULL,
        "with --show: write the stacks of --stacks-every as a recording; an "
        "instruction counts as a nanosecond",
        WNDL_OPT_TEXT, AT(recording)},
    WNDL_PROFILE_SHOW_OPTION_ROWS(
        struct wndl_vmprof_options, shared, "a call graph"),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass vmprof --mem 64M,128M,256M -- ./app",
        "see how much memory the program needs before it pages"},
    {"windlass vmprof --show vmprof.4711.vm --callgrind callgrind.out.vm",
        "show the results of that run in KCachegrind"},
    {NULL, NULL},
};

/* "64M,1G": at most so many, each at least two pages large. */
static bool are_sizes(const char *text, unsigned most)
{
    for (unsigned count = 1; count <= most; count++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 12 || text[0] == '0')
            return false;
        text += digits;
        text += *text != '\0' && strchr("KMGkmg", *text) != NULL;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

static bool writes_file(const struct wndl_vmprof_options *o)
{
    return o->shared.callgrind != NULL || o->recording != NULL ||
           o->order != NULL || o->section_order != NULL;
}

static const char *problem_of(const struct wndl_vmprof_options *o)
{
    if (o->shared.show == NULL && writes_file(o))
        return "--callgrind, --recording, --order-file and "
               "--section-order-file need --show";
    if (!are_sizes(o->mem, WNDL_VM_MEMORIES))
        return "--mem takes up to 16 sizes like 64M, separated by commas";
    return are_sizes(o->page, 1) ? NULL : "--page takes a size like 4K";
}

static int run_vmprof(const void *options, struct wndl_operands operands)
{
    const struct wndl_vmprof_options *o = options;
    const char *problem = wndl_profile_problem(&o->shared, operands.count);
    if (problem == NULL)
        problem = problem_of(o);
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass vmprof --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    return o->shared.show == NULL ? wndl_vm_run(o, operands)
                                  : wndl_vm_show(o, o->shared.show);
}

const struct wndl_command wndl_cmd_vmprof = {
    .name = "vmprof",
    .group = WNDL_GROUP_SIMULATE,
    .summary = "find the code that pages when memory is short",
    .operands = "[--] [COMMAND [ARG...]]",
    .description =
        "Runs a command under Valgrind as if the machine had only as much real "
        "memory as --mem says, and counts page faults by function, line and "
        "mapping. The simulation is exact and repeatable: every instruction "
        "fetch and every access to data counts as a use of its page, and when "
        "memory is full the clock algorithm picks the page to evict.\n\n"
        "A fault is dirty if the evicted page had been written to. The first "
        "access to a page is counted apart, as a first touch.\n\n"
        "With several sizes, all are simulated in one run and the report shows "
        "the faults of each, with the knee of the curve.",
    .options = option_table,
    .options_size = sizeof(struct wndl_vmprof_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run_vmprof,
};
