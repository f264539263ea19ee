/* SPDX-License-Identifier: MIT */
/*
 * memory_tree: the reports of a process, or of several, as trees by the parts
 * of their paths, with what no report accounts for.
 */
#ifndef WNDL_MODEL_MEMORY_TREE_H
#define WNDL_MODEL_MEMORY_TREE_H

#include "model/memory_reports.h"

/* For wndl_memory_tree_build: the sum of all processes. */
#define WNDL_MEMORY_ALL UINT32_MAX

enum { WNDL_MEMORY_DEPTH_MAX = 64 }; /* parts; the last one has the rest */

/* A part of a path. Numbers of nodes are 1 + index; 0 is none. */
struct wndl_memory_node {
    struct wndl_bytes path;        /* from the root on */
    struct wndl_bytes name;        /* its last part */
    struct wndl_bytes description; /* of its first report */
    int64_t amount;                /* with that of all parts below */
    uint64_t reports;              /* at this very path */
    uint32_t parent;
    uint32_t first; /* child; the largest amount comes first */
    uint32_t next;  /* sibling */
    enum wndl_reported_unit unit;
    enum wndl_reported_presence presence;
    bool is_estimated;
};

/*
 * Trees of several units. Roots with children come before those without, and
 * "explicit" first. Texts are those of the reports.
 */
struct wndl_memory_tree {
    struct wndl_vec nodes; /* struct wndl_memory_node */
    uint32_t first;        /* root */
    bool is_difference;    /* amounts may well be negative */
};

/*
 * Builds it of the reports of one process, the number of its name, or of all,
 * then without percentages.
 * Where "heap-allocated" is known, "explicit/heap-unclassified" is that minus
 * the reported heap, if no report has that path. False if memory is out. The
 * tree lives as long as `arena`.
 */
bool wndl_memory_tree_build(struct wndl_memory_tree *tree,
    const struct wndl_memory_reports *reports, uint32_t process,
    struct wndl_arena *arena);

static inline const struct wndl_memory_node *wndl_memory_node_at(
    const struct wndl_memory_tree *tree, uint32_t number)
{
    return wndl_vec_at(&tree->nodes, number - 1);
}

/* Its size without the sign. */
static inline uint64_t wndl_memory_size(int64_t amount)
{
    return amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
}

#endif
