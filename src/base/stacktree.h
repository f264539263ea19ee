/* SPDX-License-Identifier: MIT */
/*
 * stacktree: every distinct stack of a process as a path in one tree, in a
 * block of memory of fixed size that may be shared between processes. Insert
 * is lock-free and signal-safe; a reader in another process follows along by
 * index.
 */
#ifndef WNDL_BASE_STACKTREE_H
#define WNDL_BASE_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Node 0 is the root and is never stored. A node is published by writing
 * `key` last (release); key 0 means "not yet". Invariant: parent < own index,
 * except that an orphan (lost the race to insert the same pair) is published
 * too and simply never referred to.
 */
struct wndl_stacknode {
    _Alignas(8) uint64_t key; /* caller's: address and flags; never 0 */
    uint32_t parent;
    uint32_t reserved;
};

/* `max_nodes` is at most this. */
enum { WNDL_STACKTREE_MAX = 4 * 1024 * 1024 - 1 };

struct wndl_stacktree; /* lives at the start of the block */

/* Bytes of a tree for up to `max_nodes` nodes. */
size_t wndl_stacktree_size(uint32_t max_nodes);

/* Makes a tree of zeroed memory of wndl_stacktree_size(max_nodes) bytes. */
struct wndl_stacktree *wndl_stacktree_init(void *memory, uint32_t max_nodes);

/*
 * Whether the header still says what wndl_stacktree_init(max_nodes) wrote:
 * asked by a reader whose writer may scribble over the block.
 */
bool wndl_stacktree_intact(
    const struct wndl_stacktree *tree, uint32_t max_nodes);

/*
 * The node for (parent, key), added if new. 0 when the tree is full. Any
 * thread, any signal handler, no locks, no system calls.
 */
uint32_t wndl_stacktree_insert(
    struct wndl_stacktree *tree, uint32_t parent, uint64_t key);

/* Where node `index` is, or will be: they follow each other. */
const struct wndl_stacknode *wndl_stacktree_node(
    const struct wndl_stacktree *tree, uint32_t index);

/*
 * How another process reads along. It goes by its own `max_nodes`, not by
 * what the block says now: whoever writes there may scribble over it.
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
 * Nodes handed out so far; those with key 0 are about to be published. What
 * their threads wrote before they inserted them is seen after this.
 */
uint32_t wndl_stackreader_count(const struct wndl_stackreader *reader);

/* Node `index`, 1 <= index <= count. False when not yet published. */
bool wndl_stackreader_get(const struct wndl_stackreader *reader, uint32_t index,
    struct wndl_stacknode *node);

#endif
