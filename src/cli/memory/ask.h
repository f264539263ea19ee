/* SPDX-License-Identifier: MIT */
/*
 * ask: asks a running process for its memory reports, at the sockets of
 * windlass/memory_serve.h.
 */
#ifndef WNDL_CLI_MEMORY_ASK_H
#define WNDL_CLI_MEMORY_ASK_H

#include "model/memory_reports.h"

#include <sys/types.h>

/*
 * Adds the reports of process `pid`, as far as they come within `timeout`
 * seconds. False: said on stderr which process or reporter did not answer, or
 * why.
 */
bool wndl_memory_ask(
    struct wndl_memory_reports *reports, pid_t pid, double timeout);

#endif
