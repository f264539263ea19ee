/* SPDX-License-Identifier: MIT */
/*
 * record_modules: what `windlass record` and `windlass heap` tell of the
 * modules that stacks go through.
 */
#ifndef WNDL_CLI_RECORD_MODULES_H
#define WNDL_CLI_RECORD_MODULES_H

#include "collect/loop/collector.h"

/*
 * On stderr, for the modules that most of the stacks' nodes are in: how much of
 * their code has unwind information; of those with least, or of each if
 * `verbose`. Reads the modules' call frame information, each once; says nothing
 * of what cannot be read, or was walked by an unwind table.
 */
void wndl_record_say_modules(
    const struct wndl_collector_result *result, bool verbose);

#endif
