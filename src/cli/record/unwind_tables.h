/* SPDX-License-Identifier: MIT */
/*
 * record_tables: --unwind-table of `windlass record` and `windlass heap`:
 * attaches files to modules, and reports which were not used.
 */
#ifndef WNDL_CLI_RECORD_UNWIND_TABLES_H
#define WNDL_CLI_RECORD_UNWIND_TABLES_H

#include "cli/record/options.h"

/*
 * Puts the attached tables into the request, whose command is set. False, with
 * an error on stderr, for a file that is no table, and for a table of another
 * module if the module is known before it is loaded: it is given by its path,
 * or is the program, or another file on the command line.
 */
bool wndl_record_tables_attach(const struct wndl_option_list *options,
    struct wndl_collector_request *request);

/* Reports on stderr why a table was not used: each attached one, and those in
 * folders that have a module's name but belong to another binary. `is_over`:
 * the recording has ended. */
void wndl_record_tables_say(
    const struct wndl_collector_result *result, bool is_over);

#endif
