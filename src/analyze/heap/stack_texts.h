/* SPDX-License-Identifier: MIT */
/*
 * stack_texts: a profile's stacks as stacks of a list of heap blocks, with a
 * text for each frame as in docs/fix.md.
 */
#ifndef WNDL_ANALYZE_HEAP_STACK_TEXTS_H
#define WNDL_ANALYZE_HEAP_STACK_TEXTS_H

#include "model/heap_records.h"
#include "model/symbolized.h"

/* The frame above the outermost frame of a stack that is not complete. */
enum wndl_stack_rest {
    WNDL_HEAP_REST_NONE,
    WNDL_HEAP_REST_TRUNCATED,
    WNDL_HEAP_REST_LOST,
    WNDL_HEAP_RESTS,
};

struct wndl_stack_texts {
    struct wndl_heap_list *list;
    const struct wndl_symbolized *s;
    struct wndl_arena arena;
    /*
     * By rest, then by the profile's node: the list's frame; 0: not made yet.
     * By the profile's frame: the start of its texts, plus 1; 0: not made yet.
     * Both are allocated in blocks of a thousand, since one of many heaps needs
     * few; NULL: none made yet.
     */
    uint32_t **frames_of_nodes[WNDL_HEAP_RESTS];
    uint32_t **texts_of_frames;
    struct wndl_vec texts; /* uint32_t: of the list's strings */
    struct wndl_vec path;  /* uint32_t: nodes that are still to be added */
};

/*
 * Makes it empty. `list` and `s` must outlive it. Ends with
 * wndl_stack_texts_free, even after a failure. False when memory is out.
 */
bool wndl_stack_texts_init(struct wndl_stack_texts *stacks,
    struct wndl_heap_list *list, const struct wndl_symbolized *s);
void wndl_stack_texts_free(struct wndl_stack_texts *stacks);

/*
 * Sets *leaf to the stack of a node whose walk ended with `end` (enum
 * wndl_walk_end). A stack that is not complete has "(truncated)" or "(lost)" as
 * its outermost frame; node 0 has only the frame "(no stack)". False when
 * memory is out.
 */
bool wndl_stack_texts_of(struct wndl_stack_texts *stacks, uint32_t node,
    uint8_t end, uint32_t *leaf);

#endif
