/* SPDX-License-Identifier: MIT */
/*
 * follow: marks the blocks that addresses point to, the blocks that these point
 * to, and so on.
 */
#ifndef WNDL_RT_HEAP_LEAKS_FOLLOW_H
#define WNDL_RT_HEAP_LEAKS_FOLLOW_H

#include "rt/heap/leaks/areas.h"

#include <sys/uio.h>

enum {
    WNDL_RT_COPIED = 64 * 1024,
    WNDL_RT_COPIED_WORDS = WNDL_RT_COPIED / sizeof(uintptr_t),
    /* The number of words that are examined, or less than COPIED_WORDS more. */
    WNDL_RT_WORDS = 64 * 1024,
    WNDL_RT_WORDS_ROOM = WNDL_RT_WORDS + WNDL_RT_COPIED_WORDS,
    WNDL_RT_PARTS = 256, /* parts that one system call copies */
};

/* The way in which a block is reached. `following` below is one of these. */
enum wndl_rt_reach {
    WNDL_RT_UNREACHED,
    WNDL_RT_POSSIBLE,
    WNDL_RT_REACHED,
    WNDL_RT_INDIRECT,
    WNDL_RT_DEFINITE
};

/* A part of memory that will be searched for addresses. */
struct wndl_rt_part {
    uintptr_t start;
    uint64_t size : 56;     /* whole words */
    uint64_t following : 8; /* the reach of blocks that are found in it */
};

struct wndl_rt_parts {
    struct wndl_rt_part *parts;
    size_t count;
};

struct wndl_rt_follower {
    struct wndl_rt_areas *areas;
    /* Each block is in each of these at most once. */
    struct wndl_rt_parts sure, possible;
    uintptr_t *copied;
    struct iovec *parts; /* the parts in `copied`; room for WNDL_RT_PARTS */
    /* WNDL_RT_WORDS_ROOM words each, which may be addresses in blocks. */
    uintptr_t *found, *ordered;
    uintptr_t leader; /* block whose clique is followed */
};

/*
 * Pushes the whole words of [start, end). Blocks that they point to become
 * `following`.
 */
void wndl_rt_follow_push(struct wndl_rt_follower *s, uintptr_t start,
    uintptr_t end, enum wndl_rt_reach following);

/* Follows all that was pushed, and all that it leads to. */
void wndl_rt_follow(struct wndl_rt_follower *s);

#endif
