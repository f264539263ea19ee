/* SPDX-License-Identifier: MIT */
/*
 * last_walk: the memory of a resumed walk: its frames, and what is left of the
 * walk before it. resume.c tells what it is for.
 */
#ifndef WNDL_UNWIND_FAST_LAST_WALK_H
#define WNDL_UNWIND_FAST_LAST_WALK_H

#include "unwind/fast/walker.h"

struct word {
    uintptr_t at, value;
};

struct state {
    uint64_t sp, fp, high; /* as the walker's */
    uint32_t words;        /* index of the frame's first */
};

/*
 * What the hot loop leaves of a frame: all else that there is to know of it is
 * made of that and of its caller's. Stored and read in the same pieces, which
 * need not wait for the memory.
 */
struct note {
    uint64_t sp, fp;
    uint64_t pc;    /* the frame's word, less the bits of the loop's frames */
    uint64_t fp_at; /* where the step read FP: where it did not, the pc is */
};

/*
 * Two walks: that under way, from index 0 on, and the last one, whose
 * outermost frame is at the end of the arrays. Of the last one, the frames
 * from `top` on are there. Both are innermost first, and so are their words:
 * those of frame i are from state[i].words to state[i + 1].words.
 */
struct wndl_resume {
    struct wndl_unwinder *u;
    uint32_t max, end; /* frames of a walk; of both */
    uint32_t words_end;
    uint32_t top;
    uint32_t words;   /* of the walk under way */
    uint32_t next;    /* frame of the last walk that may be met next */
    uint32_t changed; /* frames before what is of the last walk */
    uint32_t walks;
    bool joined;   /* the walk under way has been put before that */
    bool spoiled;  /* a barrier found no room */
    bool called;   /* the first frame is a return address */
    bool compared; /* from where the last walk may be met on it is as now */
    uint64_t high; /* where the range ends that the walk starts in; 0: none */
    wndl_generation generation;
    enum wndl_walk_method method;
    uintptr_t never; /* 0: what the words of barriers are at */
    wndl_frame_word *frames;
    struct state *states;
    struct word *list;
    uint32_t *frame_of; /* the last walk's words' frames */
    uint32_t *carried;  /* as the last walk's frames: from `max` on */
    struct note *notes; /* of one run of the hot loop */
};

enum { WNDL_RESUME_SPARE_WORDS = 64 };

static inline struct word changes_always(const struct wndl_resume *r)
{
    return (struct word){(uintptr_t)&r->never, 1};
}

/* One for each frame, and for some that others then took the place of. */
static inline void add_barrier(struct wndl_resume *r, size_t frame)
{
    if (r->words < 2 * frame + WNDL_RESUME_SPARE_WORDS - 2)
        r->list[r->words++] = changes_always(r);
    else
        r->spoiled = true;
}

/*
 * Whether the frame, with this SP and FP in the range that ends at `high`, is
 * one of the last walk's, which is then `next`.
 */
static inline bool meets(struct wndl_resume *r, wndl_frame_word frame,
    uint64_t sp, uint64_t fp, uint64_t high)
{
    uint32_t k = r->next;
    while (k < r->end && r->states[k].sp < sp)
        k++;
    r->next = k;
    return k < r->end && r->states[k].sp == sp && r->states[k].fp == fp &&
           r->frames[k] == frame && r->states[k].high <= high;
}

static inline uint64_t next_sp(const struct wndl_resume *r)
{
    return r->next < r->end ? r->states[r->next].sp : UINT64_MAX;
}

static inline bool is_barrier(const struct wndl_resume *r, uint32_t frame)
{
    return r->list[r->states[frame].words].at == (uintptr_t)&r->never;
}

static inline void joined(struct wndl_resume *r, uint32_t count, uint32_t k)
{
    r->top = k - count;
    r->changed = count;
    r->joined = true;
}

/* Puts the walk under way, of `count` frames, before the last one's `k`. */
void wndl_resume_join(struct wndl_resume *r, uint32_t count, uint32_t k);

#endif
