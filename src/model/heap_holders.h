/* SPDX-License-Identifier: MIT */
/*
 * heap_holders: why blocks of a scanned heap are still alive, as plain data:
 * who holds them, and what would be freed with whom.
 */
#ifndef WNDL_MODEL_HEAP_HOLDERS_H
#define WNDL_MODEL_HEAP_HOLDERS_H

#include "base/arena.h"
#include "base/intern.h"
#include "model/heap_graph.h"

/*
 * A place holds: the code that allocated a block, as the text of a frame
 * ("function (file:line)"), or a root ("`table` of app"). It is an id of the
 * strings.
 */
struct wndl_heap_retained {
    uint32_t place;
    uint64_t blocks;   /* of a root: 0 */
    uint64_t own;      /* bytes of these */
    uint64_t retained; /* bytes that would be freed with all of them */
};

/*
 * A step from blocks towards a root. Chains with the same places are merged.
 * Step 0 is above all and has no place; its `child` begins the list of the
 * places that were asked for.
 */
struct wndl_holder_step {
    uint32_t place;
    uint32_t parent;         /* step nearer to the blocks */
    uint32_t child, sibling; /* steps; 0: none */
    uint64_t blocks, bytes;  /* whose chain comes through here */
    uint64_t offset;         /* bytes, of the pointer in its block or root */
    uint32_t site;   /* of the heap, with the pointer; WNDL_NO_INDEX: none, or
                      * of several sizes */
    uint32_t member; /* at `offset`, as `place`; 0: not known */
    bool offsets_differ;
    bool is_root;
    bool is_conservative; /* most of the pointers are */
    bool repeats; /* blocks of the place hold each other, as in a list */
};

/*
 * A node of a tree of places: blocks with the same places above them, without
 * detours: where a place comes again, all since it came first is left out. So
 * blocks of one or several places that hold each other, as in a list, are one
 * node, however many they are. Node 0 is above all and has no place.
 */
struct wndl_held_node {
    uint32_t parent;
    uint32_t place;
    uint32_t depth; /* number of places */
    bool is_root;
    /* The pointers from the place before; none in the tree of dominators. */
    uint64_t pointers, conservative, offset; /* offset: bytes */
    uint32_t site;                           /* as of a step */
    bool offsets_differ;
    bool repeats;           /* blocks of the place hold each other */
    uint64_t blocks, bytes; /* of the place, not of those below */
};

/* A block, the pointers to and from it, and its chain. */
struct wndl_heap_pointer {
    uint32_t place;
    uint32_t member;          /* at `offset`; 0: not known */
    uint64_t address, offset; /* of the block or root; bytes into it */
    bool is_root, conservative;
};

struct wndl_heap_block_view {
    uint64_t address, size, retained; /* avma; bytes */
    uint32_t place;
    bool is_lost;          /* no root leads to it */
    struct wndl_vec from;  /* struct wndl_heap_pointer: who points to it */
    struct wndl_vec to;    /* the same: what it points to */
    struct wndl_vec chain; /* the same: from it to its root */
};

/* Pointers whose other ends are blocks of one place, or one root. */
struct wndl_heap_merged {
    uint32_t place;
    bool is_root, offsets_differ;
    uint64_t offset;       /* bytes, of the pointers in their blocks or root */
    uint32_t site, member; /* as of a step */
    uint64_t pointers, conservative;
};

/* All blocks of a place, the pointers to and from them, and a chain. */
struct wndl_heap_site_view {
    uint64_t number;               /* of its row in by_place; the first is 1 */
    struct wndl_heap_retained row; /* a copy */
    uint64_t lost;                 /* blocks that no root leads to */
    struct wndl_vec from;  /* struct wndl_heap_merged: who points to them */
    struct wndl_vec to;    /* the same: what they point to */
    struct wndl_vec chain; /* struct wndl_heap_pointer: the shortest from one
                            * of them to a root; empty: all are lost */
};

struct wndl_heap_holders {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_heap_graph graph;
    uint64_t bytes, lost_bytes, lost_blocks; /* of all blocks; of the lost */
    uint64_t written;           /* while the heap was scanned: model/heap.h */
    uint64_t stopped;           /* the same */
    struct wndl_vec by_place;   /* struct wndl_heap_retained, most first */
    struct wndl_vec by_root;    /* the same */
    struct wndl_vec leaks;      /* the same, by place of the leaders of leaks */
    struct wndl_vec steps;      /* struct wndl_holder_step */
    struct wndl_vec retained;   /* struct wndl_held_node: below each, what
                                 * would be freed with it */
    struct wndl_vec chains;     /* the same: the shortest chains from roots */
    struct wndl_vec seen;       /* struct wndl_heap_block_view: 0 or 1 */
    struct wndl_vec seen_sites; /* struct wndl_heap_site_view: 0 or 1 */
};

/* Retained by a place or root in two scans; of each pair, the earlier first. */
struct wndl_holder_change {
    uint32_t place;       /* of the changes' strings */
    uint64_t retained[2]; /* bytes */
    uint64_t blocks[2];   /* of a root: 0 */
};

struct wndl_holder_changes {
    struct wndl_arena arena;
    struct wndl_intern strings;
    uint64_t bytes[2], blocks[2]; /* of all blocks */
    struct wndl_vec by_place;     /* struct wndl_holder_change: those that
                                   * changed, the most first */
    struct wndl_vec by_root;      /* the same */
};

#endif
