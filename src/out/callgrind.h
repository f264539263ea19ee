/* SPDX-License-Identifier: MIT */
/*
 * callgrind: a call graph in the format of Valgrind's Callgrind, which
 * KCachegrind and callgrind_annotate open (docs/formats/callgrind.md).
 */
#ifndef WNDL_OUT_CALLGRIND_H
#define WNDL_OUT_CALLGRIND_H

#include "model/callgraph.h"

#include <stdio.h>

/*
 * Writes `g`, which wndl_callgraph_finish has been called for, as what
 * `command` gave. Names are written as wndl_utf8_plain has them. False when
 * memory is out; trouble with `out` is the caller's to find, by ferror.
 */
bool wndl_callgrind_write(FILE *out, const struct wndl_callgraph *g,
    struct wndl_bytes command, struct wndl_mem *mem);

#endif
