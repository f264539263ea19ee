/* SPDX-License-Identifier: MIT */
/*
 * descriptor: where a binary describes its generated code to debuggers: the
 * variable __jit_debug_descriptor (GDB's manual, "JIT Compilation Interface").
 */
#ifndef WNDL_COLLECT_PROC_JIT_DESCRIPTOR_H
#define WNDL_COLLECT_PROC_JIT_DESCRIPTOR_H

#include "base/bytes.h"

#include <sys/types.h>

/*
 * The variable's svma. 0 if the binary has none, or if the file does not have
 * that build-id (empty: any). `path` is as process `pid` sees it.
 */
uint64_t wndl_descriptor_find(
    pid_t pid, const char *path, struct wndl_bytes build_id);

#endif
