/* SPDX-License-Identifier: MIT */
/*
 * tags: whose a block is. A tag is a name, which the program gave, or the stack
 * that created a thread, from which the reader of a recording decides whose
 * that thread is.
 */
#ifndef WNDL_REC_TAGS_H
#define WNDL_REC_TAGS_H

#include <stdint.h>

enum {
    WNDL_TAGS = 16384, /* numbers, of which 0 is none */
    WNDL_TAG_NAME = 52 /* with the 0 at its end */
};

/* The tag of a thread has no name, but a node. It never changes once used. */
struct wndl_tag {
    uint32_t is_used; /* written last; 0: no such tag */
    uint32_t node;    /* of the stack that created the thread; or 0 */
    uint32_t outer;   /* tag of the thread that did; or 0 */
    char name[WNDL_TAG_NAME];
};

_Static_assert(sizeof(struct wndl_tag) == 64, "the same on every machine");

#endif
