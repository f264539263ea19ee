/* SPDX-License-Identifier: MIT */
/*
 * heap: how what a process counts of its heap (rec/heap.h) gets
 * into the recording. It must not know why anybody wants a snapshot.
 *
 * The memory is foreign. Its header's first page is mapped; the tables are
 * read with pread(), which copies them, so that they hold still while they are
 * looked at, and which does not fill the holes of a sparse file, as touching
 * a mapping would.
 */
#ifndef WNDL_COLLECT_PROCESS_HEAP_H
#define WNDL_COLLECT_PROCESS_HEAP_H

#include "model/heap.h"
#include "rec/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wndl_collector_process;

struct wndl_collector_heap_request {
    uint32_t flags;        /* enum wndl_heap_flag, or-ed; 0: no heap */
    uint32_t sites, nodes; /* that there shall be room for */
    uint64_t sample_below; /* bytes; 0: every block */
    uint64_t every;        /* ns between snapshots; 0: none */
    bool at_peaks;         /* a snapshot at each new one */
};

enum { WNDL_COLLECTOR_HEAP_ENDS = 8 }; /* enum wndl_walk_end */

/* Of all heaps. */
struct wndl_collector_heap_totals {
    uint32_t heaps;
    uint32_t own_allocators; /* of them, with calls that are not seen */
    uint32_t sanitized;      /* processes: not of them */
    uint64_t allocs, frees, reallocs;
    uint64_t requested;               /* bytes of all allocs */
    uint64_t live_bytes, live_blocks; /* usable */
    uint64_t peak;                    /* bytes: of the heap with the highest */
    uint64_t missed[WNDL_HEAP_MISSES];
    /* Of those that have ended. Allocations in sites, by how the walk of
     * their stack ended. */
    uint64_t ends[WNDL_COLLECTOR_HEAP_ENDS];
    uint64_t without;                /* in sites without a stack */
    uint64_t frames, frames_resumed; /* of all walks */
};

struct wndl_collector_heap;

/*
 * Prepares the heap's part of a zeroed memory `memfd`, which stays the
 * caller's. NULL, with errno, when that cannot be had.
 */
struct wndl_collector_heap *wndl_collector_heap_new(
    const struct wndl_collector_heap_request *request, int memfd);

/* NULL is left alone. */
void wndl_collector_heap_free(struct wndl_collector_heap *heap);

/*
 * Writes what is new, and takes the snapshots that have their time or were
 * asked for by the program. `p` must have a heap, as for all below.
 */
void wndl_collector_heap_drain(struct wndl_collector_process *p);

void wndl_collector_heap_snapshot(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why);

/*
 * The last snapshot, which is WNDL_SNAPSHOT_END or WNDL_SNAPSHOT_STOP, and
 * what is told at the end only. After the last drain. Adds to the totals of the
 * recording.
 */
void wndl_collector_heap_end(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why);

/* Adds what a heap that has not ended counts now. */
void wndl_collector_heap_add(const struct wndl_collector_process *p,
    struct wndl_collector_heap_totals *totals);

#endif
