/* SPDX-License-Identifier: MIT */
/*
 * exported: the request to a writer of whole recordings, and the sums that
 * several writers need.
 */
#ifndef WNDL_MODEL_EXPORTED_H
#define WNDL_MODEL_EXPORTED_H

#include "model/costs.h"
#include "model/heap.h"
#include "model/symbolized.h"

/*
 * A writer writes the whole recording; `time`, `set` and `by_blocks` choose the
 * part that is shown first.
 */
struct wndl_exported {
    const struct wndl_symbolized *symbolized;
    bool of_heap;        /* write the heaps, else what the threads did */
    uint64_t pid;        /* of the only process whose heap is written; 0: all */
    bool has_freed;      /* freed blocks were recorded too */
    enum wndl_time time; /* the time that is shown first */
    enum wndl_heap_set set; /* the same for a heap */
    bool by_blocks;         /* show counts of blocks first, else bytes */
    bool zipped;            /* compress, where the format leaves it open */
};

/* Sums over all blocks of one stack: counts, or estimates from a sample. */
struct wndl_stack_sum {
    uint32_t node; /* 0: no stack */
    uint8_t label; /* enum wndl_label */
    double blocks[WNDL_HEAP_SETS];
    double bytes[WNDL_HEAP_SETS]; /* usable */
    double lifetime;              /* ns, summed over freed blocks */
};

/*
 * Fills `sums` (struct wndl_stack_sum) with those of a heap, in the order of
 * its stacks, in `arena`. False when memory is out.
 */
bool wndl_exported_sum(struct wndl_vec *sums,
    const struct wndl_process_heap *heap, struct wndl_arena *arena);

/* Rounded to an integer; at most 2^53, which every reader of JSON can hold. */
uint64_t wndl_exported_round(double value);

/* Whether the heap has counts and belongs to a process that is written. */
bool wndl_exported_has(
    const struct wndl_exported *e, const struct wndl_process_heap *heap);

/* Whether the recording has those blocks. */
bool wndl_exported_has_set(
    const struct wndl_exported *e, enum wndl_heap_set set);

/* The name of a process's program. Borrowed from `p`. */
struct wndl_bytes wndl_exported_program(
    const struct wndl_profile *p, uint32_t process);

/*
 * For each entry of frame_locations its frame, in `arena`; NULL when memory is
 * out. Needed since the entries stand in the order of the lookups.
 */
uint32_t *wndl_exported_frames(
    const struct wndl_symbolized *s, struct wndl_arena *arena);

/* The enum wndl_label of an allocation's stack. */
uint8_t wndl_exported_label(const struct wndl_alloc_site *site);

/*
 * The rva or address of the instruction that a frame executes: of a caller, its
 * call site.
 */
uint64_t wndl_exported_address(const struct wndl_frame_key *frame);

#endif
