/* SPDX-License-Identifier: MIT */
/*
 * stacktree: all distinct stacks of a process as paths in one tree, in a block
 * of memory of fixed size that processes may share. Insert is lock-free and
 * signal-safe; a reader in another process follows by index.
 */
#ifndef WNDL_BASE_STACKTREE_H
#define WNDL_BASE_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Node 0 is the root and is never stored. A node is published by writing `key`
 * last (release); key 0 means "not yet". Invariant: parent < own index. An
 * orphan has lost the race to insert the same pair; it is published, too, but
 * nothing refers to it.
 */
struct wndl_stacknode {
    _Alignas(8) uint64_t key; /* caller's: address and flags; never 0 */
    uint32_t parent;
    uint32_t reserved;
};

/* The maximum of `max_nodes`. */
enum { WNDL_STACKTREE_MAX = 4 * 1024 * 1024 - 1 };

struct wndl_stacktree; /* at the start of the block */

/* Bytes of a tree for up to `max_nodes` nodes. */
size_t wndl_stacktree_size(uint32_t max_nodes);

/* Makes a tree of wndl_stacktree_size(max_nodes) zeroed bytes. */
struct wndl_stacktree *wndl_stacktree_init(void *memory, uint32_t max_nodes);

/*
 * Whether the header is still as wndl_stacktree_init(max_nodes) wrote it, for a
 * reader whose writer may damage the block.
 */
bool wndl_stacktree_intact(
    const struct wndl_stacktree *tree, uint32_t max_nodes);

/*
 * The node for (parent, key), which is added if it is new. 0 if the tree is
 * full. Any thread, any signal handler, no locks, no system calls.
 */
uint32_t wndl_stacktree_insert(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key);

/* The place of node `index`, existing or future. Nodes are consecutive. */
const struct wndl_stacknode *wndl_stacktree_node(
    const struct wndl_stacktree *tree, uint32_t index);

/*
 * The reader in another process. It uses its own `max_nodes`, not that of the
 * block, which its writer may damage.
 */
struct wndl_stackreader {
    const struct wndl_stacktree *tree;
    const struct wndl_stacknode *nodes;
    uint32_t max_nodes;
};

/* `max_nodes` as given to wndl_stacktree_init. */
struct wndl_stackreader wndl_stackreader_init(
    const struct wndl_stacktree *tree, uint32_t max_nodes);

/*
 * The number of nodes so far. Those with key 0 are about to be published. After
 * this call the reader sees what threads wrote before they inserted them.
 */
uint32_t wndl_stackreader_count(const struct wndl_stackreader *reader);

/* Reads node `index`, 1 <= index <= count. False if not yet published. */
bool wndl_stackreader_get(const struct wndl_stackreader *reader, uint32_t index,
    struct wndl_stacknode *node);

#endif
