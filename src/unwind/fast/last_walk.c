/* SPDX-License-Identifier: MIT */
#include "unwind/fast/last_walk.h"

enum {
    ALIGNMENT = 64,
    MOVED_WORDS = 2,
};

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static size_t max_words(size_t max_frames)
{
    return 2 * max_frames + WNDL_RESUME_SPARE_WORDS;
}

/*
 * Words of two walks, which stay apart even while one is joined to the other.
 */
static size_t all_words(size_t max_frames)
{
    return 2 * max_words(max_frames) + WNDL_RESUME_SPARE_WORDS;
}

size_t wndl_resume_size(size_t max_frames)
{
    const size_t words = all_words(max_frames) + MOVED_WORDS;
    return aligned(sizeof(struct wndl_resume)) +
           aligned((2 * max_frames + 1) * sizeof(wndl_frame_word)) +
           aligned((2 * max_frames + 1) * sizeof(struct state)) +
           aligned(words * sizeof(struct word)) +
           aligned(words * sizeof(uint32_t)) +
           aligned(max_frames * sizeof(uint32_t)) +
           aligned(max_frames * sizeof(struct note));
}

struct wndl_resume *wndl_resume_init(
    void *memory, size_t max_frames, struct wndl_unwinder *u)
{
    uint8_t *at = memory;
    struct wndl_resume *r = memory;
    *r = (struct wndl_resume){
        .u = u,
        .max = (uint32_t)max_frames,
        .end = 2 * (uint32_t)max_frames,
        .words_end = (uint32_t)all_words(max_frames),
        .top = 2 * (uint32_t)max_frames,
        .pause = WNDL_RESUME_LEAST_PAUSE,
        .spoiled = true,
    };
    at += aligned(sizeof *r);
    r->frames = (wndl_frame_word *)(void *)at;
    at += aligned((r->end + 1) * sizeof *r->frames);
    r->states = (struct state *)(void *)at;
    at += aligned((r->end + 1) * sizeof *r->states);
    r->list = (struct word *)(void *)at;
    at += aligned((r->words_end + MOVED_WORDS) * sizeof *r->list);
    r->frame_of = (uint32_t *)(void *)at;
    at += aligned((r->words_end + MOVED_WORDS) * sizeof *r->frame_of);
    r->carried = (uint32_t *)(void *)at;
    at += aligned(max_frames * sizeof *r->carried);
    r->notes = (struct note *)(void *)at;
    return r;
}

void wndl_resume_mark_end(struct wndl_resume *r)
{
    r->top = r->end;
    r->states[r->end].words = r->words_end;
    r->list[r->words_end] = changes_always(r);
    r->frame_of[r->words_end] = r->end;
}

void wndl_resume_forget(struct wndl_resume *r)
{
    r->top = r->end;
}

/*
 * The source of frames, states and words, and the distance of their move. In
 * variables of its own, so that the compiler knows that no store changes them.
 */
struct move {
    wndl_frame_word *const frames;
    struct state *const states;
    struct word *const words;
    uint32_t *const frame_of;
    const size_t by, words_by;
};

/*
 * Moves a frame's words, of which there are mostly one or two. Both are always
 * moved, because a branch would be unpredictable. Words after them are
 * overwritten.
 */
static inline void move_words(
    const struct move *m, size_t from, size_t end, uint32_t frame)
{
    struct word *const to = m->words + m->words_by;
    uint32_t *const frame_of = m->frame_of + m->words_by;
    do {
        to[from] = m->words[from];
        to[from + 1] = m->words[from + 1];
        frame_of[from] = frame_of[from + 1] = frame;
        from += MOVED_WORDS;
    } while (UNLIKELY(from < end));
}

static inline void move_frames(
    const struct move *m, size_t count, size_t words_end)
{
    size_t words = m->states[0].words;
    for (size_t i = 0; i < count; i++) {
        size_t next = i + 1 < count ? m->states[i + 1].words : words_end;
        m->frames[i + m->by] = m->frames[i];
        m->states[i + m->by] = m->states[i];
        m->states[i + m->by].words = (uint32_t)(words + m->words_by);
        move_words(m, words, next, (uint32_t)(i + m->by));
        words = next;
    }
}

void wndl_resume_join(struct wndl_resume *r, uint32_t count, uint32_t k)
{
    const uint32_t first = r->states[k].words;
    const struct move move = {r->frames, r->states, r->list, r->frame_of,
        k - count, first - r->words};
    const uint32_t frames[] = {r->frame_of[first], r->frame_of[first + 1]};
    const struct word words[] = {r->list[first], r->list[first + 1]};
    joined(r, count, k);
    move_frames(&move, count, r->words);
    for (uint32_t i = 0; i < MOVED_WORDS; i++) {
        r->frame_of[first + i] = frames[i];
        r->list[first + i] = words[i];
    }
}
