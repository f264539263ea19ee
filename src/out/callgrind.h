/* SPDX-License-Identifier: MIT */
/*
 * callgrind: a call graph in the format of Valgrind's Callgrind, for
 * KCachegrind and callgrind_annotate (docs/formats/callgrind.md).
 */
#ifndef WNDL_OUT_CALLGRIND_H
#define WNDL_OUT_CALLGRIND_H

#include "model/callgraph.h"

#include <stdio.h>

/*
 * Writes `g`, for which wndl_callgraph_finish has been called; `command` is the
 * profiled command. Names are written as wndl_utf8_plain does. False when
 * memory is out. The caller checks `out` with ferror.
 */
bool wndl_callgrind_write(FILE *out, const struct wndl_callgraph *g,
    struct wndl_bytes command, struct wndl_mem *mem);

#endif
