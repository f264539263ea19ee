/* SPDX-License-Identifier: MIT */
/*
 * jit: finds the files in which the runtimes of recorded processes named their
 * generated code, and names frames by them.
 *
 * The files are found by pid, and pids are reused. So a file counts only if it
 * was last written while the process ran, and if it is a regular file of root,
 * of the reading user, or of the recording user. A forked process also has its
 * parent's code.
 */
#ifndef WNDL_ANALYZE_NAMES_JIT_H
#define WNDL_ANALYZE_NAMES_JIT_H

#include "base/log.h"
#include "model/symbolized.h"

/*
 * Names those of the `count` frames that have a name; all must be in no image
 * and without locations. Their module is then "[JIT] node". `log` (may be NULL)
 * gets the files that were used and those that were not. False when memory is
 * out.
 */
bool wndl_jit_symbolize(struct wndl_symbolized *s, const uint32_t *frames,
    size_t count, const struct wndl_log *log);

#endif
