/* SPDX-License-Identifier: MIT */
/*
 * costs: an iterator over the samples and blocks of a profile, as one list of
 * costs: what the threads spent their time on.
 */
#ifndef WNDL_MODEL_COSTS_H
#define WNDL_MODEL_COSTS_H

#include "model/profile.h"

/* The time that is summed. */
enum wndl_time {
    WNDL_TIME_CPU,     /* running: the CPU time of samples */
    WNDL_TIME_BLOCKED, /* waiting for something other than a CPU */
    WNDL_TIME_WALL,    /* both, and waiting for a CPU */
    WNDL_TIME_BYTES,   /* of heaps, as durations (analyze/heap/spans.h) */
};

struct wndl_cost {
    uint64_t samples; /* or blocks */
    uint64_t time;    /* ns, or bytes */
};

/* The text that stands for the missing part of a stack. */
enum wndl_label {
    WNDL_LABEL_NONE, /* the stack reaches its thread's start */
    WNDL_LABEL_TRUNCATED,
    WNDL_LABEL_LOST,
    WNDL_LABEL_NO_STACK,
    WNDL_LABEL_WAITING, /* time without a CPU, with or without a stack */
    WNDL_LABELS,
};

struct wndl_cost_item {
    struct wndl_cost cost;
    uint32_t thread;
    uint32_t node; /* 0: no stack */
    uint8_t end;   /* enum wndl_walk_end */
    bool waiting;  /* for a CPU */
};

static inline void wndl_cost_add(struct wndl_cost *to, struct wndl_cost cost)
{
    to->samples += cost.samples;
    to->time += cost.time;
}

/* The label of an item's stack: why it is not complete, or WNDL_LABEL_NONE. */
enum wndl_label wndl_cost_item_label(const struct wndl_cost_item *item);

/* "[lost]", for people; NULL for WNDL_LABEL_NONE. Static string. */
const char *wndl_label_text(enum wndl_label label);

/* Fill `item` for wndl_costs_next, which is here because it runs so often. */
static inline void wndl_cost_of_sample(
    struct wndl_cost_item *item, const struct wndl_sample *sample)
{
    *item = (struct wndl_cost_item){
        .cost = {1, sample->cpu},
        .thread = sample->thread,
        .node = sample->node,
        .end = sample->end,
    };
}

static inline void wndl_cost_of_block(
    struct wndl_cost_item *item, const struct wndl_block *block)
{
    *item = (struct wndl_cost_item){
        .cost = {1, block->duration},
        .thread = block->thread,
        .node = block->node,
        .end = block->end,
        .waiting = block->waiting,
    };
}

/*
 * The next item that belongs to `time`. `*at` starts as 0 and is advanced;
 * `*item` is valid if the result is true. False at the end.
 */
static inline bool wndl_costs_next(const struct wndl_profile *p,
    enum wndl_time time, size_t *at, struct wndl_cost_item *item)
{
    size_t samples = p->samples.len;
    if (*at < samples && time == WNDL_TIME_BLOCKED)
        *at = samples;
    if (*at < samples) {
        wndl_cost_of_sample(item, wndl_vec_at(&p->samples, (*at)++));
        return true;
    }
    if (time == WNDL_TIME_CPU)
        return false;
    while (*at - samples < p->blocks.len) {
        const struct wndl_block *block =
            wndl_vec_at(&p->blocks, (*at)++ - samples);
        if (block->waiting && time == WNDL_TIME_BLOCKED)
            continue;
        wndl_cost_of_block(item, block);
        return true;
    }
    return false;
}

#endif
