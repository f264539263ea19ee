/* SPDX-License-Identifier: MIT */
/*
 * From the stripes of rec/heap.h to sums that can be trusted: the writers may
 * write while we read, and a program may scribble over the memory.
 */
#include "collect/process/heap_impl.h"

#include "os/clock.h"

enum { COUNT_BITS = 48 /* no real count is larger */ };

/* As the process reads it. */
static uint64_t ticks_now(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* ---- the header */

/* One moment, in ticks of the TSC and in CLOCK_MONOTONIC ns. */
struct moment {
    uint64_t ticks, time;
};

/* The length of a tick in ns; processors have 0.1 to 10 GHz. */
static double tick_length(struct moment start, struct moment now)
{
    if (start.ticks == 0 || start.time == 0 || now.ticks <= start.ticks ||
        now.time <= start.time)
        return 0;
    double length =
        (double)(now.time - start.time) / (double)(now.ticks - start.ticks);
    return length > 0.1 && length < 10 ? length : 0;
}

static uint64_t time_of(
    uint64_t ticks, struct moment start, struct moment now, double tick)
{
    if (tick == 0 || ticks >= now.ticks)
        return now.time;
    double passed = ticks > start.ticks ? (double)(ticks - start.ticks) : 0;
    return start.time + (uint64_t)(passed * tick);
}

static int64_t add_signed(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t believed(int64_t value)
{
    int64_t most = INT64_C(1) << COUNT_BITS;
    return value < 0 ? 0 : value > most ? most : value;
}

static bool has_counts(const struct wndl_heap_stripe *stripe)
{
    return stripe->owner != 0 || (stripe->allocs | stripe->frees) != 0;
}

static void add_lane(
    struct wndl_heap_stripe *to, const struct wndl_heap_stripe *stripe)
{
    to->allocs += stripe->allocs;
    to->frees += stripe->frees;
    to->requested += stripe->requested;
    to->usable += stripe->usable;
    to->usable_freed += stripe->usable_freed;
    to->reallocs += stripe->reallocs;
    to->temporary += stripe->temporary;
    to->frames += stripe->frames;
    to->frames_resumed += stripe->frames_resumed;
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        to->missed[i] += stripe->missed[i];
}

static void add_lanes(const struct wndl_heap *head, struct wndl_heap_sum *sum)
{
    for (uint32_t i = 0; i < WNDL_HEAP_STRIPES; i++) {
        struct wndl_heap_stripe stripe = head->stripe[i];
        if (!has_counts(&stripe))
            continue;
        sum->used |= UINT32_C(1) << i;
        add_lane(&sum->stripes, &stripe);
    }
}

/* The header may lag after its stripes: the live bytes now may be the peak. */
static void find_peak(const struct wndl_heap *head, struct wndl_heap_sum *sum)
{
    const struct moment start = {head->start_tsc, head->start_time};
    struct moment now = {ticks_now(), wndl_clock_monotonic_ns()};
    if (head->tsc_in_ns != 0)
        now.ticks = start.ticks + (now.time - start.time);
    sum->tick = tick_length(start, now);
    sum->peak_time =
        time_of(atomic_load(&head->peak_tsc), start, now, sum->tick);
    sum->is_peak = sum->live_bytes > sum->peak_bytes;
    if (!sum->is_peak)
        return;
    sum->peak_bytes = sum->live_bytes;
    sum->peak_time = now.time;
}

void wndl_heap_sum_up(
    const struct wndl_collector_heap *heap, struct wndl_heap_sum *sum)
{
    const struct wndl_heap *head = heap->head;
    *sum = (struct wndl_heap_sum){
        .peak_stamp = atomic_load(&head->peak_stamp),
        .inherited = atomic_load(&head->inherited),
        .own_allocator = head->own_allocator != 0,
        .unsure = atomic_load(&head->inconsistent) != 0,
        .peak_bytes = believed(atomic_load(&head->peak_bytes)),
    };
    add_lanes(head, sum);
    sum->live_bytes =
        believed((int64_t)(sum->stripes.usable - sum->stripes.usable_freed));
    sum->live_blocks =
        believed((int64_t)(sum->stripes.allocs - sum->stripes.frees));
    find_peak(head, sum);
}

/* ---- sites */

void wndl_heap_read_stripe(const struct wndl_collector_heap *heap,
    uint32_t stripe, struct wndl_heap_part *part)
{
    size_t lane_size = wndl_round_up_page(
        (size_t)heap->request.sites * sizeof(struct wndl_heap_count));
    wndl_heap_read(heap,
        heap->layout.counts + stripe * lane_size +
            (size_t)part->first * sizeof part->counts[0],
        part->counts, (size_t)part->count * sizeof part->counts[0]);
}

/* The counts of one stripe. In a stripe, frees may exceed allocs. */
static bool is_impossible(const struct wndl_heap_count *c)
{
    return (c->allocs | c->frees | c->temporary) >> COUNT_BITS != 0;
}

static void add_count(struct wndl_heap_site_sum *to,
    const struct wndl_heap_count *c, uint32_t peak_stamp)
{
    int64_t now = (int64_t)(c->allocs - c->frees);
    to->allocs += c->allocs;
    to->frees += c->frees;
    to->temporary += c->temporary;
    to->lifetime += c->lifetime; /* ticks of the TSC >> 6, until settled */
    to->at_peak =
        add_signed(to->at_peak, c->stamp == peak_stamp ? c->at_peak : now);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static uint64_t ns_of(uint64_t lifetime, double tick)
{
    enum { TICKS = 64 };
    double ns = (double)lifetime * TICKS * tick;
    return ns < 9e18 ? (uint64_t)ns : INT64_MAX;
}

/*
 * A block may be allocated and freed in stripes that were read at different
 * times.
 */
static void settle_sum(
    struct wndl_heap_site_sum *s, const struct wndl_heap_sum *sum)
{
    s->frees = at_most(s->frees, s->allocs);
    s->temporary = at_most(s->temporary, s->frees);
    s->lifetime = ns_of(s->lifetime, sum->tick);
    if (sum->is_peak)
        s->at_peak = (int64_t)(s->allocs - s->frees);
    if (s->at_peak < 0)
        s->at_peak = 0;
    s->at_peak = (int64_t)at_most((uint64_t)s->at_peak, s->allocs);
}

void wndl_heap_sum_part(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    for (uint32_t i = 0; i < part->count; i++)
        part->sums[i] = (struct wndl_heap_site_sum){0};
    for (uint32_t stripe = 0; stripe < WNDL_HEAP_STRIPES; stripe++) {
        if ((sum->used >> stripe & 1) == 0)
            continue;
        wndl_heap_read_stripe(p->heap, stripe, part);
        for (uint32_t i = 0; i < part->count; i++) {
            if (is_impossible(&part->counts[i]))
                p->totals->damaged++;
            else
                add_count(&part->sums[i], &part->counts[i], sum->peak_stamp);
        }
    }
    for (uint32_t i = 0; i < part->count; i++)
        settle_sum(&part->sums[i], sum);
}
