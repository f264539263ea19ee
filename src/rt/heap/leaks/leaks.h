/* SPDX-License-Identifier: MIT */
/*
 * leaks: finds the blocks that nothing points to at the end of a process. The
 * terms have the meaning of Valgrind's memcheck.
 *
 * Roots are writable memory: modules' data, the used parts of stacks,
 * thread-local storage, and mappings without a block in them. The allocator's
 * own memory is no root, because freed blocks in it may still hold addresses. A
 * word that is a block's address leads to that block surely; one that points
 * into the block leads to it possibly. The cost is linear in the memory read.
 */
#ifndef WNDL_RT_HEAP_LEAKS_LEAKS_H
#define WNDL_RT_HEAP_LEAKS_LEAKS_H

#include "rec/heap.h"

#include <stdbool.h>
#include <windlass/unwind.h>

/*
 * More mappings than a process may have unless root allows it
 * (vm.max_map_count).
 */
enum { WNDL_RT_LEAK_MAPPINGS = 64 * 1024 };

struct wndl_rt_leak_search {
    const struct wndl_heap_site *sites;
    const _Atomic uint32_t *site_count; /* may exceed most_sites */
    uint32_t most_sites;
    /* By site: added to; zeroes at first. NULL: leaks are not searched. */
    struct wndl_heap_leaks *leaks;
    uint8_t generation;           /* blocks of others are not counted */
    uintptr_t sp;                 /* of the calling thread */
    int tid;                      /* its id */
    const struct wndl_regs *regs; /* of it, where its frames begin that are not
                                   * ours; NULL: not known */
    uintptr_t pointer_tags;       /* bits of words that are no part of an
                                  * address */
    uint32_t most_mappings;       /* maximum of those that are writable or
                                    * of no file; not 0 */
    struct wndl_heap_scan *scan;  /* shared; NULL: none is wanted */
    uint32_t scan_answers;        /* its number */
    bool asks_threads; /* for their registers, which are roots then */
    /* Equal to scan_answers: the scan is to be given up. NULL: never. */
    const _Atomic uint32_t *scan_given_up;
    /* Set to another number than scan_answers by a copy that lacks memory of
     * the process: the scan is to be made in place, see scan->copy_lacks. NULL:
     * the copy is waited for, or there is none. */
    _Atomic uint32_t *scan_begun;
    uint64_t begun; /* CLOCK_MONOTONIC ns: when a thread began to wait for the
                     * scan; 0: it is not measured */
    /* With each scan, contents are handed over (contents.h); NULL: they are
     * not. */
    const _Atomic uint32_t *contents_taken;
};

/* A part of memory that is a root wherever it is. */
struct wndl_rt_root {
    uintptr_t start;
    size_t size;
};

/*
 * Other threads may run on. What they move meanwhile may be missed, unless a
 * copy of the process is searched; `leaks` is memory that the copy shares. If
 * only a scan is wanted, nobody waits for the copy.
 * False: no memory, or mappings cannot be read or are too many or too large.
 * Not for signal handlers.
 */
bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *search,
    const struct wndl_rt_root *roots, size_t count);

#endif
