/* SPDX-License-Identifier: MIT */
/* windlass mvp: finds bits in memory that never change. */
#include "cli/core/command.h"
#include "cli/valgrind/mvp_show.h"
#include "cli/valgrind/profile_run.h"
#include "in/mvp.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#define AT(field) offsetof(struct wndl_mvp_options, field)

static const struct wndl_option option_table[] = {
    {0, "trace-children", NULL, NULL, NULL, NULL,
        "also profile the programs that the command starts", WNDL_OPT_FLAG,
        AT(trace_children)},
    {0, "vg", "OPTION", NULL, NULL, NULL,
        "pass OPTION to Valgrind; may be repeated", WNDL_OPT_LIST,
        AT(valgrind)},
    {'o', "output", "OUT", NULL, "mvp.%p.mvp", NULL,
        "write the results to OUT; %p stands for the pid; results that are "
        "there are kept as OUT.old, any other file that is not "
        "empty is an error",
        WNDL_OPT_TEXT, AT(out)},
    {0, "show", "FILE", NULL, NULL, NULL,
        "show the results of an earlier run instead of running a command",
        WNDL_OPT_TEXT, AT(show)},
    {0, "callgrind", "OUT", NULL, NULL, NULL,
        "with --show: write the costs of lines for KCachegrind", WNDL_OPT_TEXT,
        AT(callgrind)},
    {0, "json", NULL, NULL, NULL, NULL, "show the results as JSON",
        WNDL_OPT_FLAG, AT(json)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "show N rows of each table (default 20)", WNDL_OPT_COUNT, AT(rows)},
    {'q', "quiet", NULL, NULL, NULL, NULL, "show no report after the run",
        WNDL_OPT_FLAG, AT(quiet)},
    WNDL_SYMBOL_OPTION_ROWS(struct wndl_mvp_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass mvp -- ./app", "see which loads read bits that never change"},
    {"windlass mvp --show mvp.4711.mvp -n 100",
        "show more of the results of that run"},
    {NULL, NULL},
};

static bool are_results(const char *path)
{
    return wndl_profile_file_is(path, wndl_mvp_is);
}

static int show(const void *options, const char *path)
{
    return wndl_mvp_show(options, path);
}

static int run_command(
    const struct wndl_mvp_options *o, struct wndl_operands operands)
{
    char out[PATH_MAX + 64];
    snprintf(out, sizeof out, "--mvp-out-file=%s", o->out);
    const char *const options[] = {out,
        o->trace_children ? "--trace-children=yes" : "--trace-children=no",
        NULL};
    const struct wndl_profile_run run = {
        .valgrind = {.tool = "mvp",
            .tool_options = options,
            .options = &o->valgrind},
        .out = o->out,
        .are_results = are_results,
        .quiet = o->quiet,
        .show = show,
        .options = o,
    };
    return wndl_profile_run(&run, operands);
}

static int run_mvp(const void *options, struct wndl_operands operands)
{
    const struct wndl_mvp_options *o = options;
    const char *problem = NULL;
    if (o->show == NULL && operands.count == 0)
        problem = "COMMAND is missing";
    else if (o->show != NULL && operands.count != 0)
        problem = "--show takes no command";
    else if (o->show == NULL && o->callgrind != NULL)
        problem = "--callgrind needs --show";
    else if (!wndl_profile_is_name(o->out))
        problem = "--output takes a name in which only %p stands for something";
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass mvp --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    return o->show == NULL ? run_command(o, operands)
                           : wndl_mvp_show(o, o->show);
}

const struct wndl_command wndl_cmd_mvp = {
    .name = "mvp",
    .group = WNDL_GROUP_SIMULATE,
    .summary = "find bits in memory that never change",
    .operands = "[--] [COMMAND [ARG...]]",
    .description =
        "Runs a command under Valgrind and examines every value that it loads "
        "from memory other than stacks. For each load, it finds the bits "
        "that were the same every time, and counts the distinct sectors of "
        "128 bytes that it read. The product is what a smaller type would "
        "save: a load with many constant bits that reads much memory shows "
        "data that is larger than it need be.\n\n"
        "If the sign of a value varies, bits that always equal it count as one "
        "varying bit; else they are constant. This is of loads of 1, 2, 4 and "
        "8 bytes. Loads of vectors are counted apart.",
    .options = option_table,
    .options_size = sizeof(struct wndl_mvp_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run_mvp,
};
