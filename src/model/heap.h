/* SPDX-License-Identifier: MIT */
/*
 * heap: what a recording tells of the heaps of its processes, as plain data
 * (docs/formats/wndl.md, HEAP and on). Of the counts only one snapshot's are
 * kept for each process, so that memory is bounded by what is distinct: 32
 * bytes a site, 48 a site that a snapshot counts.
 */
#ifndef WNDL_MODEL_HEAP_H
#define WNDL_MODEL_HEAP_H

#include "model/profile.h"

/* Where blocks of one size were allocated: a pair of the recording. */
struct wndl_alloc_site {
    uint32_t node;            /* the profile's; 0: no stack */
    uint8_t end;              /* enum wndl_walk_end */
    uint64_t requested, slop; /* bytes of one block */
};

/* What a snapshot counts of a site; of taken blocks, if it is sampled. */
struct wndl_alloc_counts {
    uint32_t site;
    uint64_t allocs, frees;
    uint64_t at_peak;   /* blocks that lived at the peak */
    uint64_t temporary; /* freed by their thread before its next allocation */
    uint64_t lifetime;  /* ns, summed over freed blocks */
};

/* Blocks that nothing pointed to at the end; the others were reachable. */
struct wndl_alloc_leaks {
    uint32_t site;
    uint64_t definite, indirect, possible;
};

/* Buffers that grew, by the stack of the call that made them. */
struct wndl_alloc_growth {
    uint32_t node;
    bool by_copy; /* else by realloc */
    uint64_t chains, steps;
    uint64_t allocated, final, doubling; /* bytes; docs/formats/wndl.md */
    uint64_t least_step, most_step;      /* bytes */
};

enum wndl_wrong_free {
    WNDL_WRONG_FREE_OTHER = 0, /* of a later kind */
    WNDL_WRONG_FREE_FOREIGN = 1,
    WNDL_WRONG_FREE_TWICE = 2,
    WNDL_WRONG_FREE_ALLOCATOR = 3, /* another one's block */
    WNDL_WRONG_FREES = 4,
};

struct wndl_alloc_wrong {
    uint32_t node;
    uint8_t kind; /* enum wndl_wrong_free */
    uint64_t count;
    uint64_t address; /* of the first */
};

/* The blocks of `site` are always born just after one of `other`. */
struct wndl_alloc_together {
    uint32_t site, other;
    uint64_t blocks;
};

/* How much was live at a time. */
struct wndl_heap_moment {
    uint64_t time;          /* ns since the recording's start */
    uint64_t bytes, blocks; /* usable */
};

/* Of every block of a heap, whether it is at a site or not: HSNP's order. */
enum wndl_heap_total {
    WNDL_HEAP_TOTAL_ALLOCS,
    WNDL_HEAP_TOTAL_FREES,
    WNDL_HEAP_TOTAL_REQUESTED, /* bytes of all allocs */
    WNDL_HEAP_TOTAL_USABLE,
    WNDL_HEAP_TOTAL_USABLE_FREED,
    WNDL_HEAP_TOTAL_REALLOCS,
    WNDL_HEAP_TOTAL_TEMPORARY,
    WNDL_HEAP_TOTAL_PEAK_BYTES,
    WNDL_HEAP_TOTAL_PEAK_TIME, /* ns since the recording's start */
    WNDL_HEAP_TOTAL_INHERITED, /* freed, but allocated before a fork */
    WNDL_HEAP_TOTAL_OWN,    /* 1: calls inside the executable were not seen */
    WNDL_HEAP_TOTAL_UNSURE, /* 1: frees of what never was were not told */
    WNDL_HEAP_TOTALS,
};

enum {
    WNDL_HEAP_MISSED_OTHER = 5, /* a reason that this version does not know */
    WNDL_HEAP_MISSED_REASONS = 6,
};

enum wndl_snapshot_trigger {
    WNDL_SNAPSHOT_END,
    WNDL_SNAPSHOT_CONTROL,
    WNDL_SNAPSHOT_PROGRAM,
    WNDL_SNAPSHOT_TIME,
    WNDL_SNAPSHOT_PEAK,
    WNDL_SNAPSHOT_STOP,
    WNDL_SNAPSHOT_OTHER, /* of a later kind */
    WNDL_SNAPSHOT_TRIGGERS,
};

struct wndl_heap_snapshot {
    uint64_t number; /* from 0 in each process; increasing */
    uint64_t time;   /* ns since the recording's start */
    uint8_t why;     /* enum wndl_snapshot_trigger */
    bool cut;        /* some of its counts may not be in the file */
    struct wndl_bytes text;
    uint64_t totals[WNDL_HEAP_TOTALS];
    uint64_t missed[WNDL_HEAP_MISSED_REASONS]; /* blocks at no site */
};

struct wndl_process_heap {
    uint32_t process;
    bool cumulative;
    bool leaks_wanted, leaks_known;
    uint64_t sample_below;     /* bytes; 0: every block was taken */
    struct wndl_vec sites;     /* struct wndl_alloc_site */
    struct wndl_vec moments;   /* struct wndl_heap_moment, in order */
    struct wndl_vec snapshots; /* struct wndl_heap_snapshot, in order */
    uint32_t kept;             /* of snapshots, WNDL_NO_INDEX: none */
    struct wndl_vec counts;    /* struct wndl_alloc_counts of that one */
    uint64_t lost;             /* blocks of that one whose site is damaged */
    struct wndl_vec leaks;     /* struct wndl_alloc_leaks */
    struct wndl_vec growths;   /* struct wndl_alloc_growth */
    struct wndl_vec wrongs;    /* struct wndl_alloc_wrong */
    struct wndl_vec together;  /* struct wndl_alloc_together */
};

/* A heap of `process` at the end of p->heaps; NULL when memory is out. */
struct wndl_process_heap *wndl_profile_heap(
    struct wndl_profile *p, uint32_t process);

/* The snapshot whose counts are kept, or NULL. */
const struct wndl_heap_snapshot *wndl_heap_kept(
    const struct wndl_process_heap *heap);

/* Blocks that a taken one of the site stands for: 1, or more if sampled. */
double wndl_alloc_weight(
    const struct wndl_process_heap *heap, const struct wndl_alloc_site *site);

/* Blocks that are live by the counts. */
static inline uint64_t wndl_alloc_live(const struct wndl_alloc_counts *counts)
{
    return counts->allocs > counts->frees ? counts->allocs - counts->frees : 0;
}

/* Which blocks of the snapshot that was kept. */
enum wndl_heap_set {
    WNDL_HEAP_SET_LIVE,      /* at its time */
    WNDL_HEAP_SET_PEAK,      /* that lived when most bytes did, until then */
    WNDL_HEAP_SET_ALL,       /* that had been allocated until then */
    WNDL_HEAP_SET_TEMPORARY, /* of those, freed before the next one */
    WNDL_HEAP_SETS,
};

/* How many of those a site has; of taken ones, if it is sampled. */
uint64_t wndl_heap_count(
    const struct wndl_alloc_counts *counts, enum wndl_heap_set set);

/* Of every block, whether it is at a site or not; bytes are usable ones. */
uint64_t wndl_heap_live_blocks(const struct wndl_heap_snapshot *snapshot);
uint64_t wndl_heap_live_bytes(const struct wndl_heap_snapshot *snapshot);

/* For people: "no room for stacks". Static string. */
const char *wndl_heap_missed_text(unsigned reason);

/* For people: "when the process ended". Static string. */
const char *wndl_snapshot_trigger_text(unsigned why);

#endif
