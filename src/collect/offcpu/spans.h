/* SPDX-License-Identifier: MIT */
/*
 * spans: the data that is read from outside, on its way into the recording: the
 * second stack tree (OSTK), and the spans in which threads did not run (BLOK).
 * One thread. Where memory is out, data is left out.
 */
#ifndef WNDL_COLLECT_OFFCPU_SPANS_H
#define WNDL_COLLECT_OFFCPU_SPANS_H

#include "base/map.h"
#include "base/vec.h"
#include "wndl/write.h"

/* ---- stacks */

struct wndl_offcpu_frame {
    uint64_t address; /* rva, or avma when in no image */
    uint32_t image;   /* index + 1, 0: none */
    uint32_t flags;   /* as in OSTK */
};

/*
 * The tree. Nodes have numbers from 1 on; the first `written` are in the
 * recording.
 */
struct wndl_offcpu_tree {
    struct wndl_arena arena;
    struct wndl_vec nodes; /* by number - 1 */
    struct wndl_map heads; /* hash -> newest node with it */
    uint32_t written;
    uint32_t chunk; /* the type of chunk that has the nodes: OSTK, or STAK */
};

/* Makes an empty tree, for that type of chunk; frees it. */
void wndl_offcpu_tree_init(struct wndl_offcpu_tree *tree, uint32_t chunk);
void wndl_offcpu_tree_free(struct wndl_offcpu_tree *tree);

/*
 * The node of `frame` called by node `parent` (0: none), added if new. 0 when
 * memory is out.
 */
uint32_t wndl_offcpu_tree_node(struct wndl_offcpu_tree *tree, uint32_t parent,
    const struct wndl_offcpu_frame *frame);

/* Writes the new nodes as nodes of the second stack tree. */
void wndl_offcpu_tree_write(struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process);

/*
 * Writes all nodes as further ones of the first stack tree, which has `before`
 * nodes; none was written before.
 */
void wndl_offcpu_tree_append(const struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process, uint32_t before);

/* ---- spans */

enum wndl_span_kind { WNDL_SPAN_BLOCKED = 0, WNDL_SPAN_WAITING = 1 };

/* A span of a thread. Times are CLOCK_MONOTONIC ns. */
struct wndl_offcpu_span {
    uint64_t start, end;
    uint32_t kind;
    uint32_t node;  /* 0: no stack */
    uint32_t ended; /* the end of the walk, enum wndl_walk_end */
};

/*
 * The unwritten spans of one thread: `count` spans in `bytes`, whose first gap
 * counts from `time`, and `last`, which may still grow.
 */
struct wndl_offcpu_spans {
    struct wndl_buf bytes;
    struct wndl_offcpu_span last;
    uint64_t time, written;
    uint32_t count;
};

/* Makes an empty list; frees it. */
void wndl_offcpu_spans_init(struct wndl_offcpu_spans *spans);
void wndl_offcpu_spans_free(struct wndl_offcpu_spans *spans);

/*
 * Adds a span, in order of time; one that starts before the previous one ended
 * is dropped. A span that continues the previous one, with equal fields,
 * extends it.
 */
void wndl_offcpu_spans_add(
    struct wndl_offcpu_spans *spans, const struct wndl_offcpu_span *span);

/*
 * Sets the stack of the last span, if that is blocked up to `end` and not
 * written yet: it has been found since.
 */
void wndl_offcpu_spans_amend(struct wndl_offcpu_spans *spans, uint64_t end,
    uint32_t node, uint32_t ended);

/* Writes all spans; the tree must have been written before. */
void wndl_offcpu_spans_write(struct wndl_offcpu_spans *spans,
    struct wndl_recording *recording, uint32_t thread);

#endif
