/* SPDX-License-Identifier: MIT */
/*
 * stack_texts: a profile's stacks as those of a list of heap blocks, each
 * frame told by a text as docs/fix.md has it.
 */
#ifndef WNDL_ANALYZE_HEAP_STACK_TEXTS_H
#define WNDL_ANALYZE_HEAP_STACK_TEXTS_H

#include "model/heap_records.h"
#include "model/symbolized.h"

/* What is above the outermost frame of a stack that is not complete. */
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
     * By rest, then by the profile's node: the list's frame, 0: not asked. By
     * the profile's frame: where its texts begin, plus 1; 0: not asked. Both
     * are by the thousand, so that little is asked for a heap that is one of
     * many. NULL: none of them was.
     */
    uint32_t **frames_of_nodes[WNDL_HEAP_RESTS];
    uint32_t **texts_of_frames;
    struct wndl_vec texts; /* uint32_t: of the list's strings */
    struct wndl_vec path;  /* uint32_t: nodes still to be added */
};

/*
 * Both `list` and `s` must outlive it; ends with wndl_stack_texts_free in any
 * case. False when memory is out.
 */
bool wndl_stack_texts_init(struct wndl_stack_texts *stacks,
    struct wndl_heap_list *list, const struct wndl_symbolized *s);
void wndl_stack_texts_free(struct wndl_stack_texts *stacks);

/*
 * The stack of a node whose walk ended as `end` says (enum wndl_walk_end);
 * what is not complete has "(truncated)" or "(lost)" for its outermost frame,
 * node 0 the frame "(no stack)" alone. False when memory is out.
 */
bool wndl_stack_texts_of(struct wndl_stack_texts *stacks, uint32_t node,
    uint8_t end, uint32_t *leaf);

#endif
