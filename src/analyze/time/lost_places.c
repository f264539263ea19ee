/* SPDX-License-Identifier: MIT */
#include "analyze/time/lost_places.h"

static bool is_lost(const struct wndl_sample *sample)
{
    return sample->end != WNDL_WALK_COMPLETE &&
           sample->end != WNDL_WALK_TRUNCATED &&
           sample->end != WNDL_WALK_FP_ROOT && sample->node != 0;
}

/* The outermost frame of each node's stack. A parent comes before its nodes. */
static uint32_t *outermost_frames(struct wndl_report *r)
{
    const struct wndl_vec *nodes = &r->symbolized->profile->nodes;
    uint32_t *frames =
        wndl_arena_calloc(&r->arena, nodes->len + 1, sizeof *frames);
    for (size_t i = 1; i < nodes->len && frames != NULL; i++) {
        const struct wndl_node *node = wndl_vec_at(nodes, i);
        frames[i] = node->parent == 0 ? node->frame : frames[node->parent];
    }
    return frames;
}

/* The function of a frame that nothing is inlined into. */
static uint32_t function_of(const struct wndl_symbolized *s, uint32_t frame)
{
    const struct wndl_span *span = wndl_vec_at(&s->spans, frame);
    return wndl_symbolized_location(s, span, span->count - 1)->function;
}

/* Keeps it in order, if it is one of those with most. */
static void keep_place(
    struct wndl_lost_in *in, const struct wndl_lost_place *place)
{
    size_t at = in->count;
    while (at > 0 && in->places[at - 1].count < place->count)
        at--;
    if (at == WNDL_LOST_PLACES)
        return;
    in->count += in->count < WNDL_LOST_PLACES;
    for (size_t i = in->count - 1; i > at; i--)
        in->places[i] = in->places[i - 1];
    in->places[at] = *place;
}

bool wndl_lost_places_find(struct wndl_report *r)
{
    const struct wndl_symbolized *s = r->symbolized;
    const struct wndl_vec *samples = &s->profile->samples;
    r->lost_in.count = 0;
    if (r->quality.lost * 100 <= r->quality.kept)
        return true;
    uint32_t *frames = outermost_frames(r);
    uint64_t *counts =
        wndl_arena_calloc(&r->arena, s->functions.len + 1, sizeof *counts);
    if (frames == NULL || counts == NULL)
        return false;
    for (size_t i = 0; i < samples->len; i++) {
        const struct wndl_sample *sample = wndl_vec_at(samples, i);
        if (is_lost(sample))
            counts[function_of(s, frames[sample->node])]++;
    }
    for (uint32_t f = 0; f < s->functions.len; f++) {
        const struct wndl_lost_place place = {f, counts[f]};
        if (place.count != 0)
            keep_place(&r->lost_in, &place);
    }
    return true;
}
