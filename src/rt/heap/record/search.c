/* SPDX-License-Identifier: MIT */
#include "rt/heap/record/search.h"

#include "rt/core/registers.h"
#include "rt/heap/leaks/copy.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/record/untracked.h"

/*
 * Nothing is known of blocks that were not sampled: they may point to others.
 * Blocks that were freed unseen would all be leaks.
 */
static bool are_all_known(void)
{
    return wndl_rt_heap->sample_below == 0 &&
           wndl_rt_heap->shared->own_allocator == 0;
}

static bool search(struct wndl_rt_leak_search *wanted,
    struct wndl_rt_root roots[WNDL_RT_EARLY + 1], size_t count)
{
    struct wndl_heap *shared = wndl_rt_heap->shared;
    wanted->sites = wndl_rt_heap->sites.sites;
    wanted->site_count = &shared->site_count;
    wanted->most_sites = shared->sites;
    wanted->generation = wndl_rt_heap_generation;
    wanted->most_mappings = WNDL_RT_LEAK_MAPPINGS;
    wanted->tid = wndl_raw_gettid();
    wanted->pointer_tags = wndl_rt_heap->pointer_tags;
    wanted->contents_taken =
        wndl_rt_heap->contents ? &shared->contents_taken : NULL;
    return wndl_rt_heap_find_leaks(
        wanted, roots, count + wndl_rt_untracked_roots(roots + count));
}

/* Where nothing was allocated there is nothing to search. */
void wndl_rt_heap_search_at_end(void)
{
    struct wndl_heap *shared = wndl_rt_heap->shared;
    struct wndl_rt_root roots[WNDL_RT_EARLY + 1];
    if (!(wndl_rt_heap->leaks || wndl_rt_heap->scan != NULL) ||
        !are_all_known())
        return;
    wndl_rt_copy_wait();
    if (atomic_load(&shared->site_count) == 0) {
        atomic_store(&shared->leaks_known, 1);
        return;
    }
    struct wndl_rt_leak_search wanted = {
        .leaks =
            (void *)((uint8_t *)shared + wndl_heap_layout(shared->sites).leaks),
        .sp = (uintptr_t)__builtin_frame_address(0),
        .scan = wndl_rt_heap->scan,
        .scan_answers = WNDL_HEAP_SCAN_AT_END,
    };
    if (search(&wanted, roots, 0))
        atomic_store(&shared->leaks_known, 1);
}

static bool scan(uint32_t asked, const struct wndl_regs *regs)
{
    struct wndl_rt_root roots[WNDL_RT_EARLY + 1] = {
        {(uintptr_t)regs, sizeof *regs}};
    struct wndl_rt_leak_search wanted = {
        .sp = (uintptr_t)__builtin_frame_address(0),
        .regs = regs,
        .scan = wndl_rt_heap->scan,
        .scan_answers = asked,
        .asks_threads = true,
        .scan_given_up = &wndl_rt_heap->shared->scan_given_up,
        .scan_begun = &wndl_rt_heap->shared->scan_begun,
        .begun = wndl_raw_clock_ns(CLOCK_MONOTONIC),
    };
    return are_all_known() && search(&wanted, roots, 1);
}

/*
 * Whether a copy of the process is scanned. A copy that lacks memory has left
 * the scan to us, and is ending.
 */
static bool has_copy(void)
{
    if (atomic_load(&wndl_rt_heap->scan->copy_lacks) == 0)
        return wndl_rt_copy_is_left();
    wndl_rt_copy_wait();
    atomic_store(&wndl_rt_heap->scan->copied, 0);
    return false;
}

/* A thread is making a scan. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* If a scan fails, the collector learns that, too. */
void wndl_rt_heap_scan_as_asked(const struct wndl_regs *regs)
{
    struct wndl_heap *shared = wndl_rt_heap->shared;
    if (atomic_flag_test_and_set(&busy))
        return;
    const uint32_t asked = atomic_load(&shared->scan_asked);
    const bool is_new = atomic_exchange(&shared->scan_begun, asked) != asked;
    if (is_new && !has_copy() && !scan(asked, regs)) {
        wndl_rt_heap->scan->stopped = 0;
        wndl_rt_heap->scan->state = WNDL_HEAP_SCAN_NOT_MADE;
        atomic_store(&wndl_rt_heap->scan->answers, asked);
    }
    atomic_flag_clear(&busy);
}

/* The thread that made a scan, and its copy, are the parent's. */
void wndl_rt_heap_search_after_fork(void)
{
    wndl_rt_copy_forget();
    wndl_rt_registers_forget();
    atomic_flag_clear(&busy);
}
