/* SPDX-License-Identifier: MIT */
/*
 * write_heap: the chunks of a recorded heap, from the tables that the process
 * shares (rec/heap.h). It must not know when each is written. Failures are
 * sticky, as in write.h.
 */
#ifndef WNDL_WNDL_WRITE_HEAP_H
#define WNDL_WNDL_WRITE_HEAP_H

#include "model/heap.h"
#include "rec/heap.h"
#include "wndl/write.h"

/* A process, and the number of nodes of its stack tree in the file. */
struct wndl_heap_process {
    uint32_t index, nodes;
};

/*
 * Writes HEAP. `flags`: enum wndl_heap_flag, or-ed. `sample_below`: bytes; 0:
 * every block is recorded.
 */
void wndl_recording_heap(struct wndl_recording *r, uint32_t process,
    uint32_t flags, uint64_t sample_below);

/* Writes HPAR: `count` sites from number `first` on. */
void wndl_recording_sites(struct wndl_recording *r,
    const struct wndl_heap_process *process, uint32_t first,
    const struct wndl_heap_site *sites, uint32_t count);

/* Writes HTAG: `count` tags from number `first` on. */
void wndl_recording_tags(struct wndl_recording *r,
    const struct wndl_heap_process *process, uint32_t first,
    const struct wndl_tag *tags, uint32_t count);

/* Writes HOWN: the tags of those of the sites that have any, if some have. */
void wndl_recording_owners(struct wndl_recording *r, uint32_t process,
    uint32_t first, const struct wndl_heap_site *sites, uint32_t count);

/* Writes HLIB, if there are any. */
void wndl_recording_libraries(struct wndl_recording *r,
    const struct wndl_tag_library *libraries, size_t count);

struct wndl_recording_snapshot {
    uint32_t process;
    uint32_t number;
    enum wndl_snapshot_trigger why;
    struct wndl_bytes text;
    uint64_t peak_time;                /* CLOCK_MONOTONIC ns */
    uint64_t totals[WNDL_HEAP_TOTALS]; /* the peak's time is `peak_time` */
    uint64_t missed[WNDL_HEAP_MISSES];
};

/* Writes HSNP. */
void wndl_recording_snapshot(
    struct wndl_recording *r, const struct wndl_recording_snapshot *snapshot);

/* A site's counts, summed over all stripes. */
struct wndl_heap_site_sum {
    uint64_t allocs, frees, temporary;
    uint64_t lifetime; /* ns */
    int64_t at_peak;
};

/*
 * Writes HCNT: the counts of those of `count` sites, from number `first` on,
 * that have any.
 */
void wndl_recording_counts(struct wndl_recording *r,
    const struct wndl_fields_hcnt *snapshot, uint32_t first,
    const struct wndl_heap_site_sum *sums, uint32_t count);

struct wndl_recording_reports {
    uint32_t snapshot; /* the number of the last one */
    uint64_t time;     /* CLOCK_MONOTONIC ns of the end of the reporters' run */
    uint64_t lost;     /* blocks that are in no row */
};

/* Writes HREP: `count` rows of blocks, by what memory reporters reported. */
void wndl_recording_reported(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_recording_reports *reports,
    const struct wndl_heap_reported *rows, uint32_t count);

/* Writes HFAL: a memory reporter did not come to its end. */
void wndl_recording_reporter_failed(struct wndl_recording *r, uint32_t process,
    enum wndl_reporter_failure how, struct wndl_bytes name);

/* Writes HTIM: the live usable bytes and blocks now. */
void wndl_recording_live(
    struct wndl_recording *r, uint32_t process, int64_t bytes, int64_t blocks);

struct wndl_recording_memory {
    uint32_t process;
    uint64_t time;              /* CLOCK_MONOTONIC ns */
    uint64_t live, live_mapped; /* model/heap.h */
    struct wndl_memory_sum sum;
};

/* Writes HMEM: all memory of the process. */
void wndl_recording_memory(
    struct wndl_recording *r, const struct wndl_recording_memory *memory);

/*
 * Writes HWHO: whose the memory is of which HMEM was written last. A caller
 * whose stack is not in the file is not known.
 */
void wndl_recording_places(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_memory_place *places, uint32_t count);

/*
 * Writes HLEK: the leaks of those of `count` sites, from number `first` on,
 * that have any. False if none has.
 */
bool wndl_recording_leaks(struct wndl_recording *r, uint32_t process,
    uint32_t first, const struct wndl_heap_leaks *leaks, uint32_t count);

/* Writes HLEK without elements: leaks were searched for, and there are none. */
void wndl_recording_no_leaks(struct wndl_recording *r, uint32_t process);

/* Write HGRO, HWRO and HMIX, if there are any whose stacks are in the file. */
void wndl_recording_growths(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_heap_growth growths[WNDL_HEAP_GROWTHS]);
void wndl_recording_wrongs(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS]);

struct wndl_recording_scan {
    uint32_t process, snapshot;
    enum wndl_scan_end end;
    uint64_t written;  /* bytes: struct wndl_process_heap */
    uint64_t contents; /* bytes of HCON that belong to it; 0: not kept */
    uint64_t stopped;  /* ns: struct wndl_process_heap */
};

/* Writes HCON: a part of the contents of blocks, from byte `position` on. */
void wndl_recording_contents(struct wndl_recording *r, uint32_t process,
    uint64_t position, struct wndl_bytes part);

/* Writes HSCN: a part of a scan. Its first byte is `position` of the whole. */
void wndl_recording_scan(struct wndl_recording *r,
    const struct wndl_recording_scan *scan, uint64_t position,
    struct wndl_bytes part);

/* Writes HTOG. */
void wndl_recording_together(struct wndl_recording *r, uint32_t process,
    const struct wndl_fields_together *together, uint32_t count);

#endif
