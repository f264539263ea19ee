/* SPDX-License-Identifier: MIT */
/* join: memory event logs in the recording of their processes. */
#ifndef WNDL_CLI_MEMLOG_JOIN_H
#define WNDL_CLI_MEMLOG_JOIN_H

#include <stdbool.h>

/*
 * Adds the logs of a recording's processes to the recording `path` that was
 * just finished, and notes it unless `is_quiet`. If that fails it says why, and
 * the recording is as it was.
 */
void wndl_memlog_join(const char *path, bool is_quiet);

#endif
