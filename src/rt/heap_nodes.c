/* SPDX-License-Identifier: MIT */
#include "rt/heap_nodes.h"

#include "unwind/frame.h"

enum { INDEX_SHIFT = 64 - 13 };

_Static_assert(
    WNDL_RT_KEPT_NODES == 1 << (64 - INDEX_SHIFT), "where a node is kept");

/*
 * The other one of the two places that a node may be in; what is new takes the
 * first. Returns 0, or why it cannot be had.
 */
static __attribute__((noinline)) enum wndl_loss look_up(
    struct wndl_rt_nodes *nodes, struct wndl_rt_kept_node *place,
    struct wndl_rt_kept_node *wanted, const struct wndl_frame *frame)
{
    struct wndl_rt_kept_node *other =
        &nodes->kept[(size_t)(place - nodes->kept) ^ 1];
    wanted->node = other->node;
    if (other->key == wanted->key && other->parent == wanted->parent)
        return WNDL_LOSS_NONE;
    wanted->node = wanted->parent;
    enum wndl_loss loss =
        wndl_rt_tree_add_frame(&nodes->known, frame, &wanted->node);
    if (loss != 0)
        return loss;
    *other = *place;
    *place = *wanted;
    return WNDL_LOSS_NONE;
}

struct wndl_rt_stack_hash wndl_rt_nodes_hash(
    struct wndl_rt_nodes *nodes, const struct wndl_resumed *stack)
{
    const wndl_frame_word *frames = (const wndl_frame_word *)stack->walk.frames;
    size_t at = stack->changed;
    struct wndl_rt_stack_hash *hash = &nodes->hashes[stack->walk.count - at];
    struct wndl_rt_stack_hash h = *hash;
    if (at == stack->walk.count)
        h = (struct wndl_rt_stack_hash){nodes->known.epoch, nodes->known.epoch};
    while (at > 0) {
        uint64_t frame = frames[--at];
        stack->carried[at] = 0;
        h.a = (h.a + frame) * UINT64_C(0x9e3779b97f4a7c15);
        h.b = (h.b + frame) * UINT64_C(0xd6e8feb86659fd93);
        *++hash = h;
    }
    return h;
}

/*
 * No step waits for what the one before found: a hash goes by frames alone,
 * and that the parent is the right one is only compared.
 */
enum wndl_loss wndl_rt_nodes_add(struct wndl_rt_nodes *nodes,
    const struct wndl_resumed *stack, uint32_t *node)
{
    const struct wndl_walk *walk = &stack->walk;
    const uint64_t epoch = (uint64_t)nodes->known.epoch << WNDL_KEY_EPOCH_SHIFT;
    enum wndl_loss loss = WNDL_LOSS_NONE;
    size_t at = 0;
    while (at < walk->count && stack->carried[at] == 0)
        at++;
    uint32_t parent = at < walk->count ? stack->carried[at] : 0;
    const struct wndl_rt_stack_hash *hash = &nodes->hashes[walk->count - at];
    while (at > 0 && loss == 0) {
        const struct wndl_frame *frame = &walk->frames[--at];
        uint64_t key = wndl_rt_tree_key(frame, epoch);
        struct wndl_rt_kept_node *kept =
            &nodes->kept[(++hash)->a >> INDEX_SHIFT];
        uint32_t found = kept->node;
        if (__builtin_expect(kept->key != key || kept->parent != parent, 0)) {
            struct wndl_rt_kept_node wanted = {key, parent, 0};
            loss = look_up(nodes, kept, &wanted, frame);
            found = loss == 0 ? wanted.node : 0;
        }
        parent = found;
        stack->carried[at] = parent;
    }
    *node = parent;
    return loss;
}
