/* SPDX-License-Identifier: MIT */
/*
 * heap: what a process whose heap is recorded shares with the collector. It
 * follows the block of shm.h in the same memory, at wndl_heap_offset(). The
 * process only counts; the collector reads the counts whenever it wants a
 * snapshot, also when the process is gone. Which block is of which site is
 * kept by the process for itself.
 *
 * A site is a distinct (stack, requested size, usable size), so that bytes are
 * counts times sizes. Each thread counts in a stripe of its own as long as
 * there is one free, so that threads do not wait for each other; the last is
 * for all others, who count there atomically. What a site's counts are is the
 * sum over the stripes: a block may be freed in another stripe than its own.
 *
 * Memory is sparse: what was never counted takes none.
 */
#ifndef WNDL_REC_HEAP_H
#define WNDL_REC_HEAP_H

#include "rec/shm.h"

enum {
    WNDL_HEAP_STRIPES = 16,        /* the last one is shared */
    WNDL_HEAP_SITES = 1 << 21,     /* most on 64-bit machines */
    WNDL_HEAP_SITES_32 = 1 << 16,  /* and on others */
    WNDL_HEAP_GROWTHS = 16 * 1024, /* a power of two */
    WNDL_HEAP_WRONGS = 1024,
    WNDL_HEAP_TEXT = 200,
};

/* Read and written at once: aligned also where a 32-bit ABI asks for less. */
typedef uint64_t wndl_heap_number __attribute__((aligned(8)));
typedef int64_t wndl_heap_signed __attribute__((aligned(8)));

/* Blocks or calls that are in no site. */
enum wndl_heap_miss {
    WNDL_HEAP_MISS_NESTED = 0, /* made while the thread was in our code */
    WNDL_HEAP_MISS_SITES_FULL = 1,
    WNDL_HEAP_MISS_TREE_FULL = 2,
    WNDL_HEAP_MISS_MEMORY = 3, /* our own: no block could be remembered */
    WNDL_HEAP_MISS_NO_THREAD = 4,
    WNDL_HEAP_MISSES = 8,
};

/* Never changes once `usable` is not 0, which is written last. */
struct wndl_heap_site {
    wndl_heap_number requested; /* bytes */
    wndl_heap_number usable;    /* bytes + 1 */
    uint32_t node; /* the stack's leaf in the stack tree, 0 for none */
    uint32_t end;  /* enum wndl_walk_end */
};

/* To read the clock takes as long as all else that a block's end needs. */
enum { WNDL_HEAP_TIMED_ALL = 1024, WNDL_HEAP_TIMED_EVERY = 8 };

/*
 * One stripe's share of a site. Invariant: summed over the stripes, frees <=
 * allocs. `at_peak` holds if `stamp` is the header's `peak_stamp`; else the
 * stripe had at the peak what it has now, allocs - frees. Whoever changes a
 * count while `stamp` is an older one first copies. If more is live than the
 * header's `peak_bytes`, the peak is now, whatever `stamp` says: while the heap
 * rises, that lags behind by up to 1 KiB or a thousandth for each stripe.
 *
 * Blocks are born together with those of another site if the thread's
 * allocation just before was always of that; freed together, likewise. The
 * times are less those when it was of another one; where none are left, any is.
 */
struct wndl_heap_count {
    wndl_heap_number allocs, frees;
    wndl_heap_number
        temporary; /* freed by the same thread before its next one */
    /* Of freed blocks, in ticks of the TSC >> 6. Until the stripe has freed so
     * many all are timed that it makes, then one of some, which stands for as
     * many: WNDL_HEAP_TIMED_*. */
    wndl_heap_number lifetime;
    wndl_heap_signed at_peak;
    uint32_t stamp;
    uint32_t born_after, born_after_times;   /* site + 1, 0 for none yet */
    uint32_t freed_after, freed_after_times; /* the same */
    uint32_t usable; /* the site's, so that it is at hand; 0: not yet */
};

/* Of the blocks of a site that live at the end; those that are in none of
 * these are still reachable. */
struct wndl_heap_leaks {
    uint32_t definite, indirect, possible, reserved;
};

/*
 * A stripe's totals, of every block whether it is in a site or not.
 * What lives of its bytes is the difference of `usable` and `usable_freed`; the
 * header's `live_bytes` have `published` of that. What each call changes is in
 * one line of the cache: up to `temporary`.
 */
struct wndl_heap_stripe {
    _Alignas(64) _Atomic uint32_t owner; /* tid, 0 while it is free */
    uint32_t reserved;
    wndl_heap_number allocs, frees;
    wndl_heap_number requested, usable; /* bytes of all allocs */
    wndl_heap_number usable_freed;
    wndl_heap_signed published;
    wndl_heap_number temporary;
    wndl_heap_number reallocs; /* calls; each is a free and an alloc too */
    wndl_heap_number reserved_2;
    wndl_heap_number missed[WNDL_HEAP_MISSES];
    /* Of all walks; resumed: they were as at the thread's last one. */
    wndl_heap_number frames, frames_resumed;
};

/*
 * Buffers that grow, by the stack that allocated the larger block: a realloc,
 * or what a smaller one's contents were copied to before that was freed. Of
 * chains of blocks that replace each other, `allocated` counts all bytes
 * requested, `final` those of the last ones, `doubling` those that going from
 * power of two to power of two would have requested. Where a chain has steps
 * by several stacks, it counts for the first one of them, each step for its
 * own.
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
    WNDL_HEAP_WRONG_OTHER = 3,   /* by another allocator than its own */
};

/* Frees that should not have been, by their stack. */
struct wndl_heap_wrong {
    _Atomic uint32_t node; /* 0: free */
    uint32_t kind;         /* enum wndl_heap_wrong_kind */
    _Atomic uint64_t count;
    uint64_t address; /* of the first */
};

/* At the start of the memory. Zeroed by the collector, who then fills the
 * first part. */
struct wndl_heap {
    uint32_t sites, stripes; /* that there is room for */
    uint32_t flags;          /* of wndl_go.heap */
    uint32_t own_allocator;  /* by the process: the executable's comes before
                             * ours, its own calls of it are not seen */
    /* Bytes; 0: every block, as a process makes it whose allocator does not
     * tell sizes. A block of 0 bytes is taken as if it were one of 1. */
    uint64_t sample_below;

    /* By the process. */
    uint64_t start_tsc, start_time; /* at the same moment; time in ns */
    uint64_t tsc_in_ns;             /* 1: it counts ns, and is no TSC's */
    _Atomic uint32_t site_count;    /* may pass the limit */
    _Atomic uint32_t leaks_known;   /* they have been looked for */
    _Atomic int64_t live_bytes;     /* that stripes have published */
    _Atomic uint32_t
        inconsistent; /* blocks may have been allocated unseen: frees of
                              * what was never allocated are not told */
    _Atomic uint32_t sanitized; /* the heap is a sanitizer's, and not recorded:
                                 * nothing else is told of it */
    _Atomic int64_t peak_bytes; /* of live_bytes, as it was seen here */
    _Atomic uint64_t peak_tsc;
    _Atomic uint32_t peak_stamp; /* +1 at each new peak */
    _Atomic uint32_t inherited;  /* blocks of the forking process, freed here */

    /* The program's own wish for a snapshot: `asked` counts, `done` follows
     * when it has been taken. */
    _Atomic uint32_t asked, done;
    char text[WNDL_HEAP_TEXT]; /* its name, NUL-terminated */

    struct wndl_heap_stripe stripe[WNDL_HEAP_STRIPES];
    struct wndl_heap_growth growths[WNDL_HEAP_GROWTHS]; /* hashed by node */
    struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS];    /* from the start on */
};

/* What is recorded of the heap: a part of wndl_go. */
enum wndl_heap_flag {
    WNDL_HEAP_ON = 1,
    WNDL_HEAP_CUMULATIVE = 2, /* lifetimes, togetherness: all that only
                                 blocks that are gone can show */
    WNDL_HEAP_LEAKS = 4,      /* look for them at the end */
};

/* Where the tables after the header start, from its first byte. */
struct wndl_heap_layout {
    size_t sites;  /* struct wndl_heap_site[sites] */
    size_t index;  /* _Atomic uint32_t[2 * sites]: the process's own */
    size_t leaks;  /* struct wndl_heap_leaks[sites] */
    size_t counts; /* struct wndl_heap_count[stripes][sites] */
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
    l.counts =
        l.leaks + wndl_round_up_page(sites * sizeof(struct wndl_heap_leaks));
    l.size = l.counts +
             (size_t)WNDL_HEAP_STRIPES *
                 wndl_round_up_page(sites * sizeof(struct wndl_heap_count));
    return l;
}

/* Of the whole memory: after shm.h's block, whose tree has so many nodes. */
static inline size_t wndl_heap_offset(uint32_t nodes)
{
    return wndl_round_up_page(wndl_shm_size(nodes));
}

_Static_assert(sizeof(struct wndl_heap_site) == 24 &&
                   offsetof(struct wndl_heap, stripe) == 320 &&
                   sizeof(struct wndl_heap_stripe) == 192 &&
                   offsetof(struct wndl_heap_stripe, reallocs) == 64 &&
                   sizeof(struct wndl_heap_count) == 64 &&
                   sizeof(struct wndl_heap_leaks) == 16 &&
                   sizeof(struct wndl_heap_growth) == 64 &&
                   sizeof(struct wndl_heap_wrong) == 24,
    "the tables are the same on every machine");

#endif
