/* SPDX-License-Identifier: MIT */
/*
 * own_frames: the functions of a stack that are the program's own code and do
 * more than to allocate: no libraries of the system, no allocation wrappers.
 */
#ifndef WNDL_ANALYZE_HEAP_OWN_FRAMES_H
#define WNDL_ANALYZE_HEAP_OWN_FRAMES_H

#include "model/heap.h"
#include "model/symbolized.h"

/* Blocks of one stack and one requested size. */
struct wndl_own_blocks {
    uint32_t node; /* not 0 */
    bool is_reported;
    uint64_t requested; /* bytes of one block */
    double blocks, bytes;
};

struct wndl_own_frames {
    const struct wndl_symbolized *s;
    struct wndl_arena arena;
    bool *is_own;     /* by module */
    bool *is_wrapper; /* by function */
};

/*
 * Finds the wrappers among the functions that allocate `blocks`. A function is
 * one if it only ever passes on what it allocates, as far as its name or its
 * callers tell: each caller gets sizes of its own. Ends with
 * wndl_own_frames_free, even after a failure. False when memory is out.
 */
bool wndl_own_frames_init(struct wndl_own_frames *own,
    const struct wndl_symbolized *s, const struct wndl_vec *blocks,
    struct wndl_mem *mem);
void wndl_own_frames_free(struct wndl_own_frames *own);

/* A walk over the functions of a stack, the innermost first. */
struct wndl_own_walk {
    const struct wndl_symbolized *s;
    uint32_t node;
    uint32_t location;
};

/* False at the end. */
bool wndl_own_walk_next(struct wndl_own_walk *walk, uint32_t *function);

/* Whether the function is of the program's own code, and no wrapper. */
bool wndl_own_frames_has(const struct wndl_own_frames *own, uint32_t function);

#endif
