/* SPDX-License-Identifier: MIT */
/* keep: memory event logs of processes that have ended. */
#ifndef WNDL_CLI_MEMLOG_KEEP_H
#define WNDL_CLI_MEMLOG_KEEP_H

#include <stdint.h>

/*
 * Moves logs of dead processes to the folder where they are kept, and deletes
 * there those older than `days`, and the oldest while all have more than
 * WNDL_KEEP_BYTES on the disk. A log that cannot be moved stays, with a note.
 */
void wndl_keep_dead(uint64_t days);

enum { WNDL_KEEP_BYTES = 64 * 1024 * 1024 };

#endif
