/* SPDX-License-Identifier: MIT */
#include "analyze/time/collapsed.h"

struct collapsing {
    struct wndl_profile *p;
    struct wndl_symbolized *s;
    struct wndl_arena scratch;
    uint32_t *of_node;  /* the new node of an old one */
    uint32_t *of_place; /* by frame_locations: its frame + 1; 0: none yet */
};

static const struct wndl_node *node_at(
    const struct collapsing *c, uint32_t node)
{
    return wndl_vec_at(&c->p->nodes, node);
}

static struct wndl_span span_of(const struct collapsing *c, uint32_t frame)
{
    return *(const struct wndl_span *)wndl_vec_at(&c->s->spans, frame);
}

static struct wndl_location location_of(
    const struct collapsing *c, uint32_t frame, uint32_t i)
{
    const struct wndl_span span = span_of(c, frame);
    return *wndl_symbolized_location(c->s, &span, i);
}

/* Makes a frame that has only location `i` of another. */
static bool split_frame(
    struct collapsing *c, uint32_t from, uint32_t i, uint32_t *frame)
{
    const struct wndl_frame_key key =
        *(const struct wndl_frame_key *)wndl_vec_at(&c->p->frames, from);
    const struct wndl_location location = location_of(c, from, i);
    *frame = (uint32_t)c->p->frames.len;
    struct wndl_frame_key *slot = wndl_vec_push(&c->p->frames);
    if (slot == NULL || wndl_vec_push(&c->s->spans) == NULL)
        return false;
    *slot = key;
    return wndl_symbolized_append(c->s, *frame, &location);
}

static bool single_frame(
    struct collapsing *c, uint32_t from, uint32_t i, uint32_t *frame)
{
    const struct wndl_span span = span_of(c, from);
    uint32_t *known = &c->of_place[span.first + i];
    *frame = from;
    if (span.count == 1)
        return true;
    if (*known == 0) {
        if (!split_frame(c, from, i, frame))
            return false;
        *known = *frame + 1;
    }
    *frame = *known - 1;
    return true;
}

/* The new node above that of the function; `node` itself if it has none. */
static uint32_t above_first(
    const struct collapsing *c, uint32_t node, uint32_t function)
{
    for (uint32_t i = node; i != 0; i = node_at(c, i)->parent) {
        if (location_of(c, node_at(c, i)->frame, 0).function == function)
            return node_at(c, i)->parent;
    }
    return node;
}

static bool collapse_node(struct collapsing *c, uint32_t from, uint32_t *to)
{
    const struct wndl_node old = *node_at(c, from);
    uint32_t frame;
    *to = c->of_node[old.parent];
    for (uint32_t i = span_of(c, old.frame).count; i-- > 0;) {
        uint32_t function = location_of(c, old.frame, i).function;
        if (!single_frame(c, old.frame, i, &frame) ||
            !wndl_profile_node(c->p, above_first(c, *to, function), frame, to))
            return false;
    }
    return true;
}

static void move_costs(const struct collapsing *c)
{
    struct wndl_sample *samples = c->p->samples.data;
    struct wndl_block *blocks = c->p->blocks.data;
    for (size_t i = 0; i < c->p->samples.len; i++)
        samples[i].node = c->of_node[samples[i].node];
    for (size_t i = 0; i < c->p->blocks.len; i++)
        blocks[i].node = c->of_node[blocks[i].node];
}

static bool collapse(struct collapsing *c)
{
    uint32_t nodes = (uint32_t)c->p->nodes.len;
    c->of_node = wndl_arena_calloc(&c->scratch, nodes + 1, sizeof(uint32_t));
    c->of_place = wndl_arena_calloc(
        &c->scratch, c->s->frame_locations.len + 1, sizeof(uint32_t));
    if (c->of_node == NULL || c->of_place == NULL)
        return false;
    /* A parent's number is smaller than those of its nodes. */
    for (uint32_t i = 1; i < nodes; i++) {
        if (!collapse_node(c, i, &c->of_node[i]))
            return false;
    }
    move_costs(c);
    return true;
}

bool wndl_collapse_recursion(struct wndl_profile *p, struct wndl_symbolized *s)
{
    struct collapsing c = {.p = p, .s = s};
    wndl_arena_init(&c.scratch, p->arena.mem);
    bool collapsed = collapse(&c);
    wndl_arena_free(&c.scratch);
    return collapsed;
}
