/* SPDX-License-Identifier: MIT */
/*
 * last_walk: the memory of a resumed walk: its frames, and the rest of the walk
 * before it. resume.c explains its use.
 */
#ifndef WNDL_UNWIND_FAST_LAST_WALK_H
#define WNDL_UNWIND_FAST_LAST_WALK_H

#include "unwind/fast/walker.h"

struct word {
    uintptr_t at, value;
};

struct state {
    uint64_t sp, fp, high; /* as in the walker */
    uint32_t words;        /* index of the frame's first word */
};

/*
 * The hot loop's note of a frame. Everything else about the frame follows from
 * its note and its caller's. It is stored and read in the same pieces, so that
 * reads need not wait for memory.
 */
struct note {
    uint64_t sp, fp;
    uint64_t pc;    /* the frame's word, without the bits of the loop's
                     * frames */
    uint64_t fp_at; /* where the step read FP; if it did not, where it read
                     * the pc */
};

/*
 * Two walks. The one under way starts at index 0. The last one has its
 * outermost frame at the end of the arrays; its frames from `top` on are still
 * there. Both are innermost first, and so are their words. Those of frame i are
 * from states[i].words to states[i + 1].words.
 */
struct wndl_resume {
    struct wndl_unwinder *u;
    uint32_t max, end; /* frames of one walk; of both */
    uint32_t words_end;
    uint32_t top;
    uint32_t words;   /* of the walk under way */
    uint32_t next;    /* frame of the last walk that may be met next */
    uint32_t changed; /* frames before those of the last walk */
    uint32_t walks;
    bool joined;       /* the walk under way is joined to the last */
    bool spoiled;      /* a barrier found no room, or no walk has begun */
    bool called;       /* the first frame is a return address */
    bool plain;        /* the last walk has frames only, from `plain_at` on */
    uint32_t plain_at; /* 0 or `max` */
    uint8_t vain;      /* walks in a row of which little was resumed */
    uint8_t pause;     /* plain walks after the next that are in vain */
    uint8_t left;      /* plain walks before another is tried */
    bool compared; /* nothing differs from where the last walk may be met on */
    uint64_t high; /* end of the range in which the walk starts; 0: none */
    wndl_generation generation;
    enum wndl_walk_method method;
    uintptr_t never; /* 0; the address of barriers' words */
    wndl_frame_word *frames;
    struct state *states;
    struct word *list;
    uint32_t *frame_of; /* frames of the last walk's words */
    uint32_t *carried;  /* like the last walk's frames: from `max` on */
    struct note *notes; /* of one run of the hot loop */
};

enum {
    WNDL_RESUME_SPARE_WORDS = 64,
    WNDL_RESUME_LEAST_PAUSE = 4,
};

static inline struct word changes_always(const struct wndl_resume *r)
{
    return (struct word){(uintptr_t)&r->never, 1};
}

/* Adds a barrier for a frame, also for a frame that is replaced later. */
static inline void add_barrier(struct wndl_resume *r, size_t frame)
{
    if (r->words < 2 * frame + WNDL_RESUME_SPARE_WORDS - 2)
        r->list[r->words++] = changes_always(r);
    else
        r->spoiled = true;
}

/*
 * Whether the frame, with this SP and FP in the range that ends at `high`, is
 * one of the last walk's. `next` is then its index.
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

/*
 * Leaves nothing of the last walk, and marks the ends of the arrays. Until the
 * first walk they are not marked: most threads of short programs end before.
 */
void wndl_resume_mark_end(struct wndl_resume *r);

/* Joins the walk under way, of `count` frames, to frame `k` of the last one. */
void wndl_resume_join(struct wndl_resume *r, uint32_t count, uint32_t k);

#endif
