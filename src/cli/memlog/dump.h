/* SPDX-License-Identifier: MIT */
/* dump: memory event logs as a recording, or in a copy of one. */
#ifndef WNDL_CLI_MEMLOG_DUMP_H
#define WNDL_CLI_MEMLOG_DUMP_H

#include "model/event_log.h"

/*
 * Writes a log that is sorted as the recording `path`: each event as a mark of
 * its thread, and sizes as curves of processes. `with` is a recording that is
 * copied; events of its processes and of its time are added to them, and others
 * are left out, with a note. NULL: there is none. Returns the exit code.
 */
int wndl_memlog_dump(
    const struct wndl_event_log *log, const char *path, const char *with);

#endif
