/* SPDX-License-Identifier: MIT */
#include "collect/process/heap.h"

#include "collect/process/callers.h"
#include "collect/process/heap_impl.h"
#include "os/clock.h"
#include "wndl/write_heap.h"

#include <string.h>

/*
 * Megabytes, most of which only large heaps use. They are not zeroed, so that
 * unused parts cost nothing, ten times a second.
 */
struct wndl_heap_part *wndl_heap_new_part(void)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_heap_part *part = mem->resize(mem, NULL, sizeof *part);
    if (part != NULL)
        part->first = part->count = 0;
    return part;
}

void wndl_heap_free_part(struct wndl_heap_part *part)
{
    wndl_mem_free(wndl_mem_libc(), part);
}

/* The snapshot of a large heap should not be in memory as a whole. */
static void write_out(struct wndl_recording *r)
{
    enum { MUCH = 1024 * 1024 };
    if (r->out.size > MUCH)
        wndl_recording_flush(r);
}

/* ---- HEAP */

/* A process whose heap is not recorded never starts its clock. */
static bool has_begun(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    if (heap->announced || heap->head->start_time == 0)
        return heap->announced;
    wndl_recording_heap(p->recording, p->index, heap->request.flags,
        heap->head->sample_below == 0 ? 0 : heap->request.sample_below);
    heap->announced = true;
    return true;
}

/* ---- HPAR */

/*
 * Whether the site is published, with a stack that is in the file or never will
 * be.
 */
static bool is_ready(
    const struct wndl_collector_process *p, const struct wndl_heap_site *site)
{
    return site->usable != 0 &&
           (site->node <= p->nodes || site->node > p->tree.max_nodes);
}

/*
 * The number of the part's sites that can be written: up to the first that is
 * not ready.
 */
static uint32_t ready_sites(
    const struct wndl_collector_process *p, const struct wndl_heap_part *part)
{
    uint32_t count = 0;
    while (count < part->count && is_ready(p, &part->sites[count]))
        count++;
    return count;
}

/*
 * At the end: all sites up to the last. A gap is a site that its thread did not
 * live to finish.
 */
static uint32_t last_sites(const struct wndl_heap_part *part, bool is_last)
{
    uint32_t count = part->count;
    while (count > 0 && part->sites[count - 1].usable == 0)
        count--;
    return is_last || count == 0 ? count : part->count;
}

static uint32_t site_count(const struct wndl_collector_heap *heap)
{
    uint32_t count = atomic_load(&heap->head->site_count);
    return count < heap->request.sites ? count : heap->request.sites;
}

/* The ends of sites are as their walks had them: callers.h. */
static void settle_ends(
    const struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        struct wndl_heap_site *site = &part->sites[i];
        if (site->node <= p->nodes)
            site->end = (uint16_t)wndl_callers_end(p, site->node, site->end);
    }
}

/* A tag is in the table before a site has it, and before its node's sites. */
static void take_tags(struct wndl_collector_process *p,
    const struct wndl_heap_site *sites, uint32_t count)
{
    enum { AT_ONCE = 64 };
    struct wndl_tag tags[AT_ONCE];
    struct wndl_collector_heap *heap = p->heap;
    const struct wndl_heap_process process = {p->index, p->nodes};
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = sites[i].tag > last ? sites[i].tag : last;
    while (heap->tags < last && last < WNDL_TAGS) {
        const uint32_t first = heap->tags + 1;
        const uint32_t left = last - heap->tags;
        const uint32_t taken = left < AT_ONCE ? left : AT_ONCE;
        wndl_heap_read(heap, heap->layout.tags + first * sizeof *tags, tags,
            taken * sizeof *tags);
        wndl_recording_tags(p->recording, &process, first, tags, taken);
        heap->tags += taken;
    }
}

/* A site's node is in the tree before the site is in the table. */
static bool take_part(struct wndl_collector_process *p,
    struct wndl_heap_part *part, uint32_t end, bool last)
{
    struct wndl_collector_heap *heap = p->heap;
    uint32_t left = end - heap->written;
    part->count = left < WNDL_HEAP_AT_ONCE ? left : WNDL_HEAP_AT_ONCE;
    wndl_heap_read(heap,
        heap->layout.sites + (size_t)heap->written * sizeof part->sites[0],
        part->sites, (size_t)part->count * sizeof part->sites[0]);
    wndl_collector_process_take_stacks(p, last);
    uint32_t count =
        last ? last_sites(part, left <= part->count) : ready_sites(p, part);
    settle_ends(p, part);
    const struct wndl_heap_process process = {p->index, p->nodes};
    take_tags(p, part->sites, count);
    wndl_recording_sites(
        p->recording, &process, heap->written, part->sites, count);
    wndl_recording_owners(
        p->recording, p->index, heap->written, part->sites, count);
    heap->written += count;
    write_out(p->recording);
    return count == part->count;
}

static void take_sites(struct wndl_collector_process *p, bool last)
{
    uint32_t end = site_count(p->heap);
    if (end <= p->heap->written)
        return;
    struct wndl_heap_part *part = wndl_heap_new_part();
    while (
        part != NULL && p->heap->written < end && take_part(p, part, end, last))
        continue;
    wndl_heap_free_part(part);
}

/* ---- HSNP and HCNT */

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

static void put_snapshot(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, enum wndl_snapshot_trigger why)
{
    const struct wndl_heap_stripe *l = &sum->stripes;
    char text[WNDL_HEAP_TEXT] = "";
    if (why == WNDL_SNAPSHOT_PROGRAM)
        memcpy(text, p->heap->head->text, sizeof text);
    struct wndl_recording_snapshot snapshot = {
        .process = p->index,
        .number = p->heap->snapshots++,
        .why = why,
        .text = {(const uint8_t *)text, strnlen(text, sizeof text)},
        .peak_time = sum->peak_time,
        .totals =
            {
                [WNDL_HEAP_TOTAL_ALLOCS] = l->allocs,
                [WNDL_HEAP_TOTAL_FREES] = at_most(l->frees, l->allocs),
                [WNDL_HEAP_TOTAL_REQUESTED] = l->requested,
                [WNDL_HEAP_TOTAL_USABLE] = l->usable,
                [WNDL_HEAP_TOTAL_USABLE_FREED] =
                    at_most(l->usable_freed, l->usable),
                [WNDL_HEAP_TOTAL_REALLOCS] = l->reallocs,
                [WNDL_HEAP_TOTAL_TEMPORARY] = l->temporary,
                [WNDL_HEAP_TOTAL_PEAK_BYTES] = (uint64_t)sum->peak_bytes,
                [WNDL_HEAP_TOTAL_INHERITED] = sum->inherited,
                [WNDL_HEAP_TOTAL_OWN] = sum->own_allocator,
                [WNDL_HEAP_TOTAL_UNSURE] = sum->unsure,
            },
    };
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        snapshot.missed[i] = l->missed[i];
    wndl_recording_snapshot(p->recording, &snapshot);
}

/* Counts allocations for the summary, by the completeness of their stacks. */
static void count_ends(
    struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    struct wndl_collector_heap_totals *t = &p->totals->heap;
    wndl_heap_read(p->heap,
        p->heap->layout.sites + (size_t)part->first * sizeof part->sites[0],
        part->sites, (size_t)part->count * sizeof part->sites[0]);
    settle_ends(p, part);
    for (uint32_t i = 0; i < part->count; i++) {
        const struct wndl_heap_site *site = &part->sites[i];
        if (site->node == 0 || site->node > p->nodes)
            t->without += part->sums[i].allocs;
        else
            t->ends[site->end % WNDL_WALK_END_COUNT] += part->sums[i].allocs;
    }
}

static void take_snapshot(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, enum wndl_snapshot_trigger why,
    struct wndl_heap_part *part)
{
    put_snapshot(p, sum, why);
    const struct wndl_fields_hcnt head = {p->index, p->heap->snapshots - 1};
    for (uint32_t first = 0; wndl_heap_next_part(p->heap, first, part);
         first += part->count) {
        wndl_heap_sum_part(p, sum, part);
        wndl_recording_counts(
            p->recording, &head, part->first, part->sums, part->count);
        write_out(p->recording);
        if (why == WNDL_SNAPSHOT_END || why == WNDL_SNAPSHOT_STOP)
            count_ends(p, part);
    }
    wndl_heap_put_reported(p, part);
}

/* ---- HTIM */

static void put_live(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    p->heap->bytes = sum->live_bytes;
    p->heap->blocks = sum->live_blocks;
    wndl_recording_live(
        p->recording, p->index, sum->live_bytes, sum->live_blocks);
}

/* ---- a snapshot while it runs */

/*
 * The chunk after the counts shows a concurrent reader of the file that they
 * are complete.
 */
void wndl_collector_heap_snapshot(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p))
        return;
    wndl_collector_heap_run_reporters(p);
    take_sites(p, false);
    struct wndl_heap_part *part = wndl_heap_new_part();
    if (part == NULL)
        return;
    wndl_heap_sum_up(p->heap, &sum);
    take_snapshot(p, &sum, why, part);
    put_live(p, &sum);
    wndl_heap_free_part(part);
    wndl_heap_ask_scan(p);
}

/* ---- while it runs */

/* If anything has changed. */
static void report_live(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    if (sum->live_bytes != p->heap->bytes ||
        sum->live_blocks != p->heap->blocks)
        put_live(p, sum);
}

static void see_to_program(struct wndl_collector_process *p)
{
    struct wndl_heap *head = p->heap->head;
    uint32_t asked = atomic_load(&head->asked);
    if (asked == atomic_load(&head->done))
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_PROGRAM);
    atomic_store(&head->done, asked);
}

static void see_to_clock(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    uint64_t now = wndl_clock_monotonic_ns();
    if (heap->request.every == 0 || now < heap->next)
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_TIME);
    heap->next = now + heap->request.every;
}

/* Growth by 5 % or more is worth one. */
static void see_to_peak(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    enum { PARTS = 20 };
    struct wndl_collector_heap *heap = p->heap;
    if (!heap->request.at_peaks || sum->peak_bytes == 0 ||
        sum->peak_bytes < heap->peak + heap->peak / PARTS ||
        sum->peak_bytes == heap->peak)
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_PEAK);
    heap->peak = sum->peak_bytes;
}

void wndl_collector_heap_drain(struct wndl_collector_process *p)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p))
        return;
    take_sites(p, false);
    wndl_heap_sum_up(p->heap, &sum);
    report_live(p, &sum);
    wndl_heap_see_to_memory(p, &sum);
    wndl_heap_take_contents(p);
    wndl_heap_take_scan(p, false);
    see_to_program(p);
    see_to_clock(p);
    see_to_peak(p, &sum);
}

/* ---- at the end */

static void add_sum(
    const struct wndl_heap_sum *sum, struct wndl_collector_heap_totals *totals)
{
    const struct wndl_heap_stripe *l = &sum->stripes;
    uint64_t peak = (uint64_t)sum->peak_bytes;
    totals->heaps++;
    totals->own_allocators += sum->own_allocator;
    totals->allocs += l->allocs;
    totals->frees += l->frees;
    totals->reallocs += l->reallocs;
    totals->requested += l->requested;
    totals->frames += l->frames;
    totals->frames_resumed += l->frames_resumed;
    totals->live_bytes += (uint64_t)sum->live_bytes;
    totals->live_blocks += (uint64_t)sum->live_blocks;
    totals->peak = peak > totals->peak ? peak : totals->peak;
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        totals->missed[i] += l->missed[i];
}

void wndl_collector_heap_add(const struct wndl_collector_process *p,
    struct wndl_collector_heap_totals *totals)
{
    struct wndl_heap_sum sum;
    if (!p->heap->announced)
        return;
    wndl_heap_sum_up(p->heap, &sum);
    add_sum(&sum, totals);
}

void wndl_collector_heap_end(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p)) {
        p->totals->heap.sanitized +=
            atomic_load(&p->heap->head->sanitized) != 0;
        return;
    }
    wndl_collector_process_take_stacks(p, true);
    take_sites(p, true);
    see_to_program(p);
    wndl_heap_sum_up(p->heap, &sum);
    report_live(p, &sum);
    add_sum(&sum, &p->totals->heap);
    struct wndl_heap_part *part = wndl_heap_new_part();
    if (part == NULL)
        return;
    wndl_heap_end_memory(p, &sum);
    take_snapshot(p, &sum, why, part);
    if (why == WNDL_SNAPSHOT_END)
        wndl_heap_find_failed_reporter(p);
    wndl_heap_put_findings(p, &sum, part);
    wndl_heap_free_part(part);
}
