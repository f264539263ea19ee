/* SPDX-License-Identifier: MIT */
/*
 * heap_report: what a report on recorded heaps says, as plain data, before
 * anyone lays it out. analyze fills it in; out writes it.
 */
#ifndef WNDL_MODEL_HEAP_REPORT_H
#define WNDL_MODEL_HEAP_REPORT_H

#include "model/heap.h"
#include "model/heap_records.h"
#include "model/symbolized.h"

/*
 * Allocations by what is known of their stacks; of sampled ones, estimates.
 * allocs == complete + guessed + truncated + lost + none + damaged + missed,
 * but for what rounding and sampling leave.
 */
struct wndl_heap_quality {
    uint64_t allocs;
    uint64_t complete;
    uint64_t guessed;   /* the root, by frame pointers */
    uint64_t truncated; /* too deep */
    uint64_t lost;      /* the walk stopped on the way */
    uint64_t none;      /* no stack at all */
    uint64_t damaged;   /* in the file */
    uint64_t missed;    /* at no site, by reason in missed[] */
};

/* Of one heap, or of all; at the snapshots that were kept. */
struct wndl_heap_sum {
    uint64_t live_blocks, live_bytes;  /* usable */
    uint64_t totals[WNDL_HEAP_TOTALS]; /* the peak is that of one heap */
    uint64_t missed[WNDL_HEAP_MISSED_REASONS];
    struct wndl_heap_quality quality;
};

/* A heap that is in the report. */
struct wndl_heap_row {
    uint32_t heap; /* of the profile's heaps */
    struct wndl_heap_sum sum;
};

/* ---- findings */

enum wndl_finding_kind {
    WNDL_FINDING_DEFINITE, /* leaks: nothing points to them */
    WNDL_FINDING_INDIRECT, /* only blocks that leaked do */
    WNDL_FINDING_POSSIBLE, /* something points into them */
    WNDL_FINDING_REACHABLE,
    WNDL_FINDING_TEMPORARY,
    WNDL_FINDING_GROWTH, /* buffers that grow just enough */
    WNDL_FINDING_CLASS,  /* requests just above a size class */
    WNDL_FINDING_SLOP,
    WNDL_FINDING_TOGETHER,
    WNDL_FINDING_WRONG, /* frees */
    WNDL_FINDINGS,
};

struct wndl_finding {
    struct wndl_heap_stack stack;
    struct wndl_heap_stack other;     /* TOGETHER: what is born just before */
    struct wndl_heap_figures figures; /* of the blocks it is about */
    uint64_t request; /* CLASS: bytes of each request, which is just above */
    uint64_t size;    /* CLASS: the usable bytes of the class below */
    struct wndl_alloc_growth growth; /* GROWTH */
    uint8_t wrong;                   /* WRONG: enum wndl_wrong_free */
    uint64_t address;                /* WRONG: of the first */
};

/* Of each kind the largest first. */
struct wndl_findings {
    struct wndl_vec rows[WNDL_FINDINGS]; /* struct wndl_finding */
    struct wndl_heap_figures totals[WNDL_FINDINGS];
    bool leaks_known; /* looked for in at least one process */
};

/* ---- the report */

enum { WNDL_HEAP_PARTS = 10 };

struct wndl_heap_report {
    const struct wndl_symbolized *symbolized;
    const char *which;     /* "live", "peak", "all": what the records are of */
    bool cumulative;       /* some heap tells of blocks that are gone */
    uint64_t sample_below; /* bytes: the most of any heap; 0: none sampled */
    struct wndl_arena arena;
    struct wndl_vec rows;     /* struct wndl_heap_row, by peak */
    struct wndl_heap_sum all; /* the peak: of the heap where it is highest */
    uint32_t peak_heap;       /* that one, of the profile's, or WNDL_NO_INDEX */
    /* What was live in the middle of equal parts of the recording's time,
     * if that was looked at. */
    struct wndl_heap_moment parts[WNDL_HEAP_PARTS];
    bool parts_known;
    struct wndl_findings findings;
    struct wndl_heap_list list; /* that all stacks are of */
    struct wndl_heap_records records;
};

/* ---- two of them */

struct wndl_heap_side_sum {
    const char *file;
    uint64_t heaps, live_blocks, live_bytes; /* usable; in the snapshots kept */
    bool whole; /* the recording is neither cut short nor damaged */
};

struct wndl_heap_difference {
    const char *which;                  /* as above */
    struct wndl_heap_side_sum sides[2]; /* the earlier first */
    struct wndl_heap_list list;
    struct wndl_heap_records records; /* of `list`; later less earlier */
};

#endif
