/* SPDX-License-Identifier: MIT */
/* target_check: whether a process that runs may be recorded. */
#ifndef WNDL_CLI_SHARED_TARGET_CHECK_H
#define WNDL_CLI_SHARED_TARGET_CHECK_H

#include "base/status.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a process may be recorded by us. Perf events, which `has_events` says
 * are used, need fewer rights than reads of blocked threads: where only those
 * are refused, it is OK.
 */
enum wndl_status wndl_target_check(
    pid_t pid, bool has_events, struct wndl_error *err);

#endif
