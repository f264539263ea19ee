/* SPDX-License-Identifier: MIT */
/*
 * folded: stacks one a line, "root;...;leaf N", as flame graph tools read
 * them (docs/formats/folded.md).
 */
#ifndef WNDL_OUT_FOLDED_H
#define WNDL_OUT_FOLDED_H

#include "base/intern.h"
#include "model/calltree.h"

#include <stdio.h>

/*
 * Writes each node that something ended in, in the tree's order, with its
 * time in units of `unit` ns, > 0, rounded, but at least 1. The keys of
 * all nodes must be ids of `strings`. False when memory is out; trouble with
 * `out` is the caller's to find, by ferror.
 */
bool wndl_folded_write(FILE *out, const struct wndl_calltree *tree,
    const struct wndl_intern *strings, uint64_t unit, struct wndl_mem *mem);

#endif
