/* SPDX-License-Identifier: MIT */
#include "out/report_json/heap.h"

#include "base/json.h"
#include "out/report_json/report_json.h"

#include <inttypes.h>

enum { SCHEMA_VERSION = 1 };

struct heap_json {
    struct wndl_json j;
    const struct wndl_heap_report *r; /* NULL: of a difference */
    const struct wndl_heap_records *records;
    const char *which; /* blocks that the records are of */
    size_t max_rows;
};

static void put_figures(struct wndl_json *j, const struct wndl_heap_figures *f)
{
    wndl_json_put_signed(j, "blocks", f->blocks);
    wndl_json_put_signed(j, "usable", wndl_heap_usable(f));
    wndl_json_put_signed(j, "requested", f->requested);
    wndl_json_put_signed(j, "slop", f->slop);
    if (f->blocks_error > 0) {
        wndl_json_put_key(j, "blocks_error");
        wndl_buf_printf(j->out, "%.1f", f->blocks_error);
        wndl_json_put_key(j, "usable_error");
        wndl_buf_printf(j->out, "%.1f", f->bytes_error);
    }
}

static void put_stack(
    struct heap_json *h, const char *name, struct wndl_heap_stack stack)
{
    struct wndl_json *j = &h->j;
    const struct wndl_heap_list *list = h->records->list;
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < stack.count; i++) {
        const struct wndl_heap_frame *frame =
            wndl_heap_frame_at(list, stack.leaf);
        wndl_json_put_element(j);
        wndl_json_string(j->out, wndl_intern_get(&list->strings, frame->text));
        stack.leaf = frame->caller;
    }
    wndl_json_put_close(j, ']');
}

/* ---- sums */

static void put_sum(struct wndl_json *j, const struct wndl_heap_sum *s)
{
    wndl_json_put_number(j, "live_blocks", s->live_blocks);
    wndl_json_put_number(j, "live_bytes", s->live_bytes);
    wndl_json_heap_totals(j, s->totals, s->missed);
    wndl_json_put_key(j, "stacks");
    wndl_json_put_open(j, '{');
    wndl_json_put_number(j, "complete", s->quality.complete);
    wndl_json_put_number(j, "guessed", s->quality.guessed);
    wndl_json_put_number(j, "truncated", s->quality.truncated);
    wndl_json_put_number(j, "lost", s->quality.lost);
    wndl_json_put_number(j, "none", s->quality.none);
    wndl_json_put_number(j, "damaged", s->quality.damaged);
    wndl_json_put_close(j, '}');
}

/* ---- processes */

static void put_snapshot(
    struct wndl_json *j, const struct wndl_heap_snapshot *s)
{
    static const char *const whys[WNDL_SNAPSHOT_TRIGGERS] = {
        "end", "ctl", "program", "time", "peak", "stop", "other"};
    wndl_json_put_number(j, "number", s->number + 1);
    wndl_json_put_number(j, "time_ns", s->time);
    wndl_json_put_text(j, "why", whys[s->why]);
    wndl_json_put_string(j, "text", s->text);
    wndl_json_put_truth(j, "cut", s->cut);
}

static void put_snapshots(
    struct wndl_json *j, const struct wndl_process_heap *heap)
{
    const struct wndl_heap_snapshot *kept = wndl_heap_kept(heap);
    if (kept != NULL)
        wndl_json_put_number(j, "snapshot", kept->number + 1);
    wndl_json_put_key(j, "snapshots");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < heap->snapshots.len; i++) {
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        put_snapshot(j, wndl_vec_at(&heap->snapshots, i));
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_timeline(
    struct wndl_json *j, const struct wndl_process_heap *heap)
{
    const struct wndl_heap_moment *moments = heap->moments.data;
    wndl_json_put_key(j, "timeline");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < heap->moments.len; i++) {
        wndl_json_put_element(j);
        wndl_buf_printf(j->out, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
            moments[i].time, moments[i].bytes, moments[i].blocks);
    }
    wndl_json_put_close(j, ']');
}

static const char *const kind_names[WNDL_MEMORY_KINDS] = {
    [WNDL_MEMORY_HEAP] = "heap",
    [WNDL_MEMORY_MAPPED] = "mapped",
    [WNDL_MEMORY_STACKS] = "stacks",
    [WNDL_MEMORY_CODE] = "code",
    [WNDL_MEMORY_DATA] = "data",
    [WNDL_MEMORY_SHARED] = "shared",
    [WNDL_MEMORY_WINDLASS] = "windlass",
    [WNDL_MEMORY_OTHER] = "kernel",
};

/* The innermost frames of whoever mapped it. */
static void put_callers(
    struct wndl_json *j, const struct wndl_symbolized *s, uint32_t node)
{
    enum { MOST = 16 };
    wndl_json_put_key(j, "callers");
    wndl_json_put_open(j, '[');
    for (unsigned count = 0; node != 0 && count < MOST; count++) {
        const struct wndl_node *at = wndl_vec_at(&s->profile->nodes, node);
        const struct wndl_location *location =
            wndl_symbolized_location(s, wndl_vec_at(&s->spans, at->frame), 0);
        const struct wndl_function *function =
            wndl_vec_at(&s->functions, location->function);
        wndl_json_put_element(j);
        wndl_json_string(j->out, wndl_intern_get(&s->strings, function->name));
        node = at->parent;
    }
    wndl_json_put_close(j, ']');
}

static void put_places(struct wndl_json *j, const struct wndl_symbolized *s,
    const struct wndl_process_heap *heap, const struct wndl_heap_memory *memory)
{
    wndl_json_put_key(j, "places");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < memory->place_count; i++) {
        const struct wndl_heap_place *place =
            wndl_vec_at(&heap->places, memory->first_place + i);
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_text(j, "kind", kind_names[place->kind]);
        wndl_json_put_number(j, "bytes", place->bytes);
        if (place->node != 0)
            put_callers(j, s, place->node);
        else if (place->name.size != 0)
            wndl_json_put_string(j, "file", place->name);
        else
            wndl_json_put_number(j, "start", place->start);
        if (place->live != 0)
            wndl_json_put_number(j, "live", place->live - 1);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* All members but the time and the last two sum to `resident`. */
static void put_memory_at(
    struct wndl_json *j, const struct wndl_heap_memory *memory)
{
    static const char *const names[WNDL_RESIDENT_PARTS] = {
        [WNDL_RESIDENT_LIVE] = "live",
        [WNDL_RESIDENT_KEPT] = "kept",
        [WNDL_RESIDENT_MAPPED] = "mapped",
        [WNDL_RESIDENT_STACKS] = "stacks",
        [WNDL_RESIDENT_CODE] = "code",
        [WNDL_RESIDENT_DATA] = "data",
        [WNDL_RESIDENT_SHARED] = "shared",
        [WNDL_RESIDENT_WINDLASS] = "windlass",
        [WNDL_RESIDENT_OTHER] = "kernel",
    };
    uint64_t parts[WNDL_RESIDENT_PARTS];
    wndl_heap_memory_divide(memory, parts);
    wndl_json_put_number(j, "time_ns", memory->time);
    wndl_json_put_number(j, "resident", wndl_memory_resident(&memory->sum));
    for (size_t i = 0; i < WNDL_RESIDENT_PARTS; i++)
        wndl_json_put_number(j, names[i], parts[i]);
    wndl_json_put_number(j, "proportional", memory->sum.proportional);
    wndl_json_put_number(j, "address_space", memory->sum.mapped);
}

static void put_memory(
    struct wndl_json *j, const struct wndl_process_heap *heap)
{
    if (heap->memory.len == 0)
        return;
    wndl_json_put_key(j, "memory");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < heap->memory.len; i++) {
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        put_memory_at(j, wndl_vec_at(&heap->memory, i));
        put_places(j, j->s, heap, wndl_vec_at(&heap->memory, i));
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* In dark-matter mode. */
static void put_reporters(
    struct wndl_json *j, const struct wndl_process_heap *heap)
{
    if (!heap->dark)
        return;
    wndl_json_put_truth(j, "reporters_ran", heap->reported_known);
    if (!heap->reported_known)
        return;
    wndl_json_put_number(j, "reporters_ran_ns", heap->reported_time);
    wndl_json_put_number(
        j, "reporters_ran_snapshot", heap->reported_snapshot + 1);
    wndl_json_put_number(j, "reporters_missed_blocks", heap->reported_lost);
}

static void put_process(struct heap_json *h, const struct wndl_heap_row *row)
{
    struct wndl_json *j = &h->j;
    const struct wndl_profile *p = j->s->profile;
    const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, row->heap);
    const struct wndl_process *of = wndl_vec_at(&p->processes, heap->process);
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "index", heap->process);
    wndl_json_put_number(j, "pid", of->pid);
    wndl_json_put_number(j, "generation", of->generation);
    if (of->parent != WNDL_NO_INDEX)
        wndl_json_put_number(j, "parent", of->parent);
    wndl_json_put_string(j, "executable", of->executable);
    wndl_json_command(j, of->command);
    wndl_json_put_number(j, "start_ns", of->start);
    wndl_json_put_number(j, "end_ns", of->end);
    wndl_json_put_truth(j, "cumulative", heap->cumulative);
    wndl_json_put_number(j, "sample_below", heap->sample_below);
    wndl_json_put_truth(j, "leaks_known", heap->leaks_known);
    put_reporters(j, heap);
    put_sum(j, &row->sum);
    put_snapshots(j, heap);
    put_timeline(j, heap);
    put_memory(j, heap);
    wndl_json_put_close(j, '}');
}

static void put_processes(struct heap_json *h)
{
    wndl_json_put_key(&h->j, "processes");
    wndl_json_put_open(&h->j, '[');
    for (size_t i = 0; i < h->r->rows.len; i++)
        put_process(h, wndl_vec_at(&h->r->rows, i));
    wndl_json_put_close(&h->j, ']');
}

/* ---- findings */

static void put_growth(struct wndl_json *j, const struct wndl_alloc_growth *g)
{
    wndl_json_put_text(j, "how", g->by_copy ? "copy" : "realloc");
    wndl_json_put_number(j, "chains", g->chains);
    wndl_json_put_number(j, "steps", g->steps);
    wndl_json_put_number(j, "allocated", g->allocated);
    wndl_json_put_number(j, "final", g->final);
    wndl_json_put_number(j, "doubling", g->doubling);
    wndl_json_put_number(j, "least_step", g->least_step);
    wndl_json_put_number(j, "most_step", g->most_step);
}

static void put_wrong(struct wndl_json *j, const struct wndl_finding *f)
{
    static const char *const names[WNDL_WRONG_FREES] = {
        [WNDL_WRONG_FREE_OTHER] = "other",
        [WNDL_WRONG_FREE_FOREIGN] = "never-allocated",
        [WNDL_WRONG_FREE_TWICE] = "freed-before",
        [WNDL_WRONG_FREE_ALLOCATOR] = "other-allocator",
        [WNDL_WRONG_MEASURE_INTERIOR] = "interior",
        [WNDL_WRONG_MEASURE_NO_BLOCK] = "no-block",
        [WNDL_WRONG_MEASURE_FREED] = "freed-before",
        [WNDL_WRONG_MEASURE_UNSEARCHED] = "interior-or-no-block",
    };
    wndl_json_put_text(j, "kind", names[f->wrong]);
    wndl_json_put_signed(j,
        f->wrong < WNDL_WRONG_MEASURE_INTERIOR ? "frees" : "pointers",
        f->figures.blocks);
    wndl_json_put_number(j, "address", f->address);
}

/* The takers of blocks of wrong frees, and those who freed them. */
static void put_mixed(struct heap_json *h, const struct wndl_finding *f)
{
    static const char *const names[WNDL_WHOSE_COUNT] = {
        [WNDL_WHOSE_UNKNOWN] = "unknown",
        [WNDL_WHOSE_MALLOC] = "malloc",
        [WNDL_WHOSE_REPORTED] = "pool",
        [WNDL_WHOSE_LIBC] = "libc",
        [WNDL_WHOSE_CPP] = "c++",
    };
    const struct wndl_symbolized *s = h->j.s;
    const struct wndl_module *taken = wndl_vec_at(&s->modules, f->taken_in);
    const struct wndl_module *freed = wndl_vec_at(&s->modules, f->freed_in);
    wndl_json_put_text(&h->j, "freed_by", names[f->freed_by]);
    wndl_json_put_id(&h->j, "freed_in", freed->path);
    wndl_json_put_text(&h->j, "taken_by", names[f->taken_by]);
    wndl_json_put_id(&h->j, "taken_in", taken->path);
    put_stack(h, "taken", f->other);
}

static bool has_no_blocks(enum wndl_finding_kind kind)
{
    return kind == WNDL_FINDING_WRONG || kind == WNDL_FINDING_MEASURED;
}

static void put_finding(struct heap_json *h, enum wndl_finding_kind kind,
    const struct wndl_finding *f)
{
    struct wndl_json *j = &h->j;
    wndl_json_put_open_line(j);
    if (kind == WNDL_FINDING_GROWTH)
        put_growth(j, &f->growth);
    else if (has_no_blocks(kind))
        put_wrong(j, f);
    else
        put_figures(j, &f->figures);
    if (kind == WNDL_FINDING_CLASS) {
        wndl_json_put_number(j, "request", f->request);
        wndl_json_put_number(j, "size_below", f->size);
    }
    put_stack(h, "stack", f->stack);
    if (kind == WNDL_FINDING_TOGETHER)
        put_stack(h, "after", f->other);
    if (kind == WNDL_FINDING_WRONG && f->other.count != 0)
        put_mixed(h, f);
    wndl_json_put_close(j, '}');
}

static void findings_of(
    struct heap_json *h, const char *name, enum wndl_finding_kind kind)
{
    struct wndl_json *j = &h->j;
    const struct wndl_vec *rows = &h->r->findings.rows[kind];
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '{');
    wndl_json_put_number(j, "row_count", rows->len);
    if (kind != WNDL_FINDING_GROWTH && !has_no_blocks(kind))
        put_figures(j, &h->r->findings.totals[kind]);
    wndl_json_put_key(j, "rows");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < rows->len && i < h->max_rows; i++)
        put_finding(h, kind, wndl_vec_at(rows, i));
    wndl_json_put_close(j, ']');
    wndl_json_put_close(j, '}');
}

static void put_findings(struct heap_json *h)
{
    static const char *const names[WNDL_FINDINGS] = {"leaks_definite",
        "leaks_indirect", "leaks_possible", "reachable", "temporary",
        "buffers_that_grow", "above_size", "slop", "together", "wrong_frees",
        "wrong_measures"};
    wndl_json_put_key(&h->j, "findings");
    wndl_json_put_open(&h->j, '{');
    wndl_json_put_truth(&h->j, "leaks_known", h->r->findings.leaks_known);
    for (size_t i = 0; i < WNDL_FINDINGS; i++)
        findings_of(h, names[i], (enum wndl_finding_kind)i);
    wndl_json_put_close(&h->j, '}');
}

/* ---- records */

static void put_sizes(
    struct heap_json *h, const struct wndl_heap_record *record)
{
    struct wndl_json *j = &h->j;
    wndl_json_put_key(j, "sizes");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < record->size_count; i++) {
        const struct wndl_heap_size *size =
            wndl_vec_at(&h->records->sizes, record->first_size + i);
        wndl_json_put_element(j);
        wndl_buf_printf(
            j->out, "[%" PRIu64 ",%" PRId64 "]", size->usable, size->blocks);
    }
    wndl_json_put_close(j, ']');
}

static void put_record(struct heap_json *h, const struct wndl_heap_record *r)
{
    struct wndl_json *j = &h->j;
    wndl_json_put_open_line(j);
    put_figures(j, &r->figures);
    if (h->records->list->mode == WNDL_HEAP_MODE_CUMULATIVE) {
        wndl_json_put_signed(j, "freed", r->figures.freed);
        wndl_json_put_signed(j, "temporary", r->figures.temporary);
        wndl_json_put_number(j, "mean_lifetime_ns", r->figures.mean_lifetime);
    }
    put_sizes(h, r);
    put_stack(h, "stack", r->stacks[WNDL_HEAP_ALLOCATED]);
    if (r->stacks[WNDL_HEAP_REPORTED].leaf != 0)
        put_stack(h, "reported", r->stacks[WNDL_HEAP_REPORTED]);
    if (r->stacks[WNDL_HEAP_REPORTED_AGAIN].leaf != 0)
        put_stack(h, "reported_again", r->stacks[WNDL_HEAP_REPORTED_AGAIN]);
    wndl_json_put_close(j, '}');
}

static void put_records(struct heap_json *h)
{
    struct wndl_json *j = &h->j;
    const struct wndl_heap_records *all = h->records;
    wndl_json_put_text(j, "records_of", h->which);
    wndl_json_put_key(j, "total");
    wndl_json_put_open(j, '{');
    put_figures(j, &all->total);
    wndl_json_put_close(j, '}');
    wndl_json_put_number(j, "record_count", all->records.len);
    wndl_json_put_key(j, "records");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < all->records.len && i < h->max_rows; i++)
        put_record(h, wndl_vec_at(&all->records, i));
    wndl_json_put_close(j, ']');
}

void wndl_report_json_heap(
    const struct wndl_heap_report *r, size_t max_rows, struct wndl_buf *out)
{
    struct heap_json h = {
        .j = {.out = out, .s = r->symbolized},
        .r = r,
        .records = &r->records,
        .which = r->which,
        .max_rows = max_rows,
    };
    struct wndl_json *j = &h.j;
    wndl_json_put_open(j, '{');
    wndl_json_put_text(j, "format", "windlass-heap-report");
    wndl_json_put_number(j, "version", SCHEMA_VERSION);
    wndl_json_recording(j);
    wndl_json_put_key(j, "heap");
    wndl_json_put_open(j, '{');
    wndl_json_put_truth(j, "cumulative", r->cumulative);
    wndl_json_put_number(j, "sample_below", r->sample_below);
    put_sum(j, &r->all);
    wndl_json_put_close(j, '}');
    put_processes(&h);
    put_findings(&h);
    put_records(&h);
    wndl_json_put_close(j, '}');
    wndl_buf_byte(out, '\n');
}

/* ---- a difference */

static void put_side(
    struct wndl_json *j, const char *key, const struct wndl_heap_side_sum *s)
{
    wndl_json_put_key(j, key);
    wndl_json_put_open(j, '{');
    wndl_json_put_text(j, "file", s->file);
    wndl_json_put_number(j, "heaps", s->heaps);
    wndl_json_put_number(j, "live_blocks", s->live_blocks);
    wndl_json_put_number(j, "live_bytes", s->live_bytes);
    wndl_json_put_truth(j, "whole", s->whole);
    wndl_json_put_close(j, '}');
}

void wndl_report_json_heap_diff(
    const struct wndl_heap_difference *d, size_t max_rows, struct wndl_buf *out)
{
    struct heap_json h = {
        .j = {.out = out},
        .records = &d->records,
        .which = d->which,
        .max_rows = max_rows,
    };
    struct wndl_json *j = &h.j;
    wndl_json_put_open(j, '{');
    wndl_json_put_text(j, "format", "windlass-heap-diff");
    wndl_json_put_number(j, "version", SCHEMA_VERSION);
    put_side(j, "earlier", &d->sides[0]);
    put_side(j, "later", &d->sides[1]);
    put_records(&h);
    wndl_json_put_close(j, '}');
    wndl_buf_byte(out, '\n');
}
