/* SPDX-License-Identifier: MIT */
/*
 * exported: what a writer of whole recordings is told, and the sums that
 * several of them need.
 */
#ifndef WNDL_MODEL_EXPORTED_H
#define WNDL_MODEL_EXPORTED_H

#include "model/costs.h"
#include "model/heap.h"
#include "model/symbolized.h"

/* Whatever is in the recording is written; some of it is shown first. */
struct wndl_exported {
    const struct wndl_symbolized *symbolized;
    bool of_heap;           /* its heaps, else what its threads did */
    uint64_t pid;           /* of the only heap that counts; 0: all do */
    bool tells_gone;        /* blocks that are gone were recorded too */
    enum wndl_time time;    /* shown first */
    enum wndl_heap_set set; /* the same of a heap */
    bool by_blocks;         /* their number first, else their bytes */
    bool zipped;            /* where the format leaves it open */
};

/* Of all blocks of one stack; whole ones, or estimates from a sample. */
struct wndl_stack_sum {
    uint32_t node; /* 0: no stack */
    uint8_t label; /* enum wndl_label */
    double blocks[WNDL_HEAP_SETS];
    double bytes[WNDL_HEAP_SETS]; /* usable */
    double lifetime;              /* ns, of those that were freed */
};

/*
 * The sums of a heap, in the order in which its stacks come, in `arena`.
 * False when memory is out.
 */
bool wndl_exported_sum(struct wndl_vec *sums,
    const struct wndl_process_heap *heap, struct wndl_arena *arena);

/* Rounded to whole ones; at most 2^53, which all readers of JSON can hold. */
uint64_t wndl_exported_round(double value);

/* Whether the heap has counts and is of a process that counts. */
bool wndl_exported_has(
    const struct wndl_exported *e, const struct wndl_process_heap *heap);

/* Whether the recording tells of those blocks. */
bool wndl_exported_tells(const struct wndl_exported *e, enum wndl_heap_set set);

/* The name of a process's program. */
struct wndl_bytes wndl_exported_program(
    const struct wndl_profile *p, uint32_t process);

/*
 * For each of frame_locations the frame whose it is, in `arena`, or NULL:
 * they stand in the order in which symbols were looked up.
 */
uint32_t *wndl_exported_frames(
    const struct wndl_symbolized *s, struct wndl_arena *arena);

/* enum wndl_label of the stack of an allocation. */
uint8_t wndl_exported_label(const struct wndl_alloc_site *site);

/* The rva or address of the instruction that a frame is at. */
uint64_t wndl_exported_address(const struct wndl_frame_key *frame);

#endif
