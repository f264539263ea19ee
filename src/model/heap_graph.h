/* SPDX-License-Identifier: MIT */
/*
 * heap_graph: which blocks of a heap point to which, at one moment, as plain
 * data. A node is a block or a root, which is memory outside the heap that
 * points into it.
 */
#ifndef WNDL_MODEL_HEAP_GRAPH_H
#define WNDL_MODEL_HEAP_GRAPH_H

#include "base/arena.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum wndl_heap_root_kind {
    WNDL_HEAP_ROOT_DATA,      /* a variable of a module */
    WNDL_HEAP_ROOT_STACK,     /* a thread's stack */
    WNDL_HEAP_ROOT_OTHER,     /* other memory: mapped, or thread-local */
    WNDL_HEAP_ROOT_REGISTERS, /* a thread's */
    WNDL_HEAP_ROOT_FRAME,     /* the part of its stack that a function uses */
    WNDL_HEAP_ROOT_KINDS,
};

/* Memory of [address, address + size), of a variable if that is known. */
struct wndl_heap_root {
    uint64_t address, size; /* avma; bytes */
    uint64_t svma;          /* of DATA: where the module's file has it; of a
                             * thread's: its id, 0: not known */
    struct wndl_bytes path; /* of DATA: the module's file */
    struct wndl_bytes name; /* of DATA: the variable's; empty: not known */
    uint32_t node;          /* of FRAME: the profile's; 0: not known */
    uint32_t callers;       /* of FRAME: how many callers up from it */
    uint8_t kind;           /* enum wndl_heap_root_kind */
};

/*
 * A pointer. A pointer into the middle of a block may be a number that looks
 * like one: it is conservative.
 */
struct wndl_heap_edge {
    uint32_t target;      /* block */
    uint32_t offset : 31; /* in the source, in words of 8 bytes; the last
                                 * one stands for all beyond */
    uint32_t conservative : 1;
};

/*
 * Nodes [0, block_count) are blocks, in the order of their addresses; then come
 * the roots. The pointers of node `n` are edges[first_edge[n]] up to
 * edges[first_edge[n + 1]].
 */
struct wndl_heap_graph {
    struct wndl_arena arena;
    uint32_t block_count, root_count;
    uint64_t *addresses;          /* avma, by block */
    uint32_t *sites;              /* of the heap's, by block; WNDL_NO_INDEX */
    struct wndl_heap_root *roots; /* by node - block_count */
    uint32_t *first_edge;         /* node_count + 1 of them */
    struct wndl_heap_edge *edges;
};

static inline uint32_t wndl_heap_graph_nodes(const struct wndl_heap_graph *g)
{
    return g->block_count + g->root_count;
}

#endif
