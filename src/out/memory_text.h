/* SPDX-License-Identifier: MIT */
/*
 * memory_text: memory reports for people, as Firefox's about:memory prints
 * them. Units are MiB, or bytes where they are to be exact.
 */
#ifndef WNDL_OUT_MEMORY_TEXT_H
#define WNDL_OUT_MEMORY_TEXT_H

#include "base/buf.h"
#include "model/memory_tree.h"

/*
 * Appends the trees of a process, whose name is `title`. Parts of less than 1 %
 * of their tree are summed up, unless all is `verbose`, which also writes bytes
 * and descriptions.
 */
void wndl_memory_text_tree(struct wndl_buf *out,
    const struct wndl_memory_tree *tree, struct wndl_bytes title, bool verbose);

/*
 * Appends a line for each path that was reported, with a column for each tree,
 * of `count`, and for their sum if there are several. False if memory is out.
 */
bool wndl_memory_text_flat(struct wndl_buf *out,
    const struct wndl_memory_tree *trees, size_t count, bool verbose,
    struct wndl_arena *arena);

#endif
