/* SPDX-License-Identifier: MIT */
/*
 * heap: moves the heap counts of a process (rec/heap.h) into the recording. It
 * must not know why anybody wants a snapshot.
 *
 * The memory is foreign. Its header's first page is mapped; the tables are read
 * with pread(), which copies them, so that they do not change while they are
 * read. Unlike touching a mapping, it does not fill the holes of a sparse file.
 */
#ifndef WNDL_COLLECT_PROCESS_HEAP_H
#define WNDL_COLLECT_PROCESS_HEAP_H

#include "model/heap.h"
#include "rec/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wndl_collector_process;

enum { WNDL_COLLECTOR_LIBRARIES = 32 };

struct wndl_collector_heap_request {
    uint32_t flags;        /* enum wndl_heap_flag, or-ed; 0: no heap */
    uint32_t sites, nodes; /* for which there is room */
    uint64_t sample_below; /* bytes; 0: every block */
    uint64_t every;        /* ns between snapshots; 0: none */
    bool at_peaks;         /* a snapshot at each new peak */
    uint64_t pointer_tags; /* bits of words that are no part of an address */
    uint64_t scan_memory;  /* bytes that the program may write to while its
                            * copy is scanned */
    struct wndl_tag_library libraries[WNDL_COLLECTOR_LIBRARIES];
    size_t library_count; /* texts are borrowed */
};

enum { WNDL_COLLECTOR_HEAP_ENDS = 8 }; /* enum wndl_walk_end */

/* Sums over all heaps. */
struct wndl_collector_heap_totals {
    uint32_t heaps;
    uint32_t own_allocators; /* heaps with allocator calls that are not seen */
    uint32_t sanitized;      /* processes under a sanitizer: without a heap */
    uint64_t allocs, frees, reallocs;
    uint64_t requested;               /* bytes of all allocs */
    uint64_t live_bytes, live_blocks; /* usable */
    uint64_t peak;                    /* bytes: the highest of any heap */
    uint64_t missed[WNDL_HEAP_MISSES];
    /*
     * Counts of heaps that have ended: allocations in sites, by the end of the
     * walk of their stack.
     */
    uint64_t ends[WNDL_COLLECTOR_HEAP_ENDS];
    uint64_t without;                /* allocations in sites without a stack */
    uint64_t frames, frames_resumed; /* over all walks */
    /* The first memory reporter that failed; "": its name is not known. */
    enum wndl_reporter_failure reporter_failure;
    char reporter[WNDL_HEAP_REPORTER];
    int reporter_pid;
};

struct wndl_collector_heap;

/*
 * Opens the heap's part of `memfd`, which stays the caller's. NULL, with errno,
 * on failure.
 */
struct wndl_collector_heap *wndl_collector_heap_new(
    const struct wndl_collector_heap_request *request, int memfd);

/* Fills its header, in zeroed memory. */
void wndl_collector_heap_prepare(struct wndl_collector_heap *heap);

/* Frees it. NULL is ignored. */
void wndl_collector_heap_free(struct wndl_collector_heap *heap);

/*
 * Writes new sites, and takes the snapshots that are due or that the program
 * requested. `p` must have a heap, here and below.
 */
void wndl_collector_heap_drain(struct wndl_collector_process *p);

/*
 * In dark-matter mode: lets the memory reporters of the process, which still
 * runs, run and waits for them. Before a snapshot.
 */
void wndl_collector_heap_run_reporters(struct wndl_collector_process *p);

/* Takes a snapshot now, for the reason `why`. */
void wndl_collector_heap_snapshot(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why);

/*
 * After the last drain: takes the last snapshot, for WNDL_SNAPSHOT_END or
 * WNDL_SNAPSHOT_STOP, and writes the findings. Adds to the recording's totals.
 */
void wndl_collector_heap_end(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why);

/* Adds the current counts of a heap that has not ended. */
void wndl_collector_heap_add(const struct wndl_collector_process *p,
    struct wndl_collector_heap_totals *totals);

#endif
