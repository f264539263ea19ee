/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/time/report_fill.h"

#include "analyze/time/lost_places.h"

#include "analyze/time/node_walk.h"
#include "model/certainty.h"
#include "model/frame_key.h"

#include <stdlib.h>
#include <string.h>

/* The stack nodes as a tree that is walked down, with the cost of each. */
struct stacks {
    const struct wndl_symbolized *s;
    uint32_t count;
    struct wndl_node_walk walk;
    struct wndl_cost *self, *total;        /* by node */
    struct wndl_cost without[WNDL_LABELS]; /* a stack */
};

/*
 * The row of each location: key_of[location], or WNDL_NO_INDEX; or that of each
 * frame, if key_of_frame is not NULL.
 */
struct keys {
    uint32_t *key_of;
    uint32_t count;
    uint32_t *key_of_frame;
};

/*
 * Costs by key; `open` is the number of times that a key is on the current
 * path.
 */
struct sums {
    struct wndl_row *rows;
    uint32_t *open;
};

static const struct wndl_node *node_at(const struct stacks *t, uint32_t node)
{
    return wndl_vec_at(&t->s->profile->nodes, node);
}

static void sum_totals(struct stacks *t)
{
    /* From the back: every child's total is complete before it is added to
     * its parent's. */
    for (uint32_t i = t->count; i-- > 1;) {
        wndl_cost_add(&t->total[i], t->self[i]);
        wndl_cost_add(&t->total[node_at(t, i)->parent], t->total[i]);
    }
}

static bool make_stacks(
    struct stacks *t, const struct wndl_report *r, struct wndl_arena *arena)
{
    const struct wndl_symbolized *s = r->symbolized;
    const struct wndl_profile *p = s->profile;
    size_t n = p->nodes.len;
    *t = (struct stacks){
        .s = s,
        .count = (uint32_t)n,
        .self = wndl_arena_calloc(arena, n, sizeof(struct wndl_cost)),
        .total = wndl_arena_calloc(arena, n, sizeof(struct wndl_cost)),
    };
    if (t->self == NULL || t->total == NULL ||
        !wndl_node_walk_init(&t->walk, p, arena))
        return false;
    struct wndl_cost_item item;
    for (size_t at = 0; wndl_costs_next(p, r->time, &at, &item);)
        wndl_cost_add(item.node == 0 ? &t->without[wndl_cost_item_label(&item)]
                                     : &t->self[item.node],
            item.cost);
    sum_totals(t);
    return true;
}

/* ---- self and total by key */

static const struct wndl_span *span_of(const struct stacks *t, uint32_t node)
{
    return wndl_vec_at(&t->s->spans, node_at(t, node)->frame);
}

/* A frame with a key of its own has it once. */
static uint32_t key_at(
    const struct stacks *t, const struct keys *keys, uint32_t node, uint32_t i)
{
    if (keys->key_of_frame != NULL)
        return i == 0 ? keys->key_of_frame[node_at(t, node)->frame]
                      : WNDL_NO_INDEX;
    const uint32_t *location =
        wndl_vec_at(&t->s->frame_locations, span_of(t, node)->first + i);
    return keys->key_of[*location];
}

/* A walk that sums up. */
struct summing {
    const struct stacks *t;
    const struct keys *keys;
    struct sums *sums;
};

static void add_total(
    const struct stacks *t, uint32_t node, struct wndl_row *row)
{
    const struct wndl_frame_key *frame =
        wndl_vec_at(&t->s->profile->frames, node_at(t, node)->frame);
    const enum wndl_certainty certainty = wndl_certainty_of_how(frame->how);
    wndl_cost_add(&row->total, t->total[node]);
    if (certainty == WNDL_CHECKED)
        row->checked += t->total[node].samples;
    if (certainty == WNDL_GUESSED)
        row->guessed += t->total[node].samples;
}

static void enter_node(void *context, uint32_t node)
{
    const struct summing *by = context;
    const struct wndl_span *span = span_of(by->t, node);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t key = key_at(by->t, by->keys, node, i);
        if (key == WNDL_NO_INDEX)
            continue;
        if (i == 0)
            wndl_cost_add(&by->sums->rows[key].self, by->t->self[node]);
        if (by->sums->open[key]++ == 0)
            add_total(by->t, node, &by->sums->rows[key]);
    }
}

static void leave_node(void *context, uint32_t node)
{
    const struct summing *by = context;
    const struct wndl_span *span = span_of(by->t, node);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t key = key_at(by->t, by->keys, node, i);
        if (key != WNDL_NO_INDEX)
            by->sums->open[key]--;
    }
}

static bool keep_row(struct wndl_vec *rows, const struct wndl_row *row)
{
    if (row->total.samples == 0)
        return true;
    struct wndl_row *kept = wndl_vec_push(rows);
    if (kept == NULL)
        return false;
    *kept = *row;
    return true;
}

static bool sum_by_key(
    const struct stacks *t, const struct keys *keys, struct wndl_vec *rows)
{
    struct wndl_arena *arena = rows->arena;
    struct sums sums = {
        wndl_arena_calloc(arena, keys->count, sizeof(struct wndl_row)),
        wndl_arena_calloc(arena, keys->count, sizeof(uint32_t)),
    };
    if (sums.rows == NULL || sums.open == NULL)
        return false;
    struct summing by = {t, keys, &sums};
    const struct wndl_node_visitor visitor = {enter_node, leave_node, &by};
    wndl_node_walk(&t->walk, &visitor);
    bool kept = true;
    for (uint32_t i = 0; i < keys->count && kept; i++) {
        sums.rows[i].key = i;
        kept = keep_row(rows, &sums.rows[i]);
    }
    return kept;
}

/* ---- keys of the views */

static uint32_t key_of_location(
    const struct wndl_symbolized *s, enum wndl_view view, uint32_t index)
{
    const struct wndl_location *location = wndl_vec_at(&s->locations, index);
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, location->function);
    switch (view) {
    case WNDL_BY_LINE:
        return index;
    case WNDL_BY_MODULE:
        return function->module;
    case WNDL_BY_FILE:
        return location->file;
    default:
        return location->function;
    }
}

/* The vDSO is an image without a file, so the user cannot provide symbols. */
static uint32_t unnamed_module(const struct wndl_symbolized *s, uint32_t index)
{
    const struct wndl_location *location = wndl_vec_at(&s->locations, index);
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, location->function);
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, function->module);
    bool expected = module->state == WNDL_SYMBOLS_NOWHERE &&
                    function->module != s->profile->images.len;
    return function->unnamed && !expected ? function->module : WNDL_NO_INDEX;
}

/*
 * Gives a line one key, whether it is inlined or not: that of its first
 * location. Two locations that differ only in `inlined` are twins, found
 * through the map.
 */
static bool merge_twins(const struct wndl_symbolized *s, struct keys *keys,
    struct wndl_arena *arena)
{
    struct wndl_map first;
    wndl_map_init(&first, arena);
    const struct wndl_location *l = s->locations.data;
    for (uint32_t i = 0; i < s->locations.len; i++) {
        uint64_t place =
            wndl_hash_u64((uint64_t)l[i].function << 32 | l[i].file);
        for (;; place++) {
            uint64_t *slot = wndl_map_put(&first, place ^ l[i].line);
            if (slot == NULL)
                return false;
            if (*slot == 0)
                *slot = i + 1;
            const struct wndl_location *twin = &l[*slot - 1];
            keys->key_of[i] = (uint32_t)(*slot - 1);
            if (twin->function == l[i].function && twin->file == l[i].file &&
                twin->line == l[i].line)
                break;
        }
    }
    return true;
}

static bool is_same_address(
    const struct wndl_frame_key *a, const struct wndl_frame_key *b)
{
    return a->image == b->image && a->process == b->process &&
           wndl_frame_key_byte(a) == wndl_frame_key_byte(b);
}

/* Frames of one address have the key of the first of them. */
static bool key_frames(struct keys *keys, const struct wndl_symbolized *s,
    struct wndl_arena *arena)
{
    struct wndl_map first;
    wndl_map_init(&first, arena);
    const struct wndl_frame_key *frames = s->profile->frames.data;
    size_t count = s->profile->frames.len;
    keys->count = (uint32_t)count;
    keys->key_of_frame =
        wndl_arena_calloc(arena, count + 1, sizeof *keys->key_of_frame);
    for (uint32_t i = 0; i < count && keys->key_of_frame != NULL; i++) {
        uint64_t place = wndl_hash_u64(wndl_frame_key_byte(&frames[i])) +
                         frames[i].image + frames[i].process;
        for (;; place++) {
            uint64_t *slot = wndl_map_put(&first, place);
            if (slot == NULL)
                return false;
            if (*slot == 0)
                *slot = i + 1;
            keys->key_of_frame[i] = (uint32_t)(*slot - 1);
            if (is_same_address(&frames[*slot - 1], &frames[i]))
                break;
        }
    }
    return keys->key_of_frame != NULL;
}

static bool make_keys(struct keys *keys, const struct wndl_symbolized *s,
    enum wndl_view view, struct wndl_arena *arena)
{
    size_t locations = s->locations.len;
    size_t counts[] = {
        [WNDL_BY_FUNCTION] = s->functions.len,
        [WNDL_BY_LINE] = locations,
        [WNDL_BY_MODULE] = s->modules.len,
        [WNDL_BY_THREAD] = 0,
        [WNDL_BY_FILE] = wndl_intern_count(&s->strings),
        [WNDL_BY_ADDRESS] = s->profile->frames.len,
    };
    *keys = (struct keys){.count = (uint32_t)counts[view]};
    if (view == WNDL_BY_ADDRESS)
        return key_frames(keys, s, arena);
    keys->key_of = wndl_arena_calloc(arena, locations, sizeof(uint32_t));
    if (keys->key_of == NULL)
        return false;
    for (uint32_t i = 0; i < locations; i++)
        keys->key_of[i] = key_of_location(s, view, i);
    return view != WNDL_BY_LINE || merge_twins(s, keys, arena);
}

/* ---- rows without stacks */

static void add_times(struct wndl_times *to, const struct wndl_times *times)
{
    to->sampled_cpu += times->sampled_cpu;
    to->unsampled_cpu += times->unsampled_cpu;
    to->blocked += times->blocked;
    to->waiting += times->waiting;
}

/* A selected part of the recording has none of it, as far as is known. */
static void add_time_before(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    const struct wndl_process *processes = p->processes.data;
    for (size_t i = 0; i < p->processes.len && !p->is_selected; i++) {
        r->times.loading_cpu += processes[i].loading_cpu;
        r->times.starting_cpu += processes[i].starting_cpu;
    }
    r->times.unsampled_cpu += r->times.loading_cpu + r->times.starting_cpu;
}

/*
 * The time of processes that were not recorded is known only as a part of the
 * command's.
 */
static void add_unrecorded(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    uint64_t sampled = r->times.sampled_cpu;
    if (p->engine == WNDL_SAMPLER_UNKNOWN || p->discarded != 0 ||
        p->is_selected || p->command_cpu < sampled)
        return;
    if (p->command_cpu - sampled > r->times.unsampled_cpu)
        r->times.unsampled_cpu = p->command_cpu - sampled;
}

/* Sums all kinds of time, whichever the report is about. */
static bool sum_times(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    r->times_of_thread =
        wndl_arena_calloc(&r->arena, p->threads.len, sizeof(struct wndl_times));
    if (r->times_of_thread == NULL)
        return false;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++)
        r->times_of_thread[samples[i].thread].sampled_cpu += samples[i].cpu;
    const struct wndl_block *blocks = p->blocks.data;
    for (size_t i = 0; i < p->blocks.len; i++) {
        struct wndl_times *of = &r->times_of_thread[blocks[i].thread];
        *(blocks[i].waiting ? &of->waiting : &of->blocked) +=
            blocks[i].duration;
    }
    const struct wndl_thread *threads = p->threads.data;
    for (size_t i = 0; i < p->threads.len; i++) {
        r->times_of_thread[i].unsampled_cpu = threads[i].unsampled_cpu;
        add_times(&r->times, &r->times_of_thread[i]);
    }
    add_time_before(r);
    add_unrecorded(r);
    return true;
}

/* Makes a row for each of `count` keys. */
static bool make_rows(struct wndl_vec *rows, size_t count)
{
    if (!wndl_vec_reserve(rows, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        ((struct wndl_row *)wndl_vec_push(rows))->key = i;
    return true;
}

static uint64_t all_times(const struct wndl_times *t)
{
    return t->sampled_cpu + t->unsampled_cpu + t->blocked + t->waiting;
}

/* Keeps the rows whose key is marked. */
static void keep_marked(struct wndl_vec *rows, const bool *marked)
{
    struct wndl_row *all = rows->data;
    size_t kept = 0;
    for (size_t i = 0; i < rows->len; i++) {
        if (marked[all[i].key])
            all[kept++] = all[i];
    }
    rows->len = kept;
}

/* Leaves out the threads and processes of which nothing is selected. */
static bool drop_unselected(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    bool *threads = wndl_arena_calloc(&r->arena, p->threads.len + 1, 1);
    bool *processes = wndl_arena_calloc(&r->arena, p->processes.len + 1, 1);
    if (threads == NULL || processes == NULL)
        return false;
    for (size_t i = 0; i < p->threads.len; i++) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        threads[i] = all_times(&r->times_of_thread[i]) != 0;
        processes[thread->process] |= threads[i];
    }
    keep_marked(&r->threads, threads);
    keep_marked(&r->processes, processes);
    return true;
}

static bool sum_by_thread(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    if (!make_rows(&r->threads, p->threads.len) ||
        !make_rows(&r->processes, p->processes.len))
        return false;
    struct wndl_row *by_thread = r->threads.data;
    struct wndl_row *by_process = r->processes.data;
    struct wndl_cost_item item;
    for (size_t at = 0; wndl_costs_next(p, r->time, &at, &item);)
        wndl_cost_add(&by_thread[item.thread].self, item.cost);
    for (uint32_t i = 0; i < p->threads.len; i++) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        by_thread[i].total = by_thread[i].self;
        wndl_cost_add(&r->all, by_thread[i].self);
        wndl_cost_add(&by_process[thread->process].self, by_thread[i].self);
        wndl_cost_add(&by_process[thread->process].total, by_thread[i].self);
    }
    return !p->is_selected || drop_unselected(r);
}

static void judge_walks(
    struct wndl_quality *q, uint64_t kept, const uint64_t *ends)
{
    q->kept = kept;
    q->complete = ends[WNDL_WALK_COMPLETE];
    q->truncated = ends[WNDL_WALK_TRUNCATED];
    q->guessed = ends[WNDL_WALK_FP_ROOT];
    q->lost = q->kept - q->complete - q->truncated - q->guessed;
}

static void judge_quality(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    judge_walks(&r->quality, p->samples.len, p->ends);
    r->quality.overruns = p->lost[WNDL_LOST_OVERRUN];
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++)
        r->quality.dropped += i == WNDL_LOST_OVERRUN ? 0 : p->lost[i];
    uint64_t blocked = 0;
    const struct wndl_block *blocks = p->blocks.data;
    for (size_t i = 0; i < p->blocks.len; i++)
        blocked += !blocks[i].waiting;
    judge_walks(&r->blocked, blocked, p->block_ends);
    r->blocked.dropped = p->blocks_lost;
}

/* ---- order */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders costs, the larger first. */
static int compare_costs(const struct wndl_cost *a, const struct wndl_cost *b)
{
    int order = compare_u64(b->time, a->time);
    return order != 0 ? order : compare_u64(b->samples, a->samples);
}

static int compare_by_total(const void *a, const void *b)
{
    const struct wndl_row *x = a, *y = b;
    int order = compare_costs(&x->total, &y->total);
    if (order == 0)
        order = compare_u64(x->key, y->key);
    return order != 0 ? order : compare_u64(x->label, y->label);
}

/* Most self first, then most total; the rest makes the order reproducible. */
static int compare_rows(const void *a, const void *b)
{
    const struct wndl_row *x = a, *y = b;
    int order = compare_costs(&x->self, &y->self);
    return order != 0 ? order : compare_by_total(a, b);
}

/* Threads without a cost are in the order of their other times. */
static int compare_threads(const void *a, const void *b, void *context)
{
    const struct wndl_row *x = a, *y = b;
    const struct wndl_times *times = context;
    int order = compare_costs(&x->self, &y->self);
    if (order == 0)
        order =
            compare_u64(all_times(&times[y->key]), all_times(&times[x->key]));
    return order != 0 ? order : compare_u64(x->key, y->key);
}

static void sort_threads(struct wndl_report *r)
{
    if (r->threads.len > 1)
        qsort_r(r->threads.data, r->threads.len, r->threads.element,
            compare_threads, r->times_of_thread);
}

static int compare_marks(const void *a, const void *b, void *context)
{
    const struct wndl_mark *marks = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare_u64(marks[x].time, marks[y].time);
    return order != 0 ? order : compare_u64(x, y);
}

static bool sort_marks(struct wndl_report *r)
{
    const struct wndl_vec *marks = &r->symbolized->profile->marks;
    if (!wndl_vec_reserve(&r->marks, marks->len))
        return false;
    for (uint32_t i = 0; i < marks->len; i++)
        *(uint32_t *)wndl_vec_push(&r->marks) = i;
    if (marks->len > 1)
        qsort_r(r->marks.data, r->marks.len, r->marks.element, compare_marks,
            marks->data);
    return true;
}

static void sort_rows(
    struct wndl_vec *rows, int (*compare)(const void *a, const void *b))
{
    if (rows->len > 1)
        qsort(rows->data, rows->len, rows->element, compare);
}

/* ---- the whole */

static bool sum_unnamed(struct wndl_report *r, const struct stacks *t)
{
    const struct wndl_symbolized *s = r->symbolized;
    size_t locations = s->locations.len;
    struct keys keys = {
        .key_of = wndl_arena_calloc(&r->arena, locations, sizeof(uint32_t)),
        .count = (uint32_t)s->modules.len,
    };
    if (keys.key_of == NULL)
        return false;
    for (uint32_t i = 0; i < locations; i++)
        keys.key_of[i] = unnamed_module(s, i);
    return sum_by_key(t, &keys, &r->unnamed);
}

/* Whether the code is in the object that records heaps. */
static bool is_own(
    const struct wndl_symbolized *s, const struct wndl_span *span)
{
    if (span->count == 0)
        return false;
    const uint32_t *index = wndl_vec_at(&s->frame_locations, span->first);
    const struct wndl_location *location = wndl_vec_at(&s->locations, *index);
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, location->function);
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, function->module);
    return wndl_bytes_is(
        wndl_intern_get(&s->strings, module->name), "libwindlass-heap.so");
}

static void sum_own(struct wndl_report *r, const struct stacks *t)
{
    for (uint32_t i = 1; i < r->symbolized->profile->nodes.len; i++) {
        if (t->self[i].samples != 0 && is_own(t->s, span_of(t, i)))
            wndl_cost_add(&r->own, t->self[i]);
    }
}

static bool add_without_stack(struct wndl_report *r, const struct stacks *t)
{
    bool kept = true;
    for (unsigned i = 0; i < WNDL_LABELS && kept; i++) {
        struct wndl_row row = {.key = WNDL_NO_INDEX,
            .label = (uint8_t)i,
            .self = t->without[i],
            .total = t->without[i]};
        kept = keep_row(&r->rows, &row);
    }
    return kept;
}

static bool sum_view(struct wndl_report *r, const struct stacks *t)
{
    if (r->view == WNDL_BY_THREAD) {
        r->rows = r->threads;
        return true;
    }
    struct keys keys;
    return make_keys(&keys, r->symbolized, r->view, &r->arena) &&
           sum_by_key(t, &keys, &r->rows) && add_without_stack(r, t);
}

static void init_report(struct wndl_report *r, struct wndl_mem *mem)
{
    wndl_arena_init(&r->arena, mem);
    wndl_vec_init(&r->rows, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->threads, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->processes, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->unnamed, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->marks, &r->arena, sizeof(uint32_t));
    wndl_vec_init(&r->tree.nodes, &r->arena, sizeof(struct wndl_calltree_node));
}

bool wndl_report_fill(struct wndl_report *r, const struct wndl_symbolized *s,
    enum wndl_view view, enum wndl_time time, struct wndl_mem *mem)
{
    *r = (struct wndl_report){.symbolized = s, .view = view, .time = time};
    init_report(r, mem);
    judge_quality(r);
    struct stacks stacks;
    if (!sum_times(r) || !sum_by_thread(r) || !sort_marks(r))
        return false;
    sort_threads(r);
    if (!make_stacks(&stacks, r, &r->arena) || !sum_unnamed(r, &stacks) ||
        !sum_view(r, &stacks) || !wndl_lost_places_find(r))
        return false;
    sum_own(r, &stacks);
    if (view != WNDL_BY_THREAD)
        sort_rows(&r->rows, compare_rows);
    sort_rows(&r->processes, compare_rows);
    sort_rows(&r->unnamed, compare_by_total);
    return true;
}

void wndl_report_free(struct wndl_report *r)
{
    wndl_arena_free(&r->arena);
}
