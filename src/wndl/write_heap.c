/* SPDX-License-Identifier: MIT */
#include "wndl/write_heap.h"

#include "os/clock.h"

#include <string.h>

void wndl_recording_heap(struct wndl_recording *r, uint32_t process,
    uint32_t flags, uint64_t sample_below)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_heap fields = {
        .process = process,
        /* without WNDL_HEAP_ON */
        .flags = (flags & ~(uint32_t)WNDL_HEAP_STARTS) >> 1,
        .sample_below = sample_below,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HEAP);
    wndl_put_heap(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

/* ---- HPAR */

static void put_site(
    struct wndl_buf *out, const struct wndl_heap_site *site, uint32_t nodes)
{
    uint64_t usable = site->usable == 0 ? 0 : site->usable - 1;
    const struct wndl_fields_site fields = {
        .node = site->node <= nodes ? site->node : 0,
        .end = site->end % WNDL_WALK_OTHER,
        .requested = site->requested,
        .slop = usable > site->requested ? usable - site->requested : 0,
    };
    wndl_put_site(out, &fields);
}

void wndl_recording_sites(struct wndl_recording *r,
    const struct wndl_heap_process *process, uint32_t first,
    const struct wndl_heap_site *sites, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hpar fields = {process->index, first};
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HPAR);
    wndl_put_hpar(&r->out, &fields);
    wndl_put_list(&r->out, count);
    for (uint32_t i = 0; i < count; i++)
        put_site(&r->out, &sites[i], process->nodes);
    wndl_recording_finish(r, &chunk);
}

/* ---- HTAG, HOWN and HLIB */

void wndl_recording_tags(struct wndl_recording *r,
    const struct wndl_heap_process *process, uint32_t first,
    const struct wndl_tag *tags, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_htag fields = {process->index, first};
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HTAG);
    wndl_put_htag(&r->out, &fields);
    wndl_put_list(&r->out, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *name = (const uint8_t *)tags[i].name;
        const struct wndl_fields_tag tag = {
            .node = tags[i].node <= process->nodes ? tags[i].node : 0,
            .outer = tags[i].outer,
            .name = {name, strnlen(tags[i].name, WNDL_TAG_NAME)},
        };
        wndl_put_tag(&r->out, &tag);
    }
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_owners(struct wndl_recording *r, uint32_t process,
    uint32_t first, const struct wndl_heap_site *sites, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hown fields = {process};
    uint32_t owned = 0;
    uint32_t previous = 0;
    for (uint32_t i = 0; i < count; i++)
        owned += sites[i].tag != 0;
    if (owned == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HOWN);
    wndl_put_hown(&r->out, &fields);
    wndl_put_list(&r->out, owned);
    for (uint32_t i = 0; i < count; i++) {
        const struct wndl_fields_owner owner = {
            first + i - previous, sites[i].tag};
        if (sites[i].tag == 0)
            continue;
        wndl_put_owner(&r->out, &owner);
        previous = first + i;
    }
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_libraries(struct wndl_recording *r,
    const struct wndl_tag_library *libraries, size_t count)
{
    struct wndl_chunk_writer chunk;
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HLIB);
    wndl_put_list(&r->out, count);
    for (size_t i = 0; i < count; i++) {
        const struct wndl_fields_library library = {
            libraries[i].pattern, libraries[i].tag};
        wndl_put_library(&r->out, &library);
    }
    wndl_recording_finish(r, &chunk);
}

/* ---- HSNP and HCNT */

static void put_numbers(
    struct wndl_buf *out, const uint64_t *numbers, size_t count)
{
    wndl_put_list(out, count);
    for (size_t i = 0; i < count; i++) {
        const struct wndl_fields_number number = {numbers[i]};
        wndl_put_number(out, &number);
    }
}

void wndl_recording_snapshot(
    struct wndl_recording *r, const struct wndl_recording_snapshot *snapshot)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hsnp fields = {
        .process = snapshot->process,
        .snapshot = snapshot->number,
        .time = wndl_recording_time(r, wndl_clock_monotonic_ns()),
        .why = snapshot->why,
        .text = snapshot->text,
    };
    uint64_t totals[WNDL_HEAP_TOTALS];
    for (size_t i = 0; i < WNDL_HEAP_TOTALS; i++)
        totals[i] = snapshot->totals[i];
    totals[WNDL_HEAP_TOTAL_PEAK_TIME] =
        wndl_recording_time(r, snapshot->peak_time);
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HSNP);
    wndl_put_hsnp(&r->out, &fields);
    put_numbers(&r->out, totals, WNDL_HEAP_TOTALS);
    put_numbers(&r->out, snapshot->missed, WNDL_HEAP_MISSES);
    wndl_recording_finish(r, &chunk);
}

static bool has_counts(const struct wndl_heap_site_sum *s)
{
    return s->allocs != 0;
}

static void put_counts(
    struct wndl_buf *out, uint32_t gap, const struct wndl_heap_site_sum *s)
{
    const struct wndl_fields_counts fields = {
        .site = gap,
        .allocs = s->allocs,
        .frees = s->frees,
        .at_peak = (uint64_t)s->at_peak,
        .temporary = s->temporary,
        .lifetime = s->lifetime,
    };
    wndl_put_counts(out, &fields);
}

void wndl_recording_counts(struct wndl_recording *r,
    const struct wndl_fields_hcnt *snapshot, uint32_t first,
    const struct wndl_heap_site_sum *sums, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    uint32_t with_any = 0;
    uint32_t previous = 0;
    for (uint32_t i = 0; i < count; i++)
        with_any += has_counts(&sums[i]);
    if (with_any == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HCNT);
    wndl_put_hcnt(&r->out, snapshot);
    wndl_put_list(&r->out, with_any);
    for (uint32_t i = 0; i < count; i++) {
        if (!has_counts(&sums[i]))
            continue;
        put_counts(&r->out, first + i - previous, &sums[i]);
        previous = first + i;
    }
    wndl_recording_finish(r, &chunk);
}

/* ---- HREP */

static uint32_t known_node(const struct wndl_heap_process *p, uint32_t node)
{
    return node <= p->nodes ? node : 0;
}

static void put_reported(struct wndl_buf *out,
    const struct wndl_heap_process *process,
    const struct wndl_heap_reported *row)
{
    const struct wndl_fields_reported fields = {
        .site = row->site,
        .reports = row->reports,
        .blocks = row->blocks,
        .node = known_node(process, row->nodes[0]),
        .end = row->ends[0] % WNDL_WALK_OTHER,
        .again_node = known_node(process, row->nodes[1]),
        .again_end = row->ends[1] % WNDL_WALK_OTHER,
    };
    wndl_put_reported(out, &fields);
}

void wndl_recording_reported(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_recording_reports *reports,
    const struct wndl_heap_reported *rows, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hrep fields = {
        .process = process->index,
        .snapshot = reports->snapshot,
        .time = wndl_recording_time(r, reports->time),
        .lost = reports->lost,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HREP);
    wndl_put_hrep(&r->out, &fields);
    wndl_put_list(&r->out, count);
    for (uint32_t i = 0; i < count; i++)
        put_reported(&r->out, process, &rows[i]);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_reporter_failed(struct wndl_recording *r, uint32_t process,
    enum wndl_reporter_failure how, struct wndl_bytes name)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hfal fields = {process, how, name};
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HFAL);
    wndl_put_hfal(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

/* ---- HTIM */

void wndl_recording_live(
    struct wndl_recording *r, uint32_t process, int64_t bytes, int64_t blocks)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_htim fields = {
        .process = process,
        .time = wndl_recording_time(r, wndl_clock_monotonic_ns()),
    };
    const struct wndl_fields_moment now = {
        .time = 0,
        .bytes = (uint64_t)bytes,
        .blocks = (uint64_t)blocks,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HTIM);
    wndl_put_htim(&r->out, &fields);
    wndl_put_list(&r->out, 1);
    wndl_put_moment(&r->out, &now);
    wndl_recording_finish(r, &chunk);
}

/* ---- HMEM */

void wndl_recording_memory(
    struct wndl_recording *r, const struct wndl_recording_memory *memory)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hmem fields = {
        .process = memory->process,
        .time = wndl_recording_time(r, memory->time),
        .live = memory->live,
        .live_mapped = memory->live_mapped,
        .proportional = memory->sum.proportional,
        .mapped = memory->sum.mapped,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HMEM);
    wndl_put_hmem(&r->out, &fields);
    put_numbers(&r->out, memory->sum.resident, WNDL_MEMORY_KINDS);
    wndl_recording_finish(r, &chunk);
}

static void put_place(struct wndl_buf *out, const struct wndl_memory_place *p,
    const struct wndl_heap_process *process)
{
    const struct wndl_fields_place fields = {
        .node = p->node <= process->nodes ? p->node : 0,
        .kind = p->kind,
        .bytes = p->bytes,
        .start = p->start,
        .live = p->live,
        .name = {(const uint8_t *)p->name, strnlen(p->name, sizeof p->name)},
    };
    wndl_put_place(out, &fields);
}

void wndl_recording_places(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_memory_place *places, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hwho fields = {process->index};
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HWHO);
    wndl_put_hwho(&r->out, &fields);
    wndl_put_list(&r->out, count);
    for (uint32_t i = 0; i < count; i++)
        put_place(&r->out, &places[i], process);
    wndl_recording_finish(r, &chunk);
}

/* ---- findings */

static void begin_findings(struct wndl_recording *r,
    struct wndl_chunk_writer *chunk, uint32_t type, uint32_t process,
    uint32_t count)
{
    const struct wndl_fields_findings fields = {process};
    wndl_recording_begin(r, chunk, type);
    wndl_put_findings(&r->out, &fields);
    wndl_put_list(&r->out, count);
}

static bool has_leaks(const struct wndl_heap_leaks *l)
{
    return (l->definite | l->indirect | l->possible) != 0;
}

static void put_leaks(
    struct wndl_buf *out, uint32_t gap, const struct wndl_heap_leaks *l)
{
    const struct wndl_fields_leaks fields = {
        .site = gap,
        .definite = l->definite,
        .indirect = l->indirect,
        .possible = l->possible,
    };
    wndl_put_leaks(out, &fields);
}

bool wndl_recording_leaks(struct wndl_recording *r, uint32_t process,
    uint32_t first, const struct wndl_heap_leaks *leaks, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    uint32_t with_any = 0;
    uint32_t previous = 0;
    for (uint32_t i = 0; i < count; i++)
        with_any += has_leaks(&leaks[i]);
    if (with_any == 0)
        return false;
    begin_findings(r, &chunk, WNDL_CHUNK_HLEK, process, with_any);
    for (uint32_t i = 0; i < count; i++) {
        if (!has_leaks(&leaks[i]))
            continue;
        put_leaks(&r->out, first + i - previous, &leaks[i]);
        previous = first + i;
    }
    wndl_recording_finish(r, &chunk);
    return true;
}

void wndl_recording_no_leaks(struct wndl_recording *r, uint32_t process)
{
    struct wndl_chunk_writer chunk;
    begin_findings(r, &chunk, WNDL_CHUNK_HLEK, process, 0);
    wndl_recording_finish(r, &chunk);
}

static bool is_node(const struct wndl_heap_process *process, uint32_t node)
{
    return node != 0 && node <= process->nodes;
}

static bool is_growth(
    const struct wndl_heap_process *process, const struct wndl_heap_growth *g)
{
    return is_node(process, g->node) && g->chains != 0;
}

static void put_growth(struct wndl_buf *out, const struct wndl_heap_growth *g)
{
    const struct wndl_fields_growth fields = {
        .node = g->node,
        .how = g->by_copy != 0,
        .chains = g->chains,
        .steps = g->steps,
        .allocated = g->allocated,
        .final = g->final,
        .doubling = g->doubling,
        .least_step = g->least_step,
        .most_step = g->most_step,
    };
    wndl_put_growth(out, &fields);
}

void wndl_recording_growths(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_heap_growth growths[WNDL_HEAP_GROWTHS])
{
    struct wndl_chunk_writer chunk;
    uint32_t count = 0;
    for (uint32_t i = 0; i < WNDL_HEAP_GROWTHS; i++)
        count += is_growth(process, &growths[i]);
    if (count == 0)
        return;
    begin_findings(r, &chunk, WNDL_CHUNK_HGRO, process->index, count);
    for (uint32_t i = 0; i < WNDL_HEAP_GROWTHS; i++) {
        if (is_growth(process, &growths[i]))
            put_growth(&r->out, &growths[i]);
    }
    wndl_recording_finish(r, &chunk);
}

static bool is_wrong(
    const struct wndl_heap_process *process, const struct wndl_heap_wrong *w)
{
    return is_node(process, w->node) && w->count != 0 &&
           w->kind >= WNDL_HEAP_WRONG_FOREIGN &&
           w->kind <= WNDL_HEAP_WRONG_UNSEARCHED;
}

/* Whether it is known who took the block. */
static bool is_mixed(
    const struct wndl_heap_process *process, const struct wndl_heap_wrong *w)
{
    return w->kind == WNDL_HEAP_WRONG_OTHER && is_node(process, w->taken_at);
}

static void put_wrong(struct wndl_buf *out, const struct wndl_heap_wrong *w)
{
    const struct wndl_fields_wrong fields = {
        .node = w->node,
        .kind = w->kind,
        .count = w->count,
        .address = w->address,
    };
    wndl_put_wrong(out, &fields);
}

static void put_mixed(struct wndl_buf *out, const struct wndl_heap_wrong *w)
{
    const struct wndl_fields_mixed fields = {
        .node = w->node,
        .taken_at = w->taken_at,
        .taken_by = w->taken_by,
        .freed_by = w->freed_by,
        .count = w->count,
        .address = w->address,
    };
    wndl_put_mixed(out, &fields);
}

/* Writes those in which the block's allocation is known, or the others. */
static void put_wrongs(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS], bool mixed)
{
    struct wndl_chunk_writer chunk;
    uint32_t count = 0;
    for (uint32_t i = 0; i < WNDL_HEAP_WRONGS; i++)
        count += is_wrong(process, &wrongs[i]) &&
                 is_mixed(process, &wrongs[i]) == mixed;
    if (count == 0)
        return;
    begin_findings(r, &chunk, mixed ? WNDL_CHUNK_HMIX : WNDL_CHUNK_HWRO,
        process->index, count);
    for (uint32_t i = 0; i < WNDL_HEAP_WRONGS; i++) {
        if (is_wrong(process, &wrongs[i]) &&
            is_mixed(process, &wrongs[i]) == mixed)
            (mixed ? put_mixed : put_wrong)(&r->out, &wrongs[i]);
    }
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_wrongs(struct wndl_recording *r,
    const struct wndl_heap_process *process,
    const struct wndl_heap_wrong wrongs[WNDL_HEAP_WRONGS])
{
    put_wrongs(r, process, wrongs, false);
    put_wrongs(r, process, wrongs, true);
}

void wndl_recording_scan(struct wndl_recording *r,
    const struct wndl_recording_scan *scan, uint64_t position,
    struct wndl_bytes part)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hscn fields = {
        .process = scan->process,
        .snapshot = scan->snapshot,
        .end = scan->end,
        .position = position,
        .bytes = part,
        .written = scan->written,
        .contents = scan->contents,
        .stopped = scan->stopped,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HSCN);
    wndl_put_hscn(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_contents(struct wndl_recording *r, uint32_t process,
    uint64_t position, struct wndl_bytes part)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_hcon fields = {process, position, part};
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HCON);
    wndl_put_hcon(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_together(struct wndl_recording *r, uint32_t process,
    const struct wndl_fields_together *together, uint32_t count)
{
    struct wndl_chunk_writer chunk;
    begin_findings(r, &chunk, WNDL_CHUNK_HTOG, process, count);
    for (uint32_t i = 0; i < count; i++)
        wndl_put_together(&r->out, &together[i]);
    wndl_recording_finish(r, &chunk);
}
