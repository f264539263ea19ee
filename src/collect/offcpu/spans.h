/* SPDX-License-Identifier: MIT */
/*
 * spans: what was seen of a process from outside, on its way into the
 * recording: the second stack tree (OSTK) and what threads did while they did
 * not run (BLOK). One thread. Where memory is out things are left out.
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
    uint32_t flags;   /* as OSTK has them */
};

/* Nodes have numbers from 1 on; `written` of them are in the recording. */
struct wndl_offcpu_tree {
    struct wndl_arena arena;
    struct wndl_vec nodes; /* by number - 1 */
    struct wndl_map heads; /* hash -> newest node with it */
    uint32_t written;
};

void wndl_offcpu_tree_init(struct wndl_offcpu_tree *tree);
void wndl_offcpu_tree_free(struct wndl_offcpu_tree *tree);

/* The node of `frame` called by node `parent` (0: none). 0: no room. */
uint32_t wndl_offcpu_tree_node(struct wndl_offcpu_tree *tree, uint32_t parent,
    const struct wndl_offcpu_frame *frame);

/* Writes what is new. */
void wndl_offcpu_tree_write(struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process);

/* ---- times */

enum wndl_span_kind { WNDL_SPAN_BLOCKED = 0, WNDL_SPAN_WAITING = 1 };

/* Times are CLOCK_MONOTONIC ns. */
struct wndl_offcpu_span {
    uint64_t start, end;
    uint32_t kind;
    uint32_t node;  /* 0: no stack */
    uint32_t ended; /* how the walk did, enum wndl_walk_end */
};

/*
 * Of one thread, not written yet: `count` spans in `bytes`, the first gap of
 * which counts from `time`, and `last`, which may still grow.
 */
struct wndl_offcpu_spans {
    struct wndl_buf bytes;
    struct wndl_offcpu_span last;
    uint64_t time, told;
    uint32_t count;
};

void wndl_offcpu_spans_init(struct wndl_offcpu_spans *spans);
void wndl_offcpu_spans_free(struct wndl_offcpu_spans *spans);

/* In order of time: one that starts before the last ended is left out. One
 * that goes on where the last one of its like ended makes that longer. */
void wndl_offcpu_spans_add(
    struct wndl_offcpu_spans *spans, const struct wndl_offcpu_span *span);

/* Writes all; the tree must have been written. */
void wndl_offcpu_spans_write(struct wndl_offcpu_spans *spans,
    struct wndl_recording *recording, uint32_t thread);

#endif
