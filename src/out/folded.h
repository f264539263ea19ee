/* SPDX-License-Identifier: MIT */
/*
 * folded: one stack on each line, "root;...;leaf N", for flame graph tools
 * (docs/formats/folded.md).
 */
#ifndef WNDL_OUT_FOLDED_H
#define WNDL_OUT_FOLDED_H

#include "base/intern.h"
#include "model/calltree.h"

#include <stdio.h>

/*
 * Writes each node with a self cost, in the tree's order, with its time in
 * units of `unit` ns (> 0), rounded, but at least 1. The keys of all nodes must
 * be ids of `strings`. False when memory is out. The caller checks `out` with
 * ferror.
 */
bool wndl_folded_write(FILE *out, const struct wndl_calltree *tree,
    const struct wndl_intern *strings, uint64_t unit, struct wndl_mem *mem);

#endif
