/* SPDX-License-Identifier: MIT */
/*
 * heap: the counters that a process whose heap is recorded shares with the
 * collector. They follow the block of shm.h in the same memory, at
 * wndl_heap_offset(). The process only counts. The collector reads the counters
 * whenever it wants a snapshot, even after the process has gone. Which block
 * belongs to which site is known to the process only.
 *
 * A site is a distinct (stack, requested size, usable size, tag), so that bytes
 * are counts times sizes. Each thread counts in a stripe of its own as long as
 * one is free, so that threads do not wait for each other. All other threads
 * share the last stripe and count there atomically. The counts of a site are
 * the sum over the stripes, because a block may be freed in another stripe than
 * its own.
 *
 * Memory is sparse: counters that were never used take none.
 */
#ifndef WNDL_REC_HEAP_H
#define WNDL_REC_HEAP_H

#include "base/memory_kind.h"
#include "rec/shm.h"
#include "rec/tags.h"

#include <stdbool.h>

enum {
    WNDL_HEAP_STRIPES = 16,        /* the last one is shared */
    WNDL_HEAP_SITES = 1 << 21,     /* maximum on 64-bit machines */
    WNDL_HEAP_SITES_32 = 1 << 16,  /* maximum on others */
    WNDL_HEAP_GROWTHS = 16 * 1024, /* a power of two */
    WNDL_HEAP_WRONGS = 1024,
    WNDL_HEAP_TEXT = 200,
    WNDL_HEAP_REPORTER = 64,
};

/*
 * Read and written in one access: aligned even where a 32-bit ABI asks for
 * less.
 */
typedef uint64_t wndl_heap_number __attribute__((aligned(8)));
typedef int64_t wndl_heap_signed __attribute__((aligned(8)));

/* Reasons for which a block or call is in no site. */
enum wndl_heap_miss {
    WNDL_HEAP_MISS_NESTED = 0, /* made while the thread was in our code */
    WNDL_HEAP_MISS_SITES_FULL = 1,
    WNDL_HEAP_MISS_TREE_FULL = 2,
    WNDL_HEAP_MISS_MEMORY = 3, /* our own: a block could not be stored */
    WNDL_HEAP_MISS_NO_THREAD = 4,
    WNDL_HEAP_MISSES = 8,
};

/* A site. It never changes once `usable` is not 0, which is written last. */
struct wndl_heap_site {
    wndl_heap_number requested; /* bytes */
    wndl_heap_number usable;    /* bytes + 1 */
    uint32_t node;              /* leaf of the stack in the tree, 0: none */
    uint16_t end;               /* enum wndl_walk_end */
    uint16_t tag;               /* of its blocks, 0: none */
};

/*
 * How often lifetimes are measured. Reading the clock takes as long as all
 * other work at the end of a block.
 */
enum { WNDL_HEAP_TIMED_ALL = 1024, WNDL_HEAP_TIMED_EVERY = 8 };

/*
 * One stripe's share of a site. Invariant: summed over the stripes, frees <=
 * allocs. `at_peak` is valid if `stamp` equals the header's `peak_stamp`; else
 * the stripe had at the peak what it has now, allocs - frees. Whoever changes a
 * count while `stamp` is older first copies. If more is live than the header's
 * `peak_bytes`, the peak is now, whatever `stamp` says: while the heap grows,
 * `peak_bytes` lags by up to 1 KiB or a thousandth for each stripe.
 *
 * A block was born after one of another site if the thread's allocation just
 * before was of that site; freed_after likewise. The times rise with each block
 * for which that is so, and fall with each for which it is not. At 0 another
 * site takes its place.
 */
struct wndl_heap_count {
    wndl_heap_number allocs, frees;
    /* freed by the same thread before its next allocation */
    wndl_heap_number temporary;
    /* The sum of the lifetimes of freed blocks, in TSC ticks >> 6. All blocks
     * are measured until the stripe has freed WNDL_HEAP_TIMED_ALL of them.
     * After that one of WNDL_HEAP_TIMED_EVERY is, and stands for as many. */
    wndl_heap_number lifetime;
    wndl_heap_signed at_peak;
    uint32_t stamp;
    uint32_t born_after, born_after_times;   /* site + 1, 0 for none yet */
    uint32_t freed_after, freed_after_times; /* the same */
    uint32_t usable; /* the site's, for fast access; 0: not yet */
};

/*
 * The blocks of a site that live at the end, by how they are lost. Those that
 * are in none of these are still reachable.
 */
struct wndl_heap_leaks {
    uint32_t definite, indirect, possible, reserved;
};

/*
 * A stripe's totals of every block, whether it is in a site or not. Its live
 * bytes are `usable` - `usable_freed`; `published` of them are in the header's
 * `live_bytes`. The members up to `temporary`, which each call changes, are in
 * one cache line.
 */
struct wndl_heap_stripe {
    _Alignas(64) _Atomic uint32_t owner; /* tid, 0 while it is free */
    uint32_t reserved;
    wndl_heap_number allocs, frees;
    wndl_heap_number requested, usable; /* bytes of all allocs */
    wndl_heap_number usable_freed;
    wndl_heap_signed published;
    wndl_heap_number temporary;
    wndl_heap_number reallocs; /* calls; each counts as a free and an alloc,
                                * too */
    wndl_heap_number reserved_2;
    wndl_heap_number missed[WNDL_HEAP_MISSES];
    /* Sums over all walks. Resumed frames were as in the thread's last walk. */
    wndl_heap_number frames, frames_resumed;
};

/*
 * Buffers that grow, by the stack that allocated the larger block. That is a
 * realloc, or an allocation to which the contents of a smaller block were
 * copied before that was freed. In a chain, blocks replace each other:
 * `allocated` sums all bytes requested, `final` those of the last blocks, and
 * `doubling` those that growing from power of two to power of two would have
 * requested. If several stacks make the steps of a chain, the chain counts for
 * the first of them, and each step for its own.
 */
struct wndl_heap_growth {
    _Atomic uint32_t node; /* 0: free */
    uint32_t by_copy;      /* else by realloc */
    _Atomic uint64_t chains, steps, allocated, final, doubling;
    _Atomic uint64_t least_step, most_step; /* bytes; 0: none yet */
};

enum wndl_heap_wrong_kind {
    WNDL_HEAP_WRONG_FOREIGN = 1, /* freed, but never allocated */
    WNDL_HEAP_WRONG_TWICE = 2,   /* freed again */
    WNDL_HEAP_WRONG_OTHER = 3,   /* freed by another allocator than its own */
    /* Pointers that a memory reporter measured, to no start of a block. */
    WNDL_HEAP_WRONG_INTERIOR = 4,   /* into a block */
    WNDL_HEAP_WRONG_NO_BLOCK = 5,   /* into none */
    WNDL_HEAP_WRONG_FREED = 6,      /* to a block that has just been freed */
    WNDL_HEAP_WRONG_UNSEARCHED = 7, /* into a block, or into none */
};

/* Whose functions took a block, or freed it. */
enum wndl_heap_whose {
    WNDL_HEAP_WHOSE_UNKNOWN = 0,
    WNDL_HEAP_WHOSE_MALLOC = 1,   /* the program's malloc */
    WNDL_HEAP_WHOSE_REPORTED = 2, /* a pool's, as the program reported */
    WNDL_HEAP_WHOSE_LIBC = 3,     /* libc's, beside the program's malloc */
    WNDL_HEAP_WHOSE_CPP = 4,      /* C++'s operators */
};

/* Wrong frees and measurements, by their stacks. */
struct wndl_heap_wrong {
    _Atomic uint32_t node; /* 0: free */
    uint32_t kind;         /* enum wndl_heap_wrong_kind */
    _Atomic uint64_t count;
    uint64_t address;  /* of the first */
    uint32_t taken_at; /* OTHER: the leaf of the stack that took the blocks; 0:
                        * not known */
    uint8_t taken_by;  /* enum wndl_heap_whose, as is: */
    uint8_t freed_by;
    uint16_t reserved;
};

/*
 * The live blocks of a site that memory reporters reported from the same
 * stacks, or from none, when they ran last.
 */
struct wndl_heap_reported {
    uint32_t site;
    uint32_t nodes[2]; /* of the first two reports; 0: no stack */
    uint8_t ends[2];   /* enum wndl_walk_end */
    uint8_t reports;   /* 0, 1 or 2, which means two or more */
    uint8_t reserved;
    uint64_t blocks;
};

/*
 * Memory that the program mapped itself, by calls of at least
 * WNDL_HEAP_MAPPED_LEAST bytes, and what was resident at its end. `changes` is
 * odd while the mappings change.
 */
enum {
    WNDL_HEAP_MAPPINGS = 4096,
    WNDL_HEAP_MAPPED_LEAST = 64 * 1024,
    WNDL_HEAP_PLACES = 512,
};

struct wndl_heap_mapped {
    _Atomic uint32_t changes;
    uint32_t count; /* mappings */
    uint32_t places_count, reserved;
    struct wndl_memory_mapping mappings[WNDL_HEAP_MAPPINGS];
    struct wndl_memory_place places[WNDL_HEAP_PLACES]; /* at the end */
};

/*
 * The header, at the start of the memory. Who makes the memory fills its first
 * part: wndl_heap_begin.
 */
struct wndl_heap {
    uint32_t sites, stripes; /* capacity */
    uint32_t flags;          /* of wndl_go.heap */
    uint32_t own_allocator;  /* set by the process: the executable's
                              * allocator comes before ours, and its own
                              * calls of it are not seen */
    /* Bytes; 0: every block is sampled, as a process decides whose allocator
     * does not report sizes. A block of 0 bytes is sampled as if it had 1. */
    uint64_t sample_below;

    /* Set by the process. */
    uint64_t start_tsc, start_time; /* at the same moment; time in ns */
    uint64_t tsc_in_ns;             /* 1: it counts ns, and is not a TSC's */
    _Atomic uint32_t site_count;    /* may pass the limit */
    _Atomic uint32_t leaks_known;   /* leaks have been searched */
    _Atomic int64_t live_bytes;     /* published by stripes */
    /* blocks may have been allocated unseen: frees of unknown blocks are
     * not reported */
    _Atomic uint32_t inconsistent;
    _Atomic uint32_t sanitized; /* the heap is a sanitizer's and is not
                                 * recorded: all else here is unused */
    _Atomic int64_t peak_bytes; /* of live_bytes, as seen here */
    _Atomic uint64_t peak_tsc;
    _Atomic uint32_t peak_stamp; /* +1 at each new peak */
    _Atomic uint32_t inherited;  /* blocks of the process that forked, freed
                                  * here */

    /* The program's own request for a snapshot: `asked` counts requests, `done`
     * follows when a snapshot was made. */
    _Atomic uint32_t asked, done;
    char text[WNDL_HEAP_TEXT]; /* name of the snapshot */

    /* The number of the snapshot, plus 1, for which the collector wants a scan,
     * and the last one that the process has seen to. */
    _Atomic uint32_t scan_asked, scan_begun;
    /* Set by the collector: the request whose scan is to be given up. */
    _Atomic uint32_t scan_given_up;
    /* Set by the collector: contents_filled of the last window that it read. */
    _Atomic uint32_t contents_taken;

    struct wndl_heap_stripe stripe[WNDL_HEAP_STRIPES];

    /* With WNDL_HEAP_DARK. Set by the process when its memory reporters have
     * run: `report_runs` is odd while the rest changes. */
    _Atomic uint32_t report_runs;
    uint32_t reported_count;
    wndl_heap_number reported_lost;    /* blocks without room in the table */
    wndl_heap_number reported_time;    /* CLOCK_MONOTONIC ns of the end */
    char reporter[WNDL_HEAP_REPORTER]; /* that runs; "": none */

    /* All memory of the process, as it measures it at its end. */
    _Atomic uint64_t memory_time; /* CLOCK_MONOTONIC ns, written last; 0: not
                                   * measured */
    struct wndl_memory_sum memory;

    /* Growths have pages of their own, which do not exist in most processes. */
    uint8_t unused[528];
    struct wndl_heap_growth growths[WNDL_HEAP_GROWTHS]; /* hashed by node */
    struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS];    /* filled from the
                                                         * start */
};

/* The recorded properties of a heap: a part of wndl_go. */
enum wndl_heap_flag {
    WNDL_HEAP_ON = 1,
    WNDL_HEAP_CUMULATIVE = 2, /* lifetimes, blocks born and freed together:
                               * all that only freed blocks can show */
    WNDL_HEAP_LEAKS = 4,      /* search for them at the end */
    WNDL_HEAP_DARK = 8,       /* which blocks the program's memory reporters
                               * report; not with CUMULATIVE */
    WNDL_HEAP_SCAN = 16,      /* write down who points to whom */
    WNDL_HEAP_STARTS = 32,    /* threads have tags: who created them */
    WNDL_HEAP_CONTENTS = 64,  /* of blocks are written with each scan */
};

/*
 * A scan, in pages after the tables: this head, and from the next page on the
 * scan itself (docs/formats/wndl.md, HSCN). The collector asks for one in the
 * header; the last is made at the end of the process, unasked.
 */
enum wndl_heap_scan_state {
    WNDL_HEAP_SCAN_NOT_MADE,
    WNDL_HEAP_SCAN_DONE,
    WNDL_HEAP_SCAN_TOO_LARGE,
    WNDL_HEAP_SCAN_GIVEN_UP, /* the collector wanted it */
};

enum { WNDL_HEAP_SCAN_AT_END = 0xffffffff };

struct wndl_heap_scan {
    /* The request that it answers, or AT_END; written last. */
    _Atomic uint32_t answers;
    uint32_t state; /* enum wndl_heap_scan_state */
    uint64_t bytes; /* of the scan */
    uint32_t nodes; /* of the stack tree that it needs: those up to this one */
    /* A copy of the process is scanned for this request, and the process had so
     * many minor page faults when it was made. */
    _Atomic uint32_t copied;
    /* Set by a copy that lacked memory of the process: scans are made in
     * place. */
    _Atomic uint32_t copy_lacks;
    uint64_t faults;
    uint64_t stopped; /* ns that a thread waited for the scan; 0: none did, or
                       * the process had ended */
    /* With WNDL_HEAP_CONTENTS, before a scan is answered: windows of the
     * blocks' contents, of at most WNDL_HEAP_WINDOW bytes, one after the other
     * at an offset from this head. `contents_filled` is written last, and
     * differs from contents_taken of the header while there is one. */
    uint64_t contents_offset, contents_bytes;
    _Atomic uint32_t contents_filled;
    uint32_t has_contents; /* all were handed over */
};

enum { WNDL_HEAP_WINDOW = 64 << 20 };

#define WNDL_HEAP_SCAN_MOST                                                    \
    (UINT64_C(4) << 30) /* bytes, with the head's page */

/* The offsets of the tables after the header, from its first byte. */
struct wndl_heap_layout {
    size_t sites;    /* struct wndl_heap_site[sites] */
    size_t index;    /* _Atomic uint32_t[2 * sites]: private to the process */
    size_t leaks;    /* struct wndl_heap_leaks[sites] */
    size_t tags;     /* struct wndl_tag[WNDL_TAGS] */
    size_t counts;   /* struct wndl_heap_count[stripes][sites] */
    size_t reported; /* struct wndl_heap_reported[sites] */
    size_t mapped;   /* struct wndl_heap_mapped */
    size_t size;
};

static inline size_t wndl_round_up_page(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

static inline struct wndl_heap_layout wndl_heap_layout(uint32_t sites)
{
    struct wndl_heap_layout l;
    l.sites = wndl_round_up_page(sizeof(struct wndl_heap));
    l.index =
        l.sites + wndl_round_up_page(sites * sizeof(struct wndl_heap_site));
    l.leaks = l.index + wndl_round_up_page(sites * 2 * sizeof(uint32_t));
    l.tags =
        l.leaks + wndl_round_up_page(sites * sizeof(struct wndl_heap_leaks));
    l.counts = l.tags + wndl_round_up_page(WNDL_TAGS * sizeof(struct wndl_tag));
    l.reported = l.counts +
                 (size_t)WNDL_HEAP_STRIPES *
                     wndl_round_up_page(sites * sizeof(struct wndl_heap_count));
    l.mapped = l.reported +
               wndl_round_up_page(sites * sizeof(struct wndl_heap_reported));
    l.size = l.mapped + wndl_round_up_page(sizeof(struct wndl_heap_mapped));
    return l;
}

/*
 * Whether there is room for a scan. There is none in an address space that is
 * limited.
 */
static inline bool wndl_heap_has_scan(uint32_t sites, uint32_t flags)
{
    return (flags & WNDL_HEAP_SCAN) != 0 && sites == WNDL_HEAP_SITES;
}

/* The size of all tables; the scan, if any, is at the end of the layout. */
static inline uint64_t wndl_heap_whole_size(uint32_t sites, uint32_t flags)
{
    return wndl_heap_layout(sites).size +
           (wndl_heap_has_scan(sites, flags) ? WNDL_HEAP_SCAN_MOST : 0);
}

/*
 * The offset in the whole memory. It follows shm.h's block, whose tree has room
 * for `nodes`.
 */
static inline size_t wndl_heap_offset(uint32_t nodes)
{
    return wndl_round_up_page(wndl_shm_size(nodes));
}

/*
 * The number of sites for a process with so many bytes of address space, of
 * which most must stay the program's. `wide`: its addresses have 64 bits.
 */
static inline uint32_t wndl_heap_sites_within(uint64_t limit, bool wide)
{
    enum { LEAST = 1024, SHARE = 4 };
    uint32_t sites = wide ? WNDL_HEAP_SITES : WNDL_HEAP_SITES_32;
    while (sites > LEAST && wndl_heap_layout(sites).size > limit / SHARE)
        sites /= 2;
    return sites;
}

/* Fills the header's first part, which the process reads. */
static inline void wndl_heap_begin(struct wndl_heap *head, uint32_t sites,
    uint32_t flags, uint64_t sample_below)
{
    head->sites = sites;
    head->stripes = WNDL_HEAP_STRIPES;
    head->flags = flags;
    head->sample_below = sample_below;
}

/* The capacity of the tree of a process with so many sites. */
static inline uint32_t wndl_heap_nodes_beside(uint32_t sites, bool is_limited)
{
    return sites == WNDL_HEAP_SITES && !is_limited ? WNDL_SHM_NODES_HEAP
                                                   : WNDL_SHM_NODES;
}

_Static_assert(sizeof(struct wndl_heap_site) == 24 &&
                   offsetof(struct wndl_heap, stripe) == 320 &&
                   sizeof(struct wndl_heap_stripe) == 192 &&
                   offsetof(struct wndl_heap, growths) == 4096 &&
                   offsetof(struct wndl_heap_stripe, reallocs) == 64 &&
                   sizeof(struct wndl_heap_count) == 64 &&
                   sizeof(struct wndl_heap_leaks) == 16 &&
                   sizeof(struct wndl_heap_growth) == 64 &&
                   sizeof(struct wndl_heap_wrong) == 32 &&
                   sizeof(struct wndl_heap_reported) == 24 &&
                   sizeof(struct wndl_memory_mapping) == 24 &&
                   sizeof(struct wndl_memory_place) == 80,
    "the tables are the same on every machine");

#endif
