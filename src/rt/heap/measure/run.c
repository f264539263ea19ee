/* SPDX-License-Identifier: MIT */
#include "rt/heap/measure/run.h"

#include "base/hash.h"
#include "os/raw.h"
#include "rt/core/memory.h"
#include "rt/heap/measure/marks.h"
#include "rt/heap/measure/measure.h"

#include <string.h>

/* The number of the last run, from 1 on; and whether it is under way. */
static _Atomic uint32_t last_run;
static _Atomic bool is_under_way;

bool wndl_rt_heap_reports_run(uint32_t *run)
{
    *run = atomic_load_explicit(&last_run, memory_order_relaxed);
    return atomic_load_explicit(&is_under_way, memory_order_relaxed);
}

/* ---- counting */

/* The table, with an index of our own: rows, by hash. */
struct counting {
    struct wndl_heap *shared;
    struct wndl_heap_reported *rows;
    uint32_t *sets;  /* of each row */
    uint32_t *slots; /* row + 1; 0: free */
    uint32_t slot_count;
    uint32_t run;
    uint32_t count;
    uint64_t lost;
};

static struct wndl_heap_reported *add_row(
    struct counting *c, uint32_t site, uint32_t set)
{
    struct wndl_heap_reported *row = &c->rows[c->count];
    *row = (struct wndl_heap_reported){.site = site};
    c->sets[c->count++] = set;
    if (set == 0)
        return row;
    const struct wndl_rt_report_set *from = wndl_rt_report_set(set);
    row->reports = from->reports;
    memcpy(row->nodes, from->nodes, sizeof row->nodes);
    memcpy(row->ends, from->ends, sizeof row->ends);
    return row;
}

/* NULL: there is no room. */
static struct wndl_heap_reported *find_row(
    struct counting *c, uint32_t site, uint32_t set)
{
    const uint64_t hash =
        wndl_hash_u64(((uint64_t)site << WNDL_RT_MARK_SET_BITS) + set);
    for (uint64_t i = hash;; i++) {
        uint32_t *slot = &c->slots[i % c->slot_count];
        if (*slot == 0 && c->count == c->shared->sites)
            return NULL;
        if (*slot == 0) {
            *slot = c->count + 1;
            return add_row(c, site, set);
        }
        if (c->rows[*slot - 1].site == site && c->sets[*slot - 1] == set)
            return &c->rows[*slot - 1];
    }
}

static void count_block(void *context, const struct wndl_rt_block *block)
{
    struct counting *c = context;
    if (block->generation != wndl_rt_heap_generation)
        return;
    struct wndl_heap_reported *row =
        find_row(c, block->site, wndl_rt_mark_set(block->time, c->run));
    if (row != NULL)
        row->blocks++;
    else
        c->lost++;
}

/* The memory of the index; only what is used of it becomes real. */
static size_t index_size(uint32_t sites)
{
    return 3 * (size_t)sites * sizeof(uint32_t);
}

static void count_blocks(struct wndl_heap *shared)
{
    struct counting c = {.shared = shared, .slot_count = 2 * shared->sites};
    const size_t size = index_size(shared->sites);
    uint32_t *index = (void *)wndl_rt_map_undumped(size);
    if (index == NULL)
        return;
    c.rows =
        (void *)((uint8_t *)shared + wndl_heap_layout(shared->sites).reported);
    c.slots = index;
    c.sets = index + c.slot_count;
    (void)wndl_rt_heap_reports_run(&c.run);
    atomic_fetch_add(&shared->report_runs, 1);
    wndl_rt_blocks_each(count_block, &c);
    shared->reported_count = c.count;
    shared->reported_lost = c.lost;
    shared->reported_time = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    atomic_fetch_add(&shared->report_runs, 1);
    wndl_raw_unmap(index, size);
}

/* ---- a run */

/* Each look-up misses the caches where blocks are many. */
static void speed_up_look_ups(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return;
    wndl_rt_blocks_gather();
    wndl_rt_heap_leave();
}

void wndl_rt_heap_begin_reports(bool is_new)
{
    enum { MOST = (1 << WNDL_RT_MARK_RUN_BITS) - 1 };
    const uint32_t run = atomic_load(&last_run);
    if (is_new || run == 0) {
        atomic_store(&last_run, run == MOST ? 1 : run + 1);
        wndl_rt_heap_forget_searches();
        speed_up_look_ups();
    }
    atomic_store(&is_under_way, true);
}

void wndl_rt_heap_end_reports(void)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    atomic_store(&is_under_way, false);
    if (t == NULL)
        return;
    if (wndl_rt_heap->dark)
        count_blocks(wndl_rt_heap->shared);
    wndl_rt_heap_leave();
}

void wndl_rt_heap_measure_after_fork(void)
{
    wndl_rt_report_sets_forget();
    atomic_store(&is_under_way, false);
}
