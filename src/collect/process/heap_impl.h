/* SPDX-License-Identifier: MIT */
/*
 * heap_impl: the parts that the files of collector_heap share. Each file's
 * functions stand under its name.
 */
#ifndef WNDL_COLLECT_PROCESS_HEAP_IMPL_H
#define WNDL_COLLECT_PROCESS_HEAP_IMPL_H

#include "collect/process/heap.h"
#include "collect/process/process.h"
#include "wndl/write_heap.h"

/* The sites that are read at once: they stay in the CPU's caches. */
enum { WNDL_HEAP_AT_ONCE = 2 * 1024 };

struct wndl_collector_heap {
    struct wndl_collector_heap_request request;
    struct wndl_heap_layout layout;
    struct wndl_heap *head; /* mapped up to the growths */
    int fd;
    bool announced;
    uint32_t written;      /* sites in the file */
    uint32_t tags;         /* of the process that are in the file */
    uint32_t snapshots;    /* so far */
    uint64_t next;         /* CLOCK_MONOTONIC ns of the next snapshot by time */
    int64_t peak;          /* bytes, at the last snapshot for a peak */
    int64_t bytes, blocks; /* live, as last written */
    uint32_t scan;         /* the last answer that was taken; 0: none */
    uint64_t contents;     /* bytes that were written for the next scan */
    uint64_t scan_written; /* bytes: of the copy that is or was scanned last */
    uint32_t reported_runs; /* of the header, as last written */
    bool reporters_hang;    /* a run did not end */
    /* The last measurement of all memory: when (CLOCK_MONOTONIC ns), its cost
     * (ns of CPU time), and the most resident bytes of any so far. */
    uint64_t memory_time, memory_cost, memory_most;
};

/* ---- heap_head */

/* Whether nobody has written to pages of the tables. False if not known. */
bool wndl_heap_is_untouched(
    const struct wndl_collector_heap *heap, size_t offset, size_t size);

/*
 * Reads a part of the tables, from `offset` bytes into the heap's memory. Bytes
 * that cannot be read are 0.
 */
void wndl_heap_read(const struct wndl_collector_heap *heap, size_t offset,
    void *to, size_t size);

/* A part of the tables; too large for the stack. */
struct wndl_heap_part {
    uint32_t first, count; /* sites */
    struct wndl_heap_site sites[WNDL_HEAP_AT_ONCE];
    struct wndl_heap_site_sum sums[WNDL_HEAP_AT_ONCE];
    struct wndl_heap_count counts[WNDL_HEAP_AT_ONCE]; /* of one stripe */
    struct wndl_heap_leaks leaks[WNDL_HEAP_AT_ONCE];
    struct wndl_heap_reported reported[WNDL_HEAP_AT_ONCE]; /* any rows */
};

/* Not zeroed: unused parts cost nothing. NULL: no memory. */
struct wndl_heap_part *wndl_heap_new_part(void);
void wndl_heap_free_part(struct wndl_heap_part *part);

/*
 * Reads the part that begins with site `first`, of the sites that are in the
 * file. False if there is none.
 */
bool wndl_heap_next_part(const struct wndl_collector_heap *heap, uint32_t first,
    struct wndl_heap_part *part);

/* ---- heap_sum */

/* The sums of the stripes and the header at one moment. */
struct wndl_heap_sum {
    struct wndl_heap_stripe stripes; /* their sum */
    uint32_t used;                   /* a bit for each stripe that has counts */
    int64_t live_bytes, live_blocks;
    int64_t peak_bytes; /* at least live_bytes */
    uint64_t peak_time; /* CLOCK_MONOTONIC ns */
    bool is_peak;       /* now is the peak */
    uint32_t peak_stamp;
    uint32_t inherited;
    bool own_allocator, unsure;
    double tick; /* ns per tick of the TSC; 0: not known */
};

/* Reads all stripes and the header into `sum`. */
void wndl_heap_sum_up(
    const struct wndl_collector_heap *heap, struct wndl_heap_sum *sum);

/* Fills in the sums of the part's sites. */
void wndl_heap_sum_part(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part);

/* Reads one stripe's counts of the part's sites. */
void wndl_heap_read_stripe(const struct wndl_collector_heap *heap,
    uint32_t stripe, struct wndl_heap_part *part);

/* ---- heap_reported */

/* Writes HREP for the last snapshot, if they have run since the one before. */
void wndl_heap_put_reported(
    struct wndl_collector_process *p, struct wndl_heap_part *part);

/* After the end of the process: notes the reporter that ran then. */
void wndl_heap_find_failed_reporter(struct wndl_collector_process *p);

/* ---- heap_findings */

/* Writes HLEK, HGRO, HWRO, HMIX, HSCN and HTOG. */
void wndl_heap_put_findings(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part);

/* ---- heap_memory */

/* Measures all memory of the process, which still runs, if that is due. */
void wndl_heap_see_to_memory(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum);

/* Writes what the process measured at its end. */
void wndl_heap_end_memory(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum);

/* ---- heap_scan */

/* Asks the process for a scan for the last snapshot, if scans are wanted. */
void wndl_heap_ask_scan(struct wndl_collector_process *p);

/* Writes HSCN if there is a scan that was asked for. */
void wndl_heap_take_scan(struct wndl_collector_process *p, bool last);

/* Writes HCON if a window of contents is full. */
void wndl_heap_take_contents(struct wndl_collector_process *p);

/* The same, at the end: of the last scan. */
void wndl_heap_end_scan(struct wndl_collector_process *p);

/* ---- heap_paired */

/* Writes HTOG. */
void wndl_heap_put_paired(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part);

#endif
