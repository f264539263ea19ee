/* SPDX-License-Identifier: MIT */
/*
 * leaks: which blocks nothing points to at the end of a process, with
 * the meanings that Valgrind's memcheck gives the words.
 *
 * Roots are what can be written: modules' data, stacks from where they are in
 * use, thread-local storage, mappings without a block in them. The allocator's
 * own memory is none: what was freed there may still hold addresses. A word
 * that is a block's address leads to that surely, one that points into it
 * possibly. The cost is linear in what is looked at.
 */
#ifndef WNDL_RT_HEAP_LEAKS_LEAKS_H
#define WNDL_RT_HEAP_LEAKS_LEAKS_H

#include "rec/heap.h"

#include <stdbool.h>

/* More than a process may have unless root allows it (vm.max_map_count). */
enum { WNDL_RT_LEAK_MAPPINGS = 64 * 1024 };

struct wndl_rt_leak_search {
    const struct wndl_heap_site *sites;
    const _Atomic uint32_t *site_count; /* may pass the most */
    uint32_t most_sites;
    struct wndl_heap_leaks *leaks; /* by site: zeroes, to which is added */
    uint8_t generation;            /* other blocks are not counted */
    uintptr_t sp;                  /* of the calling thread */
    uint32_t most_mappings;        /* that are writable, or of no file; not 0 */
};

/* Memory that is a root wherever it is. */
struct wndl_rt_root {
    uintptr_t start;
    size_t size;
};

/*
 * Other threads may run on: what they move meanwhile may be missed, unless it
 * is a copy of the process that is searched; `leaks` is memory that the copy
 * shares. False: no memory, what is mapped cannot be read, or there is too
 * much of it. Not for signal handlers.
 */
bool wndl_rt_heap_find_leaks(const struct wndl_rt_leak_search *search,
    const struct wndl_rt_root *roots, size_t count);

#endif
