/* SPDX-License-Identifier: MIT */
#include "analyze/time/node_walk.h"

static uint32_t parent_of(const struct wndl_node_walk *walk, uint32_t node)
{
    const struct wndl_node *at = wndl_vec_at(&walk->profile->nodes, node);
    return at->parent;
}

bool wndl_node_walk_init(struct wndl_node_walk *walk,
    const struct wndl_profile *profile, struct wndl_arena *arena)
{
    size_t count = profile->nodes.len;
    *walk = (struct wndl_node_walk){
        .profile = profile,
        .first_child = wndl_arena_calloc(arena, count, sizeof(uint32_t)),
        .next_sibling = wndl_arena_calloc(arena, count, sizeof(uint32_t)),
    };
    if (walk->first_child == NULL || walk->next_sibling == NULL)
        return false;
    /* From the back, so that children come out in order. */
    for (uint32_t i = (uint32_t)count; i-- > 1;) {
        uint32_t parent = parent_of(walk, i);
        walk->next_sibling[i] = walk->first_child[parent];
        walk->first_child[parent] = i;
    }
    return true;
}

void wndl_node_walk(
    const struct wndl_node_walk *walk, const struct wndl_node_visitor *visitor)
{
    uint32_t node = walk->first_child[0];
    while (node != 0) {
        visitor->enter(visitor->context, node);
        if (walk->first_child[node] != 0) {
            node = walk->first_child[node];
            continue;
        }
        visitor->leave(visitor->context, node);
        while (walk->next_sibling[node] == 0) {
            node = parent_of(walk, node);
            if (node == 0)
                return;
            visitor->leave(visitor->context, node);
        }
        node = walk->next_sibling[node];
    }
}
