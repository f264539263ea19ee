/* SPDX-License-Identifier: MIT */
#include "model/costs.h"

static void cost_of_sample(
    struct wndl_cost_item *item, const struct wndl_sample *sample)
{
    *item = (struct wndl_cost_item){
        .cost = {1, sample->cpu},
        .thread = sample->thread,
        .node = sample->node,
        .end = sample->end,
    };
}

static void cost_of_block(
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

bool wndl_costs_next(const struct wndl_profile *p, enum wndl_time time,
    size_t *at, struct wndl_cost_item *item)
{
    size_t samples = p->samples.len;
    if (*at < samples && time == WNDL_TIME_BLOCKED)
        *at = samples;
    if (*at < samples) {
        cost_of_sample(item, wndl_vec_at(&p->samples, (*at)++));
        return true;
    }
    if (time == WNDL_TIME_CPU)
        return false;
    while (*at - samples < p->blocks.len) {
        const struct wndl_block *block =
            wndl_vec_at(&p->blocks, (*at)++ - samples);
        if (block->waiting && time == WNDL_TIME_BLOCKED)
            continue;
        cost_of_block(item, block);
        return true;
    }
    return false;
}

enum wndl_label wndl_cost_item_label(const struct wndl_cost_item *item)
{
    if (item->waiting)
        return WNDL_LABEL_WAITING;
    if (item->node == 0)
        return WNDL_LABEL_NO_STACK;
    switch (item->end) {
    case WNDL_WALK_COMPLETE:
    case WNDL_WALK_FP_ROOT:
        return WNDL_LABEL_NONE;
    case WNDL_WALK_TRUNCATED:
        return WNDL_LABEL_TRUNCATED;
    default:
        return WNDL_LABEL_LOST;
    }
}

const char *wndl_label_text(enum wndl_label label)
{
    static const char *const texts[WNDL_LABELS] = {
        [WNDL_LABEL_TRUNCATED] = "[truncated]",
        [WNDL_LABEL_LOST] = "[lost]",
        [WNDL_LABEL_NO_STACK] = "[no stack]",
        [WNDL_LABEL_WAITING] = "[waiting for a CPU]",
    };
    return texts[label];
}
