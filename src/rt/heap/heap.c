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
#include "rt/heap/measure/measure.h"
#include "rt/heap/record/mappings.h"
#include "rt/heap/record/memory.h"
#include "rt/heap/record/search.h"
#include "rt/heap/record/untracked.h"
#include "rt/tags/core/current.h"
#include "rt/tags/core/names.h"

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

bool wndl_rt_heap_is_object(void)
{
    return true;
}

size_t wndl_rt_heap_shared_size(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0)
        return wndl_shm_whole_size(go->nodes);
    if (go->heap_sites == 0)
        return wndl_shm_size(go->nodes);
    return wndl_heap_offset(go->nodes) +
           (size_t)wndl_heap_whole_size(go->heap_sites, go->heap);
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

/* NULL: none is wanted, or there is no room. */
static struct wndl_heap_scan *scan_of(
    struct wndl_heap *shared, const struct wndl_go *go)
{
    if (!wndl_heap_has_scan(go->heap_sites, go->heap))
        return NULL;
    return (void *)((uint8_t *)shared + wndl_heap_layout(go->heap_sites).size);
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
    wndl_rt_heap->scan = scan_of(shared, go);
    wndl_rt_heap->contents = (go->heap & WNDL_HEAP_CONTENTS) != 0;
    wndl_rt_heap->pointer_tags = (uintptr_t)go->heap_pointer_tags;
    wndl_rt_heap->starts = (go->heap & WNDL_HEAP_STARTS) != 0;
    wndl_rt_tags_share(
        (void *)((uint8_t *)shared + wndl_heap_layout(go->heap_sites).tags));
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

void wndl_rt_heap_unmap(const void *address, size_t size)
{
    wndl_rt_mappings_end(address, size);
}

/* ---- tags */

uint32_t wndl_rt_heap_tag_of_start(const struct wndl_regs *regs)
{
    struct wndl_tag tag = {.outer = wndl_rt_tag_current()};
    struct wndl_rt_heap_thread *t =
        wndl_rt_heap->starts ? wndl_rt_heap_enter() : NULL;
    if (t == NULL)
        return tag.outer;
    bool is_known = wndl_rt_heap_stack(t, regs, &tag.node) == 0;
    wndl_rt_heap_leave();
    const uint32_t number =
        is_known && tag.node != 0 ? wndl_rt_tag_number(&tag) : 0;
    return number == 0 ? tag.outer : number;
}

void wndl_rt_heap_begin_tag(uint32_t tag)
{
    wndl_rt_tag_begin(tag);
}

/* ---- the end */

/* The live bytes at the end may be the peak. */
__attribute__((destructor)) static void finish(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return;
    wndl_rt_stripe_note_peak(&t->stripe);
    wndl_rt_heap_measure_memory();
    wndl_rt_heap_search_at_end();
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
    wndl_rt_tags_share(NULL);
    wndl_rt_heap->shared = NULL;
    wndl_rt_heap->quick_below = 0;
    wndl_rt_heap_generation++;
    wndl_rt_heap_here.self = NULL;
    wndl_rt_heap_threads_forget();
    wndl_rt_heap_reported_after_fork();
    wndl_rt_heap_measure_after_fork();
    wndl_rt_heap_search_after_fork();
    wndl_rt_mappings_after_fork();
    wndl_rt_imports_after_fork();
    wndl_rt_heap_here.busy = false;
}
