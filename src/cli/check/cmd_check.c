/* SPDX-License-Identifier: MIT */
/* windlass check: finds errors of memory and races by Valgrind's checkers. */
#include "cli/check/report.h"
#include "cli/check/session.h"
#include "cli/core/command.h"

#include <stddef.h>
#include <string.h>

#define AT(field) offsetof(struct wndl_check_options, field)

enum { RUNS_MAX = 1000, SHARDS_MAX = 256 };

static const struct wndl_option option_table[] = {
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write the list to OUT: a page if its name ends in .html, else JSON, "
        "which is a baseline, too; may be repeated",
        WNDL_OPT_LIST, AT(outputs)},
    {0, "baseline", "FILE", NULL, NULL, NULL,
        "compare with the list that an earlier -o FILE wrote, and fail for new "
        "errors only",
        WNDL_OPT_TEXT, AT(baseline)},
    {0, "history", "FILE", NULL, NULL, NULL,
        "add a line with the counts of each kind to FILE, and show the last "
        "ones",
        WNDL_OPT_TEXT, AT(history)},
    {0, "runs", "N", NULL, NULL, NULL,
        "run the command N times, threads in another order each time, and say "
        "how many runs saw each error",
        WNDL_OPT_COUNT, AT(runs)},
    {0, "shards", "N", NULL, NULL, NULL,
        "run N commands at the same time; {shard} and {shards} in them stand "
        "for their number and N, as GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS",
        WNDL_OPT_COUNT, AT(shards)},
    {0, "wrap", "PATTERN", NULL, NULL, NULL,
        "check those programs that the command starts whose name or path "
        "matches PATTERN, and nothing else; may be repeated",
        WNDL_OPT_LIST, AT(wrap)},
    {0, "timeout", "SECONDS", NULL, NULL, NULL,
        "end a command that runs for longer, and show what was found",
        WNDL_OPT_REAL, AT(timeout)},
    {0, "leaks", "KIND", "definite|possible|none", "definite", NULL,
        "find leaks that are definite, or also those that are possible, or "
        "none",
        WNDL_OPT_CHOICE, AT(leaks)},
    {0, "suppressions", "FILE", NULL, NULL, NULL,
        "leave out what FILE names, in Valgrind's format, beside our own file; "
        "may be repeated",
        WNDL_OPT_LIST, AT(suppressions)},
    {0, "gdb", NULL, NULL, NULL, NULL,
        "stop at the first error and wait for gdb, as Valgrind then says",
        WNDL_OPT_FLAG, AT(gdb)},
    {0, "log-socket", "HOST:PORT", NULL, NULL, NULL,
        "send Valgrind's own messages there (valgrind-listener)", WNDL_OPT_TEXT,
        AT(log_socket)},
    {0, "vg", "OPTION", NULL, NULL, NULL,
        "pass OPTION to Valgrind; may be repeated", WNDL_OPT_LIST,
        AT(valgrind)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "show N errors of each part (default 20)", WNDL_OPT_COUNT, AT(rows)},
    {'q', "quiet", NULL, NULL, NULL, NULL, "show no list after the run",
        WNDL_OPT_FLAG, AT(quiet)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass check -- ./app", "find errors of memory, and leaks"},
    {"windlass check helgrind --runs 5 -- ./app",
        "find races, and how often each is seen"},
    {"windlass check -o base.json -- ./tests",
        "write the errors that are known"},
    {"windlass check --baseline base.json -o now.html -- ./tests",
        "fail if there are others"},
    {"windlass check --wrap 'test_*' -- make check",
        "check the programs that a test runner starts"},
    {NULL, NULL},
};

/* Takes the name of a tool off the operands, if it is there. */
static enum wndl_check_tool take_tool(struct wndl_operands *operands)
{
    for (int tool = WNDL_MEMCHECK; tool <= WNDL_DRD; tool++) {
        if (strcmp(operands->texts[0],
                wndl_check_tool_name((enum wndl_check_tool)tool)) != 0)
            continue;
        operands->texts++;
        operands->count--;
        return (enum wndl_check_tool)tool;
    }
    return WNDL_MEMCHECK;
}

static const char *problem_of(
    const struct wndl_check_options *o, const struct wndl_operands *operands)
{
    if (operands->count == 0)
        return "COMMAND is missing";
    if (o->shards > SHARDS_MAX)
        return "--shards is at most 256";
    if (o->runs > RUNS_MAX)
        return "--runs is at most 1000";
    if (o->gdb && (o->runs > 1 || o->shards != 0 || o->timeout != 0))
        return "--gdb is for one run without a time limit";
    return NULL;
}

static int run_check(const void *options, struct wndl_operands operands)
{
    const struct wndl_check_options *o = options;
    struct wndl_check_session session;
    const enum wndl_check_tool tool = take_tool(&operands);
    const char *problem = problem_of(o, &operands);
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass check --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    struct wndl_check_report report;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_check_report_open(&report, o)) {
        exit_code = wndl_check_session_run(&session, o, tool, operands.texts)
                        ? wndl_check_report(&report, &session)
                        : session.exit_code;
        wndl_check_session_close(&session);
    }
    wndl_check_report_close(&report);
    return exit_code;
}

const struct wndl_command wndl_cmd_check = {
    .name = "check",
    .group = WNDL_GROUP_SIMULATE,
    .summary = "find errors of memory, leaks and races",
    .operands = "[memcheck|helgrind|drd] -- COMMAND [ARG...]",
    .description =
        "Runs a command under one of Valgrind's checkers, Memcheck if none is "
        "named, with options that suit the program, and shows one ranked list "
        "of the distinct errors: by their kind and the functions where they "
        "happened, not by lines, so that a list can be compared with that of "
        "an earlier version.\n\n"
        "Memcheck runs a command a second time if it used a value that was "
        "never set, to find where that value came from.\n\n"
        "The exit status is 3 if there are errors in the program's own modules "
        "or in the C and C++ libraries that it called (with --baseline: new "
        "ones); else that of the command. It is 125 if the command could not "
        "be started.",
    .options = option_table,
    .options_size = sizeof(struct wndl_check_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run_check,
};
