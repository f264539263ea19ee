/* SPDX-License-Identifier: MIT */
#include "rt/heap/measure/measure.h"

#include "rt/heap/count/growth.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/measure/marks.h"
#include "rt/heap/measure/run.h"

/*
 * Searches a run for blocks around pointers that are none, each of which reads
 * the whole table of blocks.
 */
enum { MOST_SEARCHES = 64 };

static _Atomic uint32_t searches;

void wndl_rt_heap_forget_searches(void)
{
    atomic_store_explicit(&searches, 0, memory_order_relaxed);
}

/* ---- pointers that are no blocks */

struct around {
    uint64_t address;
    bool is_found;
};

static uint64_t size_of_site(uint32_t site)
{
    return wndl_rt_heap->sites.sites[site].usable - 1;
}

static void look_around(void *context, const struct wndl_rt_block *block)
{
    struct around *a = context;
    if (block->generation == wndl_rt_heap_generation &&
        block->address < a->address &&
        a->address - block->address < size_of_site(block->site))
        a->is_found = true;
}

static enum wndl_heap_wrong_kind kind_of(uint64_t address)
{
    struct around around = {.address = address};
    if (wndl_rt_heap_threads_freed(address))
        return WNDL_HEAP_WRONG_FREED;
    if (atomic_fetch_add_explicit(&searches, 1, memory_order_relaxed) >=
        MOST_SEARCHES)
        return WNDL_HEAP_WRONG_UNSEARCHED;
    wndl_rt_blocks_each(look_around, &around);
    return around.is_found ? WNDL_HEAP_WRONG_INTERIOR
                           : WNDL_HEAP_WRONG_NO_BLOCK;
}

static WNDL_RT_NOINLINE void note_wrong(struct wndl_rt_heap_thread *t,
    uint64_t address, const struct wndl_regs *regs)
{
    uint32_t node = 0;
    if (wndl_rt_heap_stack(t, regs, &node) == 0 && node != 0)
        wndl_rt_heap_wrong(wndl_rt_heap->shared,
            &(struct wndl_rt_wrong){
                .node = node, .kind = kind_of(address), .address = address});
}

/* ---- blocks */

/* A block that is measured. */
struct measured {
    struct wndl_rt_report report;
    uint32_t run;
    bool is_reported; /* the block becomes so */
    bool is_inherited;
    size_t usable;
};

static void measure(void *context, struct wndl_rt_block *block)
{
    struct measured *m = context;
    m->is_inherited = block->generation != wndl_rt_heap_generation;
    if (m->is_inherited)
        return;
    m->usable = (size_t)size_of_site(block->site);
    if (!m->is_reported)
        return;
    const uint32_t before = wndl_rt_mark_set(block->time, m->run);
    const uint32_t after = wndl_rt_report_set_after(before, &m->report);
    if (after != 0)
        block->time = wndl_rt_mark(m->run, after);
}

static void find_stack(struct wndl_rt_heap_thread *t,
    const struct wndl_regs *regs, struct wndl_rt_report *report)
{
    struct wndl_resumed stack;
    struct wndl_rt_stack_hash hash;
    report->end = WNDL_END_NO_RULE;
    if (!wndl_rt_heap_walk(t, regs, &stack, &hash) ||
        wndl_rt_tree_add(&t->nodes.known, &stack, &report->node) != 0)
        return;
    report->end = (uint8_t)stack.walk.end;
}

/* A block of the program's own allocator may begin where none of malloc's does.
 */
static bool find_block(uint64_t address, struct measured *m)
{
    const uint64_t key = (uintptr_t)wndl_rt_other_key(
        (const void *)(uintptr_t)address, WNDL_RT_REPORTED);
    return wndl_rt_blocks_hold(address, measure, m) == WNDL_RT_BLOCK_FOUND ||
           wndl_rt_blocks_hold(key, measure, m) == WNDL_RT_BLOCK_FOUND;
}

size_t wndl_rt_heap_measure(struct wndl_rt_heap_thread *t,
    const struct wndl_rt_allocator *real, const void *block, bool is_lasting,
    const struct wndl_regs *regs)
{
    struct measured m = {.report.is_lasting = is_lasting};
    const uint64_t address = (uintptr_t)block;
    const bool runs = wndl_rt_heap_reports_run(&m.run);
    m.is_reported = wndl_rt_heap->dark && (is_lasting || runs);
    wndl_rt_blocks_expect(address);
    if (m.is_reported)
        find_stack(t, regs, &m.report);
    const bool is_found = find_block(address, &m);
    if (is_found ? m.is_inherited : wndl_rt_heap->sample_below != 0)
        return real->usable((void *)(uintptr_t)block);
    if (!is_found)
        note_wrong(t, address, regs);
    return m.usable;
}

int64_t wndl_rt_heap_live_bytes(void)
{
    const struct wndl_heap *heap = wndl_rt_heap->shared;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < WNDL_HEAP_STRIPES; i++) {
        const struct wndl_heap_stripe *s = &heap->stripe[i];
        bytes += __atomic_load_n(&s->usable, __ATOMIC_RELAXED) -
                 __atomic_load_n(&s->usable_freed, __ATOMIC_RELAXED);
    }
    return (int64_t)bytes;
}
