/* SPDX-License-Identifier: MIT */
/* signal: the signal that a core file is of, in words. */
#ifndef WNDL_CLI_STACK_SIGNAL_H
#define WNDL_CLI_STACK_SIGNAL_H

#include "base/buf.h"
#include "snapshot/snapshot.h"

enum { WNDL_SIGNAL_NAME = 24 };

/* "SIGSEGV", or "signal 40". Returns `name`. */
const char *wndl_signal_name(int32_t number, char name[WNDL_SIGNAL_NAME]);

/* Appends what is known of it, such as its address. `pid`: of the process. */
void wndl_signal_text(const struct wndl_snapshot_signal *signal, uint32_t pid,
    struct wndl_buf *out);

#endif
