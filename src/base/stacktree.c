/* SPDX-License-Identifier: MIT */
#include "base/stacktree.h"

#include <stdatomic.h>

enum { INDEX_ALIGNMENT = 64, LOG2_MIN = 4 };

/*
 * Header, then 1 << log2 index slots, then max_nodes + 1 nodes. A slot holds
 * 0 or the index of a node that is published; it is set once. Invariant:
 * max_nodes <= 3/4 of the slots, so that every probe meets an empty slot.
 */
struct wndl_stacktree {
    _Alignas(INDEX_ALIGNMENT) uint32_t max_nodes;
    uint32_t log2;
    _Alignas(INDEX_ALIGNMENT) _Atomic uint32_t count;
    _Alignas(INDEX_ALIGNMENT) _Atomic uint32_t slots[];
};

static uint32_t log2_for(uint32_t max_nodes)
{
    uint32_t log2 = LOG2_MIN;
    while ((uint64_t)max_nodes * 4 > ((uint64_t)3 << log2))
        log2++;
    return log2;
}

static struct wndl_stacknode *node_at(
    const struct wndl_stacktree *tree, uint32_t index)
{
    const void *nodes = tree->slots + ((size_t)1 << tree->log2);
    return (struct wndl_stacknode *)nodes + index;
}

size_t wndl_stacktree_size(uint32_t max_nodes)
{
    size_t slots = (size_t)1 << log2_for(max_nodes);
    size_t nodes = (size_t)max_nodes + 1;
    return sizeof(struct wndl_stacktree) + slots * sizeof(uint32_t) +
           nodes * sizeof(struct wndl_stacknode);
}

struct wndl_stacktree *wndl_stacktree_init(void *memory, uint32_t max_nodes)
{
    struct wndl_stacktree *tree = memory;
    tree->max_nodes = max_nodes;
    tree->log2 = log2_for(max_nodes);
    return tree;
}

bool wndl_stacktree_intact(
    const struct wndl_stacktree *tree, uint32_t max_nodes)
{
    return tree->max_nodes == max_nodes && tree->log2 == log2_for(max_nodes);
}

static size_t first_slot(
    const struct wndl_stacktree *tree, uint32_t parent, uint64_t key)
{
    uint64_t h = key + parent * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h >> (64 - tree->log2));
}

/* A new published node, or 0 when there is no room. */
static uint32_t new_node(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key)
{
    /* The look before the add keeps `count` from running away when full. */
    if (atomic_load_explicit(&tree->count, memory_order_relaxed) >=
        tree->max_nodes)
        return 0;
    uint32_t index =
        atomic_fetch_add_explicit(&tree->count, 1, memory_order_relaxed) + 1;
    if (index > tree->max_nodes)
        return 0;
    struct wndl_stacknode *node = node_at(tree, index);
    node->parent = parent;
    __atomic_store_n(&node->key, key, __ATOMIC_RELEASE);
    return index;
}

uint32_t wndl_stacktree_insert(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key)
{
    size_t mask = ((size_t)1 << tree->log2) - 1;
    size_t i = first_slot(tree, parent, key);
    uint32_t mine = 0;
    for (;; i = (i + 1) & mask) {
        uint32_t index =
            atomic_load_explicit(&tree->slots[i], memory_order_acquire);
        if (index == 0) {
            if (mine == 0)
                mine = new_node(tree, parent, key);
            if (mine == 0)
                return 0;
            if (atomic_compare_exchange_strong_explicit(&tree->slots[i], &index,
                    mine, memory_order_acq_rel, memory_order_acquire))
                return mine;
        }
        const struct wndl_stacknode *node = node_at(tree, index);
        if (__atomic_load_n(&node->key, __ATOMIC_RELAXED) == key &&
            node->parent == parent)
            return index;
    }
}

uint32_t wndl_stacktree_count(const struct wndl_stacktree *tree)
{
    uint32_t count = atomic_load_explicit(&tree->count, memory_order_acquire);
    return count < tree->max_nodes ? count : tree->max_nodes;
}

bool wndl_stacktree_get(const struct wndl_stacktree *tree, uint32_t index,
    struct wndl_stacknode *node)
{
    if (index == 0 || index > tree->max_nodes)
        return false;
    const struct wndl_stacknode *from = node_at(tree, index);
    node->key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE);
    if (node->key == 0)
        return false;
    node->parent = from->parent;
    node->reserved = 0;
    return true;
}
