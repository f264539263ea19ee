/* SPDX-License-Identifier: MIT */
#include "analyze/time/turned.h"

#include "analyze/time/selection.h"
#include "model/costs.h"

#include <string.h>

struct turning {
    struct wndl_profile *p;
    struct wndl_symbolized *s;
    enum wndl_turn turn;
    struct wndl_arena scratch;
    bool *is_named;     /* by function */
    uint32_t *of_node;  /* the new node + 1 of an old one; 0: not made */
    uint32_t *of_frame; /* the same for whole frames upside down */
    uint32_t labels[WNDL_LABELS]; /* their frames + 1 */
};

/* A frame of its own, without locations yet. False when memory is out. */
static bool add_frame(
    struct turning *t, const struct wndl_frame_key *key, uint32_t *frame)
{
    *frame = (uint32_t)t->p->frames.len;
    const struct wndl_frame_key copy = *key;
    struct wndl_frame_key *slot = wndl_vec_push(&t->p->frames);
    if (slot == NULL || wndl_vec_push(&t->s->spans) == NULL)
        return false;
    *slot = copy;
    return true;
}

static const struct wndl_span *span_of(const struct turning *t, uint32_t frame)
{
    return wndl_vec_at(&t->s->spans, frame);
}

static const struct wndl_node *node_at(const struct turning *t, uint32_t node)
{
    return wndl_vec_at(&t->p->nodes, node);
}

/* Whether location `i` of the frame is in the function. */
static bool is_it(const struct turning *t, uint32_t frame, uint32_t i)
{
    const struct wndl_span span = *span_of(t, frame);
    return t->is_named == NULL ||
           t->is_named[wndl_symbolized_location(t->s, &span, i)->function];
}

/* Appends location `i` of `from` to the new frame `to`. */
static bool copy_location(
    struct turning *t, uint32_t from, uint32_t i, uint32_t to)
{
    const struct wndl_span span = *span_of(t, from);
    const struct wndl_location location =
        *wndl_symbolized_location(t->s, &span, i);
    return wndl_symbolized_append(t->s, to, &location);
}

/* The part of a frame from `first` on, turned upside down or not. */
static bool copy_part(struct turning *t, uint32_t from, uint32_t first,
    uint32_t end, uint32_t *frame)
{
    const struct wndl_frame_key key =
        *(const struct wndl_frame_key *)wndl_vec_at(&t->p->frames, from);
    bool copied = add_frame(t, &key, frame);
    for (uint32_t i = first; i < end && copied; i++)
        copied = copy_location(t, from,
            t->turn == WNDL_TURN_CALLEES ? i : first + end - 1 - i, *frame);
    return copied;
}

static bool turn_whole(struct turning *t, uint32_t from, uint32_t *frame)
{
    if (t->of_frame[from] == 0) {
        if (!copy_part(t, from, 0, span_of(t, from)->count, frame))
            return false;
        t->of_frame[from] = *frame + 1;
    }
    *frame = t->of_frame[from] - 1;
    return true;
}

/* ---- from a function down */

/* The number of locations up to the outermost call of the function; or 0. */
static uint32_t count_below(const struct turning *t, uint32_t frame)
{
    uint32_t count = span_of(t, frame)->count;
    while (count > 0 && !is_it(t, frame, count - 1))
        count--;
    return count;
}

/* of_frame has the part that begins at the function. */
static bool begin_at(struct turning *t, uint32_t from, uint32_t *node)
{
    uint32_t count = count_below(t, from);
    uint32_t frame = from;
    if (count == 0)
        return true;
    if (count != span_of(t, from)->count) {
        if (t->of_frame[from] == 0 && !copy_part(t, from, 0, count, &frame))
            return false;
        if (t->of_frame[from] == 0)
            t->of_frame[from] = frame + 1;
        frame = t->of_frame[from] - 1;
    }
    return wndl_profile_node(t->p, 0, frame, node);
}

/* Parents have smaller numbers. of_node: 0 stands for "not below it". */
static bool turn_callees(struct turning *t, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct wndl_node from = *node_at(t, i);
        uint32_t above = t->of_node[from.parent], node = 0;
        bool made = above == 0
                        ? begin_at(t, from.frame, &node)
                        : wndl_profile_node(t->p, above, from.frame, &node);
        if (!made)
            return false;
        t->of_node[i] = node;
    }
    return true;
}

/* ---- upside down */

/* The frame with the innermost call, and its location; or no node. */
static uint32_t find_innermost(
    const struct turning *t, uint32_t node, uint32_t *location)
{
    for (; node != 0; node = node_at(t, node)->parent) {
        uint32_t frame = node_at(t, node)->frame;
        uint32_t count = span_of(t, frame)->count;
        for (uint32_t i = 0; i < count; i++) {
            if (is_it(t, frame, i)) {
                *location = i;
                return node;
            }
        }
    }
    return 0;
}

/* The first frame may be a part; those above it are whole. */
static bool turn_stack(
    struct turning *t, uint32_t from, uint32_t location, uint32_t *node)
{
    uint32_t frame = node_at(t, from)->frame;
    uint32_t count = span_of(t, frame)->count;
    bool made = location == 0 ? turn_whole(t, frame, &frame)
                              : copy_part(t, frame, location, count, &frame);
    *node = 0;
    while (made) {
        made = wndl_profile_node(t->p, *node, frame, node);
        from = node_at(t, from)->parent;
        if (!made || from == 0)
            return made;
        made = turn_whole(t, node_at(t, from)->frame, &frame);
    }
    return false;
}

static bool turn_callers(struct turning *t, uint32_t leaf)
{
    uint32_t location;
    uint32_t from = find_innermost(t, leaf, &location);
    uint32_t node = 0;
    if (from == 0)
        return true;
    if (t->of_node[from] == 0) {
        if (!turn_stack(t, from, location, &node))
            return false;
        t->of_node[from] = node;
    }
    t->of_node[leaf] = t->of_node[from];
    return true;
}

/* A frame whose only name is the label. */
static bool label_frame(
    struct turning *t, enum wndl_label label, uint32_t *frame)
{
    const struct wndl_frame_key key = {
        .image = WNDL_NO_INDEX, .process = WNDL_NO_INDEX};
    struct wndl_function function = {.module = (uint32_t)t->p->images.len};
    struct wndl_location location = {0};
    bool fresh;
    if (t->labels[label] == 0) {
        if (!wndl_symbolized_text(
                t->s, wndl_label_text(label), &function.name) ||
            !wndl_symbolized_function(
                t->s, function, &location.function, &fresh) ||
            !add_frame(t, &key, frame) ||
            !wndl_symbolized_append(t->s, *frame, &location))
            return false;
        t->labels[label] = *frame + 1;
    }
    *frame = t->labels[label] - 1;
    return true;
}

/*
 * Sets *node to its new number, 0 for a stack without the function. A missing
 * outer end is out of sight below a function, and the innermost frame of a
 * stack that is upside down.
 */
static bool turn_item(
    struct turning *t, const struct wndl_cost_item *item, uint32_t *node)
{
    enum wndl_label label = wndl_cost_item_label(item);
    uint32_t frame;
    if (item->node == 0)
        return true;
    if (t->turn != WNDL_TURN_CALLEES && t->of_node[item->node] == 0 &&
        !turn_callers(t, item->node))
        return false;
    *node = t->of_node[item->node];
    if (*node == 0 || t->turn == WNDL_TURN_CALLEES ||
        (label != WNDL_LABEL_LOST && label != WNDL_LABEL_TRUNCATED))
        return true;
    return label_frame(t, label, &frame) &&
           wndl_profile_node(t->p, *node, frame, node);
}

/* ---- samples and blocks */

/* Without a function, also the ones that have no stack are kept. */
static bool is_kept(const struct turning *t, uint32_t node)
{
    return node != 0 || t->turn == WNDL_TURN_INVERTED;
}

static bool turn_samples(struct turning *t)
{
    struct wndl_vec *samples = &t->p->samples;
    size_t kept = 0;
    memset(t->p->ends, 0, sizeof t->p->ends);
    for (size_t i = 0; i < samples->len; i++) {
        struct wndl_sample *from = wndl_vec_at(samples, i);
        const struct wndl_cost_item item = {
            .node = from->node, .end = from->end};
        uint32_t node = 0;
        if (!turn_item(t, &item, &node))
            return false;
        if (!is_kept(t, node))
            continue;
        t->p->ends[from->end]++;
        from->node = node;
        from->end = node == 0 ? from->end : WNDL_WALK_COMPLETE;
        *(struct wndl_sample *)wndl_vec_at(samples, kept++) = *from;
    }
    samples->len = kept;
    return true;
}

static bool turn_blocks(struct turning *t)
{
    struct wndl_vec *blocks = &t->p->blocks;
    size_t kept = 0;
    memset(t->p->block_ends, 0, sizeof t->p->block_ends);
    for (size_t i = 0; i < blocks->len; i++) {
        struct wndl_block *from = wndl_vec_at(blocks, i);
        const struct wndl_cost_item item = {
            .node = from->node, .end = from->end, .waiting = from->waiting};
        uint32_t node = 0;
        if (!turn_item(t, &item, &node))
            return false;
        if (!is_kept(t, node))
            continue;
        t->p->block_ends[from->end] += !from->waiting && from->node != 0;
        from->node = node;
        from->end = node == 0 ? from->end : WNDL_WALK_COMPLETE;
        *(struct wndl_block *)wndl_vec_at(blocks, kept++) = *from;
    }
    blocks->len = kept;
    return true;
}

static bool find_function(struct turning *t, const char *function)
{
    size_t count = t->s->functions.len;
    if (function == NULL)
        return true;
    t->is_named = wndl_arena_calloc(&t->scratch, count + 1, sizeof(bool));
    for (size_t i = 0; i < count && t->is_named != NULL; i++) {
        const struct wndl_function *f = wndl_vec_at(&t->s->functions, i);
        t->is_named[i] = wndl_function_is_named(
            wndl_intern_get(&t->s->strings, f->name), function);
    }
    return t->is_named != NULL;
}

static bool turn_all(struct turning *t, const char *function)
{
    uint32_t nodes = (uint32_t)t->p->nodes.len;
    t->of_node = wndl_arena_calloc(&t->scratch, nodes + 1, sizeof(uint32_t));
    t->of_frame =
        wndl_arena_calloc(&t->scratch, t->p->frames.len + 1, sizeof(uint32_t));
    return t->of_node != NULL && t->of_frame != NULL &&
           find_function(t, function) &&
           (t->turn != WNDL_TURN_CALLEES || turn_callees(t, nodes)) &&
           turn_samples(t) && turn_blocks(t);
}

bool wndl_turn_stacks(struct wndl_profile *p, struct wndl_symbolized *s,
    enum wndl_turn turn, const char *function)
{
    struct turning t = {.p = p, .s = s, .turn = turn};
    wndl_arena_init(&t.scratch, p->arena.mem);
    bool turned = turn_all(&t, function);
    wndl_arena_free(&t.scratch);
    return turned;
}
