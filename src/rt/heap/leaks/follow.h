/* SPDX-License-Identifier: MIT */
/*
 * follow: marking the blocks that addresses lead to, and the blocks that those
 * hold addresses of, and so on.
 */
#ifndef WNDL_RT_HEAP_LEAKS_FOLLOW_H
#define WNDL_RT_HEAP_LEAKS_FOLLOW_H

#include "rt/heap/leaks/areas.h"

#include <sys/uio.h>

enum {
    WNDL_RT_COPIED = 64 * 1024,
    WNDL_RT_COPIED_WORDS = WNDL_RT_COPIED / sizeof(uintptr_t),
    /* Words that are looked at, or less than COPIED_WORDS more. */
    WNDL_RT_WORDS = 64 * 1024,
    WNDL_RT_WORDS_ROOM = WNDL_RT_WORDS + WNDL_RT_COPIED_WORDS,
    WNDL_RT_PARTS = 256, /* of memory, copied by one system call */
};

/* How a block is reached; `following` below is one of these. */
enum wndl_rt_reach {
    WNDL_RT_UNREACHED,
    WNDL_RT_POSSIBLE,
    WNDL_RT_REACHED,
    WNDL_RT_INDIRECT,
    WNDL_RT_DEFINITE
};

/* Memory that is to be looked at for addresses. */
struct wndl_rt_part {
    uintptr_t start;
    uint64_t size : 56;     /* whole words */
    uint64_t following : 8; /* what is found there becomes */
};

struct wndl_rt_parts {
    struct wndl_rt_part *parts;
    size_t count;
};

struct wndl_rt_follower {
    struct wndl_rt_areas *areas;
    /* Each block is once at most in each. */
    struct wndl_rt_parts sure, possible;
    uintptr_t *copied;
    struct iovec *parts; /* whose copy that is; room for WNDL_RT_PARTS */
    /* WNDL_RT_WORDS_ROOM words each that may be addresses in blocks. */
    uintptr_t *found, *ordered;
    uintptr_t leader; /* whose clique is followed */
};

/* What is found in [start, end), of its whole words, becomes `following`. */
void wndl_rt_follow_push(struct wndl_rt_follower *s, uintptr_t start,
    uintptr_t end, enum wndl_rt_reach following);

/* All that was pushed, and what that leads to. */
void wndl_rt_follow(struct wndl_rt_follower *s);

#endif
