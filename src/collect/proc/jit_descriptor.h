/* SPDX-License-Identifier: MIT */
/*
 * descriptor: where a binary tells debuggers of code that it generates: the
 * variable __jit_debug_descriptor (GDB's manual, "JIT Compilation Interface").
 */
#ifndef WNDL_COLLECT_PROC_JIT_DESCRIPTOR_H
#define WNDL_COLLECT_PROC_JIT_DESCRIPTOR_H

#include "base/bytes.h"

#include <sys/types.h>

/* svma; 0: it has none, or is not the file of that build-id (if not empty).
 * `path` as process `pid` sees it. */
uint64_t wndl_descriptor_find(
    pid_t pid, const char *path, struct wndl_bytes build_id);

#endif
