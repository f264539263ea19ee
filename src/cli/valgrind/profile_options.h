/* SPDX-License-Identifier: MIT */
/*
 * profile_options: the options that all commands have which run a program under
 * one of our Valgrind tools.
 */
#ifndef WNDL_CLI_VALGRIND_PROFILE_OPTIONS_H
#define WNDL_CLI_VALGRIND_PROFILE_OPTIONS_H

#include "cli/core/options.h"
#include "cli/shared/symbol_options.h"

/* Texts are borrowed from the command line. */
struct wndl_profile_options {
    bool trace_children;
    struct wndl_option_list valgrind; /* for Valgrind itself */
    const char *out;                  /* only %p stands for something */
    const char *show;                 /* results of an earlier run, or NULL */
    const char *callgrind;            /* file to write, or NULL */
    bool json;
    uint64_t rows; /* 0: as usual */
    bool quiet;
    struct wndl_symbol_options symbols;
};

/* Rows of a command's table; `field` of its struct `type` is of the struct
 * above, and `results` the usual name of results. Those of a run... */
#define WNDL_PROFILE_RUN_OPTION_ROWS(type, field, results)                     \
    {0, "trace-children", NULL, NULL, NULL, NULL,                              \
        "also profile the programs that the command starts", WNDL_OPT_FLAG,    \
        offsetof(type, field.trace_children)},                                 \
        {0, "vg", "OPTION", NULL, NULL, NULL,                                  \
            "pass OPTION to Valgrind; may be repeated", WNDL_OPT_LIST,         \
            offsetof(type, field.valgrind)},                                   \
        {'o', "output", "OUT", NULL, results, NULL,                            \
            "write the results to OUT; %p stands for the pid; results that "   \
            "are there are kept as OUT.old, any other file that is not "       \
            "empty is an error",                                               \
            WNDL_OPT_TEXT, offsetof(type, field.out)},                         \
    {                                                                          \
        0, "show", "FILE", NULL, NULL, NULL,                                   \
            "show the results of an earlier run instead of running a command", \
            WNDL_OPT_TEXT, offsetof(type, field.show)                          \
    }

/* ... and those of what is shown; `graph` is what --callgrind writes. */
#define WNDL_PROFILE_SHOW_OPTION_ROWS(type, field, graph)                      \
    {0, "callgrind", "OUT", NULL, NULL, NULL,                                  \
        "with --show: write " graph " for KCachegrind", WNDL_OPT_TEXT,         \
        offsetof(type, field.callgrind)},                                      \
        {0, "json", NULL, NULL, NULL, NULL, "show the results as JSON",        \
            WNDL_OPT_FLAG, offsetof(type, field.json)},                        \
        {'n', "rows", "N", NULL, NULL, NULL,                                   \
            "show N rows of each table (default 20)", WNDL_OPT_COUNT,          \
            offsetof(type, field.rows)},                                       \
        {'q', "quiet", NULL, NULL, NULL, NULL, "show no report after the run", \
            WNDL_OPT_FLAG, offsetof(type, field.quiet)},                       \
        WNDL_SYMBOL_OPTION_ROWS(type, field.symbols)

/*
 * What is wrong with the options for a command line with so many operands, or
 * NULL. That files for other tools need --show is the caller's to check.
 */
const char *wndl_profile_problem(
    const struct wndl_profile_options *o, size_t operands);

#endif
