/* SPDX-License-Identifier: MIT */
/*
 * jit: finds the files in which the recorded processes' runtimes named the
 * code that they generated, and has its frames named by them.
 *
 * They are looked for by pid, which is used again: a file counts only if it
 * was last written while the process ran, and if it is a regular file of
 * root, of whoever reads, or of whoever recorded. A process that was forked
 * goes on with its parent's code.
 */
#ifndef WNDL_ANALYZE_NAMES_JIT_H
#define WNDL_ANALYZE_NAMES_JIT_H

#include "base/log.h"
#include "model/symbolized.h"

/*
 * Names those of the `count` frames, all in no image and without locations,
 * for which there is a name: "[JIT] node" is then their module. `log` (NULL:
 * nobody) hears which files were used and which were not. False when memory
 * is out.
 */
bool wndl_jit_symbolize(struct wndl_symbolized *s, const uint32_t *frames,
    size_t count, const struct wndl_log *log);

#endif
