/* SPDX-License-Identifier: MIT */
/*
 * heap_report: the contents of a report on recorded heaps, as plain data
 * without layout. analyze fills it in; out writes it.
 */
#ifndef WNDL_MODEL_HEAP_REPORT_H
#define WNDL_MODEL_HEAP_REPORT_H

#include "model/heap.h"
#include "model/heap_records.h"
#include "model/symbolized.h"

/*
 * Allocations by the state of their stacks; estimates if the heap is sampled.
 * allocs == complete + guessed + truncated + lost + none + damaged + missed,
 * apart from rounding and sampling errors.
 */
struct wndl_heap_quality {
    uint64_t allocs;
    uint64_t complete;
    uint64_t guessed;   /* the root was found by a guess */
    uint64_t truncated; /* too deep */
    uint64_t lost;      /* the walk stopped before the root */
    uint64_t none;      /* no stack at all */
    uint64_t damaged;   /* in the file */
    uint64_t missed;    /* at no site, by reason in missed[] */
};

/* Sums over one heap, or over all; at the snapshots that were kept. */
struct wndl_heap_sum {
    uint64_t live_blocks, live_bytes;  /* usable */
    uint64_t totals[WNDL_HEAP_TOTALS]; /* the peak is that of one heap */
    uint64_t missed[WNDL_HEAP_MISSED_REASONS];
    struct wndl_heap_quality quality;
};

/* A heap that is in the report. */
struct wndl_heap_row {
    uint32_t heap; /* index in the profile's heaps */
    struct wndl_heap_sum sum;
};

/* ---- findings */

enum wndl_finding_kind {
    WNDL_FINDING_DEFINITE, /* leaks: nothing points to them */
    WNDL_FINDING_INDIRECT, /* only leaked blocks point to them */
    WNDL_FINDING_POSSIBLE, /* only pointers into their middle */
    WNDL_FINDING_REACHABLE,
    WNDL_FINDING_TEMPORARY,
    WNDL_FINDING_GROWTH, /* buffers that grow just enough */
    WNDL_FINDING_CLASS,  /* requests just above a size class */
    WNDL_FINDING_SLOP,
    WNDL_FINDING_TOGETHER,
    WNDL_FINDING_WRONG,    /* wrong frees */
    WNDL_FINDING_MEASURED, /* pointers measured that are no blocks */
    WNDL_FINDINGS,
};

struct wndl_finding {
    struct wndl_heap_stack stack;
    /* TOGETHER: the stack whose blocks come just before; WRONG: the stack that
     * took the blocks, if that is known */
    struct wndl_heap_stack other;
    /* of the blocks that the finding is about */
    struct wndl_heap_figures figures;
    uint64_t request; /* CLASS: bytes of each request, just above a class */
    uint64_t size;    /* CLASS: usable bytes of the class below */
    struct wndl_alloc_growth growth; /* GROWTH */
    uint8_t wrong;                   /* WRONG, MEASURED: enum wndl_wrong_free */
    uint64_t address;                /* WRONG, MEASURED: of the first */
    /* WRONG whose blocks' allocation is known, at `other`; UNKNOWN: it is not.
     * The modules are those of the callers: of symbolized->modules. */
    enum wndl_whose taken_by, freed_by;
    uint32_t taken_in, freed_in;
};

/* Findings by kind; the largest first in each. */
struct wndl_findings {
    struct wndl_vec rows[WNDL_FINDINGS]; /* struct wndl_finding */
    struct wndl_heap_figures totals[WNDL_FINDINGS];
    bool leaks_known; /* leaks were searched for in at least one process */
};

/* ---- the report */

enum { WNDL_HEAP_PARTS = 10 };

/*
 * The live bytes of all heaps at one moment, in which those of processes that
 * have ended do not count. last_bytes <= peak_bytes.
 */
struct wndl_heap_together {
    uint64_t peak_bytes, peak_time; /* when they were most */
    uint64_t last_bytes, last_time; /* at the last snapshot of any */
};

/*
 * The resident memory of all processes that run at a moment, each as it was
 * last measured. Pages that several of them share count in each.
 */
struct wndl_heap_resident {
    uint64_t time;                       /* ns since the recording's start */
    uint64_t parts[WNDL_RESIDENT_PARTS]; /* bytes */
    uint64_t all;                        /* the sum of the parts */
    uint64_t proportional, mapped;       /* bytes; base/memory_kind.h */
};

/*
 * The resident memory of one caller, file or arena, at the moments of
 * resident_most and resident_last. Callers are distinct by three frames.
 */
struct wndl_resident_place {
    enum wndl_memory_kind kind;
    uint64_t most, last; /* bytes */
    uint32_t leaf;       /* in peak_list; valid if is_caller */
    bool is_caller;
    struct wndl_bytes name; /* of the file; empty: none */
    uint64_t start;         /* of an arena */
    uint64_t last_live;     /* bytes + 1 in it; 0: not known */
};

struct wndl_heap_report {
    const struct wndl_symbolized *symbolized;
    /* "live", "peak", "all": the blocks in the records; static */
    const char *which;
    bool cumulative;       /* some heap recorded freed blocks */
    uint64_t sample_below; /* bytes; the largest of any heap; 0: none sampled */
    struct wndl_arena arena;
    struct wndl_vec rows; /* struct wndl_heap_row, by peak */
    /* its peak is that of the heap with the highest */
    struct wndl_heap_sum all;
    /* index of that heap in the profile, or WNDL_NO_INDEX */
    uint32_t peak_heap;
    /*
     * The live bytes and blocks in the middle of each of equal parts of the
     * recording's time; valid if parts_known.
     */
    struct wndl_heap_moment parts[WNDL_HEAP_PARTS];
    bool parts_known;
    /* The same of resident memory, if resident_known. */
    struct wndl_heap_resident resident_parts[WNDL_HEAP_PARTS];
    /* When it was most, and when it was last measured. */
    struct wndl_heap_resident resident_most, resident_last;
    bool resident_known;
    struct wndl_vec places; /* struct wndl_resident_place, the largest first */
    struct wndl_findings findings;
    struct wndl_heap_list list; /* with the frames of all stacks */
    struct wndl_heap_records records;
    struct wndl_heap_together together;
    /* Blocks at the peak, of the heap with the highest, by their innermost
     * frames without allocation functions. */
    struct wndl_heap_list peak_list;
    struct wndl_heap_records holders;
};

/* ---- by tag */

/* The chosen blocks of a tag. */
struct wndl_heap_tag_sum {
    struct wndl_bytes name; /* empty: no tag */
    double blocks, bytes;   /* usable; estimates if a heap is sampled */
};

/* ---- a comparison of two */

struct wndl_heap_side_sum {
    const char *file;
    uint64_t heaps, live_blocks, live_bytes; /* usable; in the kept snapshots */
    bool whole; /* the recording is neither cut short nor damaged */
};

struct wndl_heap_difference {
    const char *which;                  /* as above */
    struct wndl_heap_side_sum sides[2]; /* the earlier first */
    struct wndl_heap_list list;
    struct wndl_heap_records records; /* of `list`; later minus earlier */
};

#endif
