/* SPDX-License-Identifier: MIT */
#include "base/stacktree.h"

#include "base/hash.h"

#include "base/slotlines.h"

#include <stdatomic.h>

/*
 * A slot is 0 or a published node's index below a tag of its hash; it is set
 * once. The children of PARENTS consecutive nodes share a line of slots. Those
 * that find no place near (slotlines.h) are in the overflow, a hash table for
 * the whole tree.
 *
 * Invariants: a line has no used slot after a free one; no child of a line with
 * a free slot is elsewhere; max_nodes <= 3/4 of the overflow's slots, so that
 * every probe of it meets a free one.
 */
enum {
    LINE_BYTES = 64,
    PARENTS = 10,
    INDEX_BITS = 22, /* bits of a slot; the rest is the tag */
    LOG2_MIN = 4,
};

_Static_assert(
    WNDL_STACKTREE_MAX < 1 << INDEX_BITS, "a slot has no room for an index");

/* Lines, overflow and nodes 0 to max_nodes follow. */
struct wndl_stacktree {
    _Alignas(LINE_BYTES) uint32_t max_nodes;
    uint32_t log2; /* of the overflow's slots */
    _Alignas(LINE_BYTES) _Atomic uint32_t count;
    _Alignas(LINE_BYTES) _Atomic uint32_t slots[];
};

static uint32_t log2_for(uint32_t max_nodes)
{
    uint32_t log2 = LOG2_MIN;
    while ((uint64_t)max_nodes * 4 > ((uint64_t)3 << log2))
        log2++;
    return log2;
}

static size_t line_count(uint32_t max_nodes)
{
    return (size_t)max_nodes / PARENTS + 1;
}

/* The number of all slots: those of the lines and 1 << log2 of the overflow. */
static size_t all_slots(uint32_t max_nodes, uint32_t log2)
{
    return line_count(max_nodes) * WNDL_SLOTLINE_SLOTS + ((size_t)1 << log2);
}

static struct wndl_stacknode *node_at(
    const struct wndl_stacktree *tree, uint32_t index)
{
    const void *nodes = tree->slots + all_slots(tree->max_nodes, tree->log2);
    return (struct wndl_stacknode *)nodes + index;
}

size_t wndl_stacktree_size(uint32_t max_nodes)
{
    size_t slots = all_slots(max_nodes, log2_for(max_nodes));
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

const struct wndl_stacknode *wndl_stacktree_node(
    const struct wndl_stacktree *tree, uint32_t index)
{
    return node_at(tree, index);
}

/* A new published node, or 0 if there is no room. */
static uint32_t new_node(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key)
{
    /* The check before the add keeps `count` from growing when full. */
    if (atomic_load_explicit(&tree->count, memory_order_relaxed) >=
        tree->max_nodes)
        return 0;
    uint32_t index =
        atomic_fetch_add_explicit(&tree->count, 1, memory_order_release) + 1;
    if (index > tree->max_nodes)
        return 0;
    struct wndl_stacknode *node = node_at(tree, index);
    node->parent = parent;
    __atomic_store_n(&node->key, key, __ATOMIC_RELEASE);
    return index;
}

/* A search. `mine` is the node made for it, 0 if none is yet. */
struct wanted {
    uint64_t key;
    uint32_t parent;
    uint32_t tag; /* at its place in a slot */
    uint32_t mine;
};

enum outcome { OTHER, FOUND, FULL };

/*
 * Checks one slot, and takes it if it is free. FOUND: *index is the node;
 * OTHER: the slot is another node's; FULL: there is no room for a node.
 */
static enum outcome look(struct wndl_stacktree *tree, _Atomic uint32_t *slot,
    struct wanted *w, uint32_t *index)
{
    uint32_t here = atomic_load_explicit(slot, memory_order_acquire);
    if (here == 0) {
        if (w->mine == 0)
            w->mine = new_node(tree, w->parent, w->key);
        if (w->mine == 0)
            return FULL;
        *index = w->mine;
        if (atomic_compare_exchange_strong_explicit(slot, &here,
                w->mine | w->tag, memory_order_acq_rel, memory_order_acquire))
            return FOUND;
    }
    if (((here ^ w->tag) >> INDEX_BITS) != 0)
        return OTHER;
    *index = here & ((1u << INDEX_BITS) - 1);
    const struct wndl_stacknode *node = node_at(tree, *index);
    return node->key == w->key && node->parent == w->parent ? FOUND : OTHER;
}

/* Whether the slot must be checked: it is free, or has the tag. */
static inline bool may_be(uint32_t here, uint32_t tag)
{
    return here == 0 || ((here ^ tag) >> INDEX_BITS) == 0;
}

static inline enum outcome look_at(struct wndl_stacktree *tree,
    _Atomic uint32_t *slot, struct wanted *w, uint32_t *index)
{
    uint32_t here = atomic_load_explicit(slot, memory_order_relaxed);
    return may_be(here, w->tag) ? look(tree, slot, w, index) : OTHER;
}

static inline enum outcome look_in_line(
    struct wndl_stacktree *tree, size_t line, struct wanted *w, uint32_t *index)
{
    _Atomic uint32_t *slots = tree->slots + line * WNDL_SLOTLINE_SLOTS;
    enum outcome outcome = OTHER;
    for (size_t i = 0; i < WNDL_SLOTLINE_SLOTS && outcome == OTHER; i++)
        outcome = look_at(tree, &slots[i], w, index);
    return outcome;
}

uint32_t wndl_stacktree_insert(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key)
{
    uint64_t h = key + parent * WNDL_GOLDEN;
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    struct wanted w = {.key = key,
        .parent = parent,
        .tag = (uint32_t)h & ~((1u << INDEX_BITS) - 1)};
    const size_t lines = line_count(tree->max_nodes), own = parent / PARENTS;
    enum outcome outcome = OTHER;
    uint32_t index = 0;
    for (unsigned n = 0; n < WNDL_SLOTLINE_LOOKS && outcome == OTHER; n++) {
        size_t line = wndl_slotline(own, lines, (uint32_t)(h >> 32), n);
        outcome = look_in_line(tree, line, &w, &index);
    }

    _Atomic uint32_t *overflow = tree->slots + lines * WNDL_SLOTLINE_SLOTS;
    size_t mask = ((size_t)1 << tree->log2) - 1;
    size_t i = (size_t)(h >> (64 - tree->log2));
    for (; outcome == OTHER; i = (i + 1) & mask)
        outcome = look_at(tree, &overflow[i], &w, &index);
    return outcome == FULL ? 0 : index;
}

struct wndl_stackreader wndl_stackreader_init(
    const struct wndl_stacktree *tree, uint32_t max_nodes)
{
    const void *nodes = tree->slots + all_slots(max_nodes, log2_for(max_nodes));
    return (struct wndl_stackreader){tree, nodes, max_nodes};
}

uint32_t wndl_stackreader_count(const struct wndl_stackreader *reader)
{
    uint32_t count =
        atomic_load_explicit(&reader->tree->count, memory_order_acquire);
    return count < reader->max_nodes ? count : reader->max_nodes;
}

bool wndl_stackreader_get(const struct wndl_stackreader *reader, uint32_t index,
    struct wndl_stacknode *node)
{
    if (index == 0 || index > reader->max_nodes)
        return false;
    const struct wndl_stacknode *from = &reader->nodes[index];
    node->key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE);
    if (node->key == 0)
        return false;
    node->parent = from->parent;
    node->reserved = 0;
    return true;
}
