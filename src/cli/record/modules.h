/* SPDX-License-Identifier: MIT */
/*
 * record_modules: the report of `windlass record` and `windlass heap` on the
 * modules that stacks go through.
 */
#ifndef WNDL_CLI_RECORD_MODULES_H
#define WNDL_CLI_RECORD_MODULES_H

#include "collect/loop/collector.h"

/*
 * Prints on stderr how much of the code has unwind information, for the modules
 * with most nodes of the stack tree: for those with least, or for each if
 * `verbose`. Reads the call frame information of each module once. Leaves out
 * modules that cannot be read, or that were walked by an unwind table.
 */
void wndl_record_say_modules(
    const struct wndl_collector_result *result, bool verbose);

#endif
