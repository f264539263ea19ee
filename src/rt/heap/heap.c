/* SPDX-License-Identifier: MIT */
#include "rt/heap/heap.h"

#include "os/raw.h"
#include "rt/core/memory.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/enter.h"
#include "rt/heap/count/state.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/hook/imports.h"
#include "rt/heap/hook/reported.h"
#include "rt/heap/hook/resolve.h"
#include "rt/heap/hook/sanitizer.h"
#include "rt/heap/leaks/leaks.h"
#include "rt/heap/measure/measure.h"
#include "rt/heap/record/untracked.h"

#include <sys/mman.h>

/*
 * Calls after which a thread may own the blocks. The begin and end of that cost
 * as much as some 1000 calls.
 */
enum { OWNER_AFTER = 4096 };

void wndl_rt_heap_end_thread(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_here.self;
    if (t == NULL || wndl_rt_heap_here.busy)
        return;
    wndl_rt_heap_here.busy = true;
    wndl_rt_heap_here.self = NULL;
    wndl_rt_heap_thread_leave(t);
    wndl_rt_heap_here.busy = false;
}

/* ---- the process */

size_t wndl_rt_heap_shared_size(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0)
        return wndl_shm_whole_size(go->nodes);
    if (go->heap_sites == 0)
        return wndl_shm_size(go->nodes);
    return wndl_heap_offset(go->nodes) + wndl_heap_layout(go->heap_sites).size;
}

static struct wndl_rt_heap_state *map_private(void)
{
    size_t size = wndl_round_up_page(sizeof(struct wndl_rt_heap_state));
    struct wndl_rt_heap_state *h = (void *)wndl_rt_map_undumped(size);
    if (h != NULL)
        (void)wndl_raw3(SYS_madvise, (long)h, (long)size, MADV_WIPEONFORK);
    return h;
}

static void find_tables(struct wndl_heap *shared, uint32_t sites)
{
    uint8_t *memory = (uint8_t *)shared;
    struct wndl_heap_layout layout = wndl_heap_layout(sites);
    wndl_rt_heap->sites = (struct wndl_rt_sites){
        .sites = (void *)(memory + layout.sites),
        .index = (void *)(memory + layout.index),
        .count = &shared->site_count,
        .max = sites,
    };
}

void wndl_rt_heap_settle(void)
{
    wndl_rt_untracked_settle();
}

/* The last store publishes all stores before it. */
void wndl_rt_heap_start(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0 || go->heap_sites == 0)
        return;
    struct wndl_heap *shared =
        (void *)((uint8_t *)wndl_rt.shm + wndl_heap_offset(go->nodes));
    if (wndl_rt_heap_is_sanitized()) {
        atomic_store(&shared->sanitized, 1);
        return;
    }
    if (wndl_rt_heap == &wndl_rt_heap_none) {
        struct wndl_rt_heap_state *mapped = map_private();
        if (mapped == NULL)
            return;
        wndl_rt_heap = mapped;
    }
    wndl_rt_blocks_allow_owner(OWNER_AFTER);
    find_tables(shared, go->heap_sites);
    if (!wndl_rt_heap_knows_sizes())
        shared->sample_below = 0;
    wndl_rt_heap->sample_below = shared->sample_below;
    wndl_rt_heap->cumulative = (go->heap & WNDL_HEAP_CUMULATIVE) != 0;
    wndl_rt_heap->dark = (go->heap & WNDL_HEAP_DARK) != 0;
    wndl_rt_heap->inherits =
        wndl_rt_heap_generation != 0 && shared->sample_below != 0;
    wndl_rt_heap->leaks = (go->heap & WNDL_HEAP_LEAKS) != 0;
    shared->start_tsc = wndl_rt_tsc();
    shared->tsc_in_ns = WNDL_ARCH_TICKS_ARE_NS;
    shared->start_time = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&wndl_rt_heap->shared, shared, __ATOMIC_RELEASE);
    shared->own_allocator = wndl_rt_heap_lead_imports();
    if (wndl_rt_heap_is_plain() && !wndl_rt_heap->inherits)
        wndl_rt_heap->quick_below = shared->sample_below;
    if (wndl_rt_heap_inconsistent || shared->own_allocator != 0)
        wndl_rt_heap_set_inconsistent();
}

void wndl_rt_heap_unload(bool begins)
{
    wndl_rt_imports_unload(begins);
}

/* ---- the end */

/*
 * Nothing is known of blocks that were not sampled: they may point to others.
 * Blocks that were freed unseen would all be leaks.
 */
static bool are_all_known(void)
{
    return wndl_rt_heap->sample_below == 0 &&
           wndl_rt_heap->shared->own_allocator == 0;
}

/* Where nothing was allocated there is nothing to search. */
static void find_leaks(void)
{
    struct wndl_heap *shared = wndl_rt_heap->shared;
    if (atomic_load(&shared->site_count) == 0) {
        atomic_store(&shared->leaks_known, 1);
        return;
    }
    struct wndl_heap_layout layout = wndl_heap_layout(shared->sites);
    struct wndl_rt_root roots[WNDL_RT_EARLY];
    const struct wndl_rt_leak_search search = {
        .sites = wndl_rt_heap->sites.sites,
        .site_count = &shared->site_count,
        .most_sites = shared->sites,
        .leaks = (void *)((uint8_t *)shared + layout.leaks),
        .generation = wndl_rt_heap_generation,
        .sp = (uintptr_t)__builtin_frame_address(0),
        .most_mappings = WNDL_RT_LEAK_MAPPINGS,
    };
    if (wndl_rt_heap_find_leaks(&search, roots, wndl_rt_untracked_roots(roots)))
        atomic_store(&shared->leaks_known, 1);
}

/* The live bytes at the end may be the peak. */
__attribute__((destructor)) static void finish(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return;
    wndl_rt_stripe_note_peak(&t->stripe);
    if (wndl_rt_heap->leaks && are_all_known())
        find_leaks();
    wndl_rt_heap_leave();
}

void wndl_rt_heap_expect_sandbox(void)
{
    if (wndl_rt_heap_here.busy)
        return;
    wndl_rt_heap_here.busy = true;
    wndl_rt_blocks_forbid_owner();
    wndl_rt_heap_here.busy = false;
}

void wndl_rt_heap_stop_thread(void)
{
    wndl_rt_heap_here.busy = true;
}

/* ---- fork */

void wndl_rt_heap_before_fork(void)
{
    if (wndl_rt_heap != &wndl_rt_heap_none && wndl_rt_heap->shared == NULL)
        wndl_rt_heap_set_inconsistent();
    wndl_rt_heap_here.busy = true;
    wndl_rt_blocks_hold_all();
}

void wndl_rt_heap_after_fork_in_parent(void)
{
    wndl_rt_blocks_leave_all();
    wndl_rt_heap_here.busy = false;
}

void wndl_rt_heap_after_fork_in_child(void)
{
    wndl_rt_blocks_leave_all();
    wndl_rt_heap->shared = NULL;
    wndl_rt_heap->quick_below = 0;
    wndl_rt_heap_generation++;
    wndl_rt_heap_here.self = NULL;
    wndl_rt_heap_threads_forget();
    wndl_rt_heap_reported_after_fork();
    wndl_rt_heap_measure_after_fork();
    wndl_rt_imports_after_fork();
    wndl_rt_heap_here.busy = false;
}
