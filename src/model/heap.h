/* SPDX-License-Identifier: MIT */
/*
 * heap: the heaps of the recorded processes, as plain data
 * (docs/formats/wndl.md, HEAP and on). For each process the counts of only one
 * snapshot are kept, so that memory is bounded by what is distinct: 40 bytes a
 * site, 48 a site that the snapshot counts. What lived at earlier ones is kept
 * on request, of fewer of them where it would be more than about a million
 * numbers.
 */
#ifndef WNDL_MODEL_HEAP_H
#define WNDL_MODEL_HEAP_H

#include "base/memory_kind.h"
#include "model/profile.h"

/* A site: where blocks of one size are allocated (docs/glossary.md). */
struct wndl_alloc_site {
    uint32_t node;            /* of the profile; 0: no stack */
    uint8_t end;              /* enum wndl_walk_end */
    uint32_t tag;             /* number in the heap's tags, 0: none */
    uint64_t requested, slop; /* bytes of one block */
};

/*
 * Whose blocks are: a name that the program gave, or, without one, the stack
 * that created a thread.
 */
struct wndl_alloc_tag {
    struct wndl_bytes name;
    uint32_t node;  /* of the profile; 0: none */
    uint32_t outer; /* tag of the creating thread, smaller; 0: none */
};

/* A site's counts in a snapshot; of sampled blocks, if the heap is sampled. */
struct wndl_alloc_counts {
    uint32_t site;
    uint64_t allocs, frees;
    uint64_t at_peak;   /* blocks that lived at the peak */
    uint64_t temporary; /* freed by their thread before its next allocation */
    uint64_t lifetime;  /* ns, summed over freed blocks */
};

/* Blocks of a site that lived at one of several snapshots. */
struct wndl_alloc_lived {
    uint32_t snapshot; /* index in the heap's snapshots */
    uint32_t site;
    uint64_t blocks; /* of sampled ones, if the heap is sampled */
};

/* A stack that reported blocks; node 0: it is not known. */
struct wndl_alloc_reporter {
    uint32_t node;
    uint8_t end; /* enum wndl_walk_end */
};

enum wndl_reporter_failure {
    WNDL_REPORTER_NONE,
    WNDL_REPORTER_HANGS,  /* it did not return in time */
    WNDL_REPORTER_ENDED,  /* the process ended while it ran */
    WNDL_REPORTER_MISSED, /* it did not run: the program did not poll */
    WNDL_REPORTER_OTHER,  /* a kind that this version does not know */
};

/* Live blocks of a site that memory reporters reported from the same stacks. */
struct wndl_alloc_reported {
    uint32_t site;
    uint8_t reports;                  /* 0, 1, or 2: more than once */
    struct wndl_alloc_reporter by[2]; /* the first and the second */
    uint64_t blocks;                  /* of sampled ones, if it is sampled */
};

/* Leaked blocks of a site at the end; its other live blocks were reachable. */
struct wndl_alloc_leaks {
    uint32_t site;
    uint64_t definite, indirect, possible;
};

/* Buffers that grew, by the stack of the call that made them. */
struct wndl_alloc_growth {
    uint32_t node;
    bool by_copy; /* by allocation and copy, else by realloc */
    uint64_t chains, steps;
    uint64_t allocated, final, doubling; /* bytes; docs/formats/wndl.md */
    uint64_t least_step, most_step;      /* bytes */
};

enum wndl_wrong_free {
    WNDL_WRONG_FREE_OTHER = 0, /* of a kind that this version does not know */
    WNDL_WRONG_FREE_FOREIGN = 1,
    WNDL_WRONG_FREE_TWICE = 2,
    WNDL_WRONG_FREE_ALLOCATOR = 3, /* block of another allocator */
    /* Pointers that a memory reporter measured: */
    WNDL_WRONG_MEASURE_INTERIOR = 4,
    WNDL_WRONG_MEASURE_NO_BLOCK = 5,
    WNDL_WRONG_MEASURE_FREED = 6,
    WNDL_WRONG_MEASURE_UNSEARCHED = 7, /* INTERIOR or NO_BLOCK */
    WNDL_WRONG_FREES = 8,
};

/* Whose functions took a block, or freed it. */
enum wndl_whose {
    WNDL_WHOSE_UNKNOWN = 0,
    WNDL_WHOSE_MALLOC = 1,   /* the program's malloc */
    WNDL_WHOSE_REPORTED = 2, /* a pool's, as the program reported */
    WNDL_WHOSE_LIBC = 3,     /* libc's, beside the program's malloc */
    WNDL_WHOSE_CPP = 4,      /* C++'s operators */
    WNDL_WHOSE_COUNT = 5,
};

struct wndl_alloc_wrong {
    uint32_t node;
    uint8_t kind; /* enum wndl_wrong_free */
    uint64_t count;
    uint64_t address;  /* of the first */
    uint32_t taken_at; /* node of the blocks' allocation; 0: not known */
    uint8_t taken_by, freed_by; /* enum wndl_whose */
};

/* The blocks of `site` are always allocated just after one of `other`. */
struct wndl_alloc_together {
    uint32_t site, other;
    uint64_t blocks;
};

/* The live bytes and blocks at a time. */
struct wndl_heap_moment {
    uint64_t time;          /* ns since the recording's start */
    uint64_t bytes, blocks; /* usable */
};

/* All memory of the process at a time. */
struct wndl_heap_memory {
    uint64_t time;        /* ns since the recording's start */
    uint64_t live;        /* usable bytes of live blocks */
    uint64_t live_mapped; /* of those, bytes in mappings of their own */
    struct wndl_memory_sum sum;
    uint32_t first_place, place_count; /* in `places` of the heap */
};

/* A part of the memory of a kind: of one caller, file or arena. */
struct wndl_heap_place {
    uint64_t bytes;
    uint64_t start;         /* of the mapping, where there is no node */
    struct wndl_bytes name; /* of the file; empty: none */
    uint64_t live;          /* bytes + 1 of blocks in it; 0: not known */
    uint32_t node;          /* that mapped it; 0: not known */
    uint32_t kind;          /* enum wndl_memory_kind */
};

/* The parts that resident memory is divided into. */
enum wndl_resident_part {
    WNDL_RESIDENT_LIVE, /* blocks that live */
    WNDL_RESIDENT_KEPT, /* what the allocator has beyond them */
    WNDL_RESIDENT_MAPPED,
    WNDL_RESIDENT_STACKS,
    WNDL_RESIDENT_CODE,
    WNDL_RESIDENT_DATA,
    WNDL_RESIDENT_SHARED,
    WNDL_RESIDENT_WINDLASS,
    WNDL_RESIDENT_OTHER,
    WNDL_RESIDENT_PARTS,
};

/* Totals over every block of a heap, at a site or not. In HSNP's order. */
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
    /* blocks freed that were allocated before a fork */
    WNDL_HEAP_TOTAL_INHERITED,
    WNDL_HEAP_TOTAL_OWN, /* 1: calls inside the executable were not seen */
    /* 1: frees of unknown addresses were not reported */
    WNDL_HEAP_TOTAL_UNSURE,
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
    WNDL_SNAPSHOT_OTHER, /* of a kind that this version does not know */
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

/* The state of a heap's scan. */
enum wndl_scan_end {
    WNDL_SCAN_NONE, /* not asked for */
    WNDL_SCAN_DONE,
    WNDL_SCAN_NOT_MADE, /* the process was killed, or the heap not searched */
    WNDL_SCAN_TOO_LARGE,
    WNDL_SCAN_GIVEN_UP, /* the program wrote too much meanwhile */
    WNDL_SCAN_DAMAGED,  /* in the file */
    WNDL_SCAN_ENDS,
};

struct wndl_process_heap {
    uint32_t process;
    bool cumulative;
    bool leaks_wanted, leaks_known;
    bool dark; /* memory reporters were to run */
    /* They have run until the kept snapshot; `reported` is of the last time. */
    bool reported_known;
    uint64_t reported_time;     /* ns since the recording's start */
    uint64_t reported_snapshot; /* its number */
    uint64_t reported_lost;     /* blocks in no element of `reported` */
    enum wndl_reporter_failure reporter_failure; /* the first */
    struct wndl_bytes reporter;                  /* the one that failed */
    uint64_t sample_below;   /* bytes; 0: every block was recorded */
    struct wndl_vec sites;   /* struct wndl_alloc_site */
    struct wndl_vec tags;    /* struct wndl_alloc_tag; the first is number 1 */
    struct wndl_vec moments; /* struct wndl_heap_moment, in order */
    struct wndl_vec memory;  /* struct wndl_heap_memory, in order */
    struct wndl_vec places;  /* struct wndl_heap_place, by measurement */
    struct wndl_vec snapshots; /* struct wndl_heap_snapshot, in order */
    uint32_t kept; /* index of the kept one in snapshots, or WNDL_NO_INDEX */
    struct wndl_vec counts; /* struct wndl_alloc_counts of the kept snapshot */
    /* struct wndl_alloc_lived, if the profile wants them: of the snapshots
     * whose index is a multiple of `lived_step`; 0: of none. */
    struct wndl_vec lived;
    uint32_t lived_step;
    uint64_t lost; /* blocks of the kept snapshot whose site is damaged */
    struct wndl_vec reported; /* struct wndl_alloc_reported */
    struct wndl_vec leaks;    /* struct wndl_alloc_leaks */
    struct wndl_vec growths;  /* struct wndl_alloc_growth */
    struct wndl_vec wrongs;   /* struct wndl_alloc_wrong */
    struct wndl_vec together; /* struct wndl_alloc_together */
    /* The last scan, as the file has it; empty: there is none, or it is
     * damaged. `scan_sites` is the heap's site by the scan's number. */
    struct wndl_vec scan;       /* uint8_t */
    struct wndl_vec scan_sites; /* uint32_t */
    struct wndl_vec scan_nodes; /* uint32_t: the profile's node by the scan's */
    /* The contents of the scan's blocks one after the other: of each as many
     * words of 8 bytes as it has whole, by its requested size. struct
     * wndl_bytes, which point into the file; empty: they were not kept.
     * `contents_read`: those before the scan that they belong to. */
    struct wndl_vec contents, contents_read;
    uint64_t contents_size; /* bytes of contents_read */
    uint8_t scan_end;       /* enum wndl_scan_end */
    /* Bytes of pages that the program began to write to while its copy was
     * scanned, at most. */
    uint64_t scan_written;
    uint64_t scan_stopped; /* ns that the program waited for a scan without a
                            * copy; 0: there was one, or the process ended */
};

/*
 * Appends a heap of `process` to p->heaps. NULL when memory is out. Valid until
 * the next is added.
 */
struct wndl_process_heap *wndl_profile_heap(
    struct wndl_profile *p, uint32_t process);

/* The snapshot whose counts are kept, or NULL. Valid as long as the heap. */
const struct wndl_heap_snapshot *wndl_heap_kept(
    const struct wndl_process_heap *heap);

/* Whether it is known what lived at the snapshot of this index. */
bool wndl_heap_knows_lived(
    const struct wndl_process_heap *heap, uint32_t snapshot);

/*
 * The number of blocks that a recorded one of the site stands for: 1, or more
 * if the heap is sampled.
 */
double wndl_alloc_weight(
    const struct wndl_process_heap *heap, const struct wndl_alloc_site *site);

/*
 * The site's live blocks by these counts; 0 if it has more frees than allocs.
 */
static inline uint64_t wndl_alloc_live(const struct wndl_alloc_counts *counts)
{
    return counts->allocs > counts->frees ? counts->allocs - counts->frees : 0;
}

/*
 * Divides the resident bytes, of which the parts are the sum. Blocks count as
 * if all of their pages were resident, as far as there is memory for them:
 * first blocks in mappings of their own, then those in the allocator's arenas,
 * then, of an allocator that is not glibc's, those in other mappings.
 */
void wndl_heap_memory_divide(
    const struct wndl_heap_memory *memory, uint64_t parts[WNDL_RESIDENT_PARTS]);

/* A set of blocks, as of the kept snapshot. */
enum wndl_heap_set {
    WNDL_HEAP_SET_LIVE, /* live at its time */
    WNDL_HEAP_SET_PEAK, /* live when the live bytes were most, until then */
    WNDL_HEAP_SET_ALL,  /* all that had been allocated until then */
    /* of those, freed before the thread's next allocation */
    WNDL_HEAP_SET_TEMPORARY,
    WNDL_HEAP_SETS,
};

/* The number of a site's blocks in `set`; of sampled ones, if it is sampled. */
uint64_t wndl_heap_count(
    const struct wndl_alloc_counts *counts, enum wndl_heap_set set);

/* Over every block, at a site or not; bytes are usable ones. */
uint64_t wndl_heap_live_blocks(const struct wndl_heap_snapshot *snapshot);
uint64_t wndl_heap_live_bytes(const struct wndl_heap_snapshot *snapshot);

/* The reason of a miss for people: "no room for stacks". Static string. */
const char *wndl_heap_missed_text(unsigned reason);

/* The trigger for people: "when the process ended". Static string. */
const char *wndl_snapshot_trigger_text(unsigned why);

#endif
