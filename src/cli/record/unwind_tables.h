/* SPDX-License-Identifier: MIT */
/*
 * record_tables: --unwind-table of `windlass record` and `windlass heap`: which
 * files are attached to which modules, and what became of that.
 */
#ifndef WNDL_CLI_RECORD_UNWIND_TABLES_H
#define WNDL_CLI_RECORD_UNWIND_TABLES_H

#include "cli/record/options.h"

/*
 * Puts what is attached into the request, whose command is there. False, having
 * said why, for a file that is no table, and for one that is not of the module
 * where that is known before it is loaded: it is given by its path, or is the
 * program, or another file that the command names.
 */
bool wndl_record_tables_attach(const struct wndl_option_list *options,
    struct wndl_collector_request *request);

/* On stderr, of each that was not used, and of those in folders that are under
 * the name of a module's but not its table: why. `is_over`: nothing is recorded
 * any more. */
void wndl_record_tables_say(
    const struct wndl_collector_result *result, bool is_over);

#endif
