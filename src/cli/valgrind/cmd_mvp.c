/* SPDX-License-Identifier: MIT */
/* windlass mvp: finds bits in memory that never change. */
#include "cli/core/command.h"
#include "cli/valgrind/mvp_show.h"
#include "cli/valgrind/profile_run.h"
#include "in/mvp.h"

#include <stddef.h>

static const struct wndl_option option_table[] = {
    {0, "blocks", NULL, NULL, NULL, NULL,
        "also find which data is larger than it need be: heap blocks by the "
        "site that allocated them; the program runs on Valgrind's allocator",
        WNDL_OPT_FLAG, offsetof(struct wndl_mvp_options, blocks)},
    {0, "type", "SITE=TYPE", NULL, NULL, NULL,
        "with --blocks or --show: name the members of blocks of the struct "
        "TYPE, allocated by a line with SITE in its text, such as "
        "tree.c:41=node; may be repeated",
        WNDL_OPT_LIST, offsetof(struct wndl_mvp_options, types)},
    WNDL_PROFILE_RUN_OPTION_ROWS(struct wndl_mvp_options, shared, "mvp.%p.mvp"),
    WNDL_PROFILE_SHOW_OPTION_ROWS(
        struct wndl_mvp_options, shared, "the costs of lines"),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass mvp -- ./app", "see which loads read bits that never change"},
    {"windlass mvp --blocks -- ./app",
        "see which structs and arrays are larger than they need be"},
    {"windlass mvp --show mvp.4711.mvp -n 100",
        "show more of the results of that run"},
    {"windlass mvp --show mvp.4711.mvp --type tree.c:41=node",
        "see the members of struct node in the blocks of that line"},
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
    const char *const options[] = {
        o->blocks ? "--blocks=yes" : "--blocks=no", NULL};
    const struct wndl_profile_run run = {
        .shared = &o->shared,
        .tool = "mvp",
        .on_our_malloc = o->blocks,
        .tool_options = options,
        .are_results = are_results,
        .show = show,
        .options = o,
    };
    return wndl_profile_run(&run, operands);
}

static int run_mvp(const void *options, struct wndl_operands operands)
{
    const struct wndl_mvp_options *o = options;
    const char *problem = wndl_profile_problem(&o->shared, operands.count);
    if (problem == NULL && o->shared.show == NULL &&
        o->shared.callgrind != NULL)
        problem = "--callgrind needs --show";
    if (problem == NULL)
        problem = wndl_mvp_types_problem(o);
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass mvp --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    return o->shared.show == NULL ? run_command(o, operands)
                                  : wndl_mvp_show(o, o->shared.show);
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
        "8 bytes. Loads of vectors are counted apart.\n\n"
        "With --blocks, it also shows the data of heap blocks by the line that "
        "allocates them: fields with constant bits or few values, equal "
        "fields, bytes that nothing reads or writes, and blocks that could be "
        "one with another.",
    .options = option_table,
    .options_size = sizeof(struct wndl_mvp_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run_mvp,
};
