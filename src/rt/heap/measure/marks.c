/* SPDX-License-Identifier: MIT */
#include "rt/heap/measure/marks.h"

#include "base/hash.h"
#include "os/raw.h"
#include "rt/core/memory.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { SLOTS = 2 * WNDL_RT_REPORT_SETS };

/* The sets; set 0 is not used. */
struct table {
    _Atomic uint32_t count;
    _Atomic uint32_t slots[SLOTS]; /* numbers, by hash; 0: free */
    struct wndl_rt_report_set sets[WNDL_RT_REPORT_SETS];
};

static struct table *_Atomic table;

static struct table *find_table(void)
{
    struct table *here = atomic_load_explicit(&table, memory_order_acquire);
    if (__builtin_expect(here != NULL, 1))
        return here;
    struct table *made = (void *)wndl_rt_map_undumped(sizeof *made);
    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(&table, &here, made))
        return made;
    wndl_raw_unmap(made, sizeof *made);
    return here;
}

const struct wndl_rt_report_set *wndl_rt_report_set(uint32_t number)
{
    return &atomic_load_explicit(&table, memory_order_acquire)->sets[number];
}

static uint64_t hash_of(const struct wndl_rt_report_set *s)
{
    const uint64_t nodes = (uint64_t)s->nodes[0] << 32 | s->nodes[1];
    const uint64_t rest = (uint64_t)s->rest << 32 | s->reports << 24 |
                          s->lasting << 16 | s->ends[0] << 8 | s->ends[1];
    return wndl_hash_u64(nodes ^ wndl_hash_u64(rest));
}

static bool is_same(
    const struct wndl_rt_report_set *a, const struct wndl_rt_report_set *b)
{
    return a->nodes[0] == b->nodes[0] && a->nodes[1] == b->nodes[1] &&
           a->ends[0] == b->ends[0] && a->ends[1] == b->ends[1] &&
           a->reports == b->reports && a->lasting == b->lasting &&
           a->rest == b->rest;
}

/* 0: there is no room. */
static uint32_t add(struct table *t, const struct wndl_rt_report_set *wanted)
{
    if (atomic_load_explicit(&t->count, memory_order_relaxed) >=
        WNDL_RT_REPORT_SETS - 1)
        return 0;
    const uint32_t number = atomic_fetch_add(&t->count, 1) + 1;
    if (number >= WNDL_RT_REPORT_SETS)
        return 0;
    t->sets[number] = *wanted;
    return number;
}

/* The number of the set, which is added if it is new; 0: there is no room. */
static uint32_t find(struct table *t, const struct wndl_rt_report_set *wanted)
{
    uint32_t mine = 0;
    for (uint64_t i = hash_of(wanted);; i++) {
        _Atomic uint32_t *slot = &t->slots[i % SLOTS];
        uint32_t here = atomic_load_explicit(slot, memory_order_acquire);
        if (here == 0 && mine == 0)
            mine = add(t, wanted);
        if (here == 0 && mine == 0)
            return 0;
        if (here == 0 && atomic_compare_exchange_strong(slot, &here, mine))
            return mine;
        if (is_same(&t->sets[here], wanted))
            return here;
    }
}

/* The set of those reports that outlast the run, one of them new. */
static uint32_t lasting_after(
    uint32_t before, const struct wndl_rt_report *report)
{
    const uint32_t old = before == 0 ? 0 : wndl_rt_report_set_lasting(before);
    return report->is_lasting ? wndl_rt_report_set_after(old, report) : old;
}

uint32_t wndl_rt_report_set_after(
    uint32_t before, const struct wndl_rt_report *report)
{
    struct table *t = find_table();
    struct wndl_rt_report_set next = {0};
    if (t == NULL)
        return before;
    if (before != 0)
        next = t->sets[before];
    if (next.reports == 2)
        return before;
    const bool all_last = next.lasting == next.reports && report->is_lasting;
    next.rest = all_last ? 0 : lasting_after(before, report);
    next.lasting += report->is_lasting;
    next.nodes[next.reports] = report->node;
    next.ends[next.reports++] = report->end;
    const uint32_t number = find(t, &next);
    return number == 0 ? before : number;
}

void wndl_rt_report_sets_forget(void)
{
    struct table *old = atomic_exchange(&table, NULL);
    if (old != NULL)
        wndl_raw_unmap(old, sizeof *old);
}
