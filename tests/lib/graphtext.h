/* SPDX-License-Identifier: MIT */
/* graphtext: what a reader makes of a text, as a callgrind file. */
#ifndef WNDL_TESTS_GRAPHTEXT_H
#define WNDL_TESTS_GRAPHTEXT_H

#include "model/graph_stack.h"

/* As readers of files of stacks or call graphs are. */
typedef enum wndl_status graph_reader(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err);

/* From "events:" on, cycles kept; to be freed. */
char *graph_text(struct wndl_callgraph *g);

/* Fails the test unless `file` is read as `expected`, and so much passed
 * over, the first at `first`. */
void assert_graph_read(graph_reader *read, struct wndl_bytes file,
    const char *expected, const struct wndl_damage *damage);

/*
 * Fails the test unless every beginning of `file` is read, or refused with an
 * error that says where, and no more than `most` units of each are passed
 * over; memory may run out anywhere in it.
 */
void assert_graph_cut(
    graph_reader *read, struct wndl_bytes file, uint64_t most);

#endif
