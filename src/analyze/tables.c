/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/tables.h"

#include <stdlib.h>
#include <string.h>

/*
 * The stack nodes as a tree to walk down, with what each one cost. Arrays by
 * node; 0 is no child, no sibling.
 */
struct stacks {
    const struct wndl_symbolized *s;
    uint32_t count;
    uint32_t *first_child, *next_sibling;
    struct wndl_cost *self, *total;
};

/* What locations are counted as: key_of[location], or WNDL_NO_INDEX. */
struct keys {
    uint32_t *key_of;
    uint32_t count;
};

/* Costs by key; `open` is how often a key is on the path at hand. */
struct sums {
    struct wndl_row *rows;
    uint32_t *open;
};

static const struct wndl_node *node_at(const struct stacks *t, uint32_t node)
{
    return wndl_vec_at(&t->s->profile->nodes, node);
}

static struct wndl_cost cost_of_sample(const struct wndl_sample *sample)
{
    return (struct wndl_cost){1, sample->cpu};
}

static void link_nodes(struct stacks *t)
{
    /* From the back, so that children come out in order; and every child's
     * total is complete before it is added to its parent's. */
    for (uint32_t i = t->count; i-- > 1;) {
        uint32_t parent = node_at(t, i)->parent;
        t->next_sibling[i] = t->first_child[parent];
        t->first_child[parent] = i;
        wndl_cost_add(&t->total[i], t->self[i]);
        wndl_cost_add(&t->total[parent], t->total[i]);
    }
}

static bool make_stacks(
    struct stacks *t, const struct wndl_symbolized *s, struct wndl_arena *arena)
{
    const struct wndl_profile *p = s->profile;
    size_t n = p->nodes.len;
    *t = (struct stacks){
        .s = s,
        .count = (uint32_t)n,
        .first_child = wndl_arena_calloc(arena, n, sizeof(uint32_t)),
        .next_sibling = wndl_arena_calloc(arena, n, sizeof(uint32_t)),
        .self = wndl_arena_calloc(arena, n, sizeof(struct wndl_cost)),
        .total = wndl_arena_calloc(arena, n, sizeof(struct wndl_cost)),
    };
    if (t->first_child == NULL || t->next_sibling == NULL || t->self == NULL ||
        t->total == NULL)
        return false;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++)
        wndl_cost_add(&t->self[samples[i].node], cost_of_sample(&samples[i]));
    link_nodes(t);
    return true;
}

/* ---- self and total by key */

static const struct wndl_span *span_of(const struct stacks *t, uint32_t node)
{
    return wndl_vec_at(&t->s->spans, node_at(t, node)->frame);
}

static uint32_t key_at(const struct stacks *t, const struct keys *keys,
    const struct wndl_span *span, uint32_t i)
{
    const uint32_t *location =
        wndl_vec_at(&t->s->frame_locations, span->first + i);
    return keys->key_of[*location];
}

static void enter(const struct stacks *t, const struct keys *keys,
    struct sums *sums, uint32_t node)
{
    const struct wndl_span *span = span_of(t, node);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t key = key_at(t, keys, span, i);
        if (key == WNDL_NO_INDEX)
            continue;
        if (i == 0)
            wndl_cost_add(&sums->rows[key].self, t->self[node]);
        if (sums->open[key]++ == 0)
            wndl_cost_add(&sums->rows[key].total, t->total[node]);
    }
}

static void leave(const struct stacks *t, const struct keys *keys,
    struct sums *sums, uint32_t node)
{
    const struct wndl_span *span = span_of(t, node);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t key = key_at(t, keys, span, i);
        if (key != WNDL_NO_INDEX)
            sums->open[key]--;
    }
}

/* Down and up again over all nodes, without a stack: by parents. */
static void walk(
    const struct stacks *t, const struct keys *keys, struct sums *sums)
{
    uint32_t node = t->first_child[0];
    while (node != 0) {
        enter(t, keys, sums, node);
        if (t->first_child[node] != 0) {
            node = t->first_child[node];
            continue;
        }
        leave(t, keys, sums, node);
        while (t->next_sibling[node] == 0) {
            node = node_at(t, node)->parent;
            if (node == 0)
                return;
            leave(t, keys, sums, node);
        }
        node = t->next_sibling[node];
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
    walk(t, keys, &sums);
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
    default:
        return location->function;
    }
}

/* The vDSO is an image without a file: nobody can do anything about it. */
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
 * One key for a line whether it was inlined or not: that of the first such
 * location. Locations are distinct by these fields and `inlined`, and the
 * twin is found through the map.
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

static bool make_keys(struct keys *keys, const struct wndl_symbolized *s,
    enum wndl_view view, struct wndl_arena *arena)
{
    size_t locations = s->locations.len;
    size_t counts[] = {
        [WNDL_BY_FUNCTION] = s->functions.len,
        [WNDL_BY_LINE] = locations,
        [WNDL_BY_MODULE] = s->modules.len,
        [WNDL_BY_THREAD] = 0,
    };
    keys->count = (uint32_t)counts[view];
    keys->key_of = wndl_arena_calloc(arena, locations, sizeof(uint32_t));
    if (keys->key_of == NULL)
        return false;
    for (uint32_t i = 0; i < locations; i++)
        keys->key_of[i] = key_of_location(s, view, i);
    return view != WNDL_BY_LINE || merge_twins(s, keys, arena);
}

/* ---- rows that do not come from stacks */

static bool sum_by_thread(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    size_t threads = p->threads.len;
    size_t processes = p->processes.len;
    if (!wndl_vec_reserve(&r->threads, threads) ||
        !wndl_vec_reserve(&r->processes, processes))
        return false;
    for (uint32_t i = 0; i < threads; i++)
        ((struct wndl_row *)wndl_vec_push(&r->threads))->key = i;
    for (uint32_t i = 0; i < processes; i++)
        ((struct wndl_row *)wndl_vec_push(&r->processes))->key = i;
    struct wndl_row *by_thread = r->threads.data;
    struct wndl_row *by_process = r->processes.data;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++)
        wndl_cost_add(
            &by_thread[samples[i].thread].self, cost_of_sample(&samples[i]));
    for (uint32_t i = 0; i < threads; i++) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        by_thread[i].total = by_thread[i].self;
        wndl_cost_add(&r->all, by_thread[i].self);
        wndl_cost_add(&by_process[thread->process].self, by_thread[i].self);
        wndl_cost_add(&by_process[thread->process].total, by_thread[i].self);
    }
    return true;
}

static void judge_quality(struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    struct wndl_quality *q = &r->quality;
    for (unsigned i = 0; i < WNDL_WALK_ENDS; i++)
        q->kept += p->ends[i];
    q->overruns = p->lost[WNDL_LOST_OVERRUN];
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++)
        q->dropped += i == WNDL_LOST_OVERRUN ? 0 : p->lost[i];
    q->complete = p->ends[WNDL_WALK_COMPLETE];
    q->truncated = p->ends[WNDL_WALK_TRUNCATED];
    q->guessed = p->ends[WNDL_WALK_FP_ROOT];
    q->lost = q->kept - q->complete - q->truncated - q->guessed;
}

/* ---- order */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Most self first, then most total; the rest is for the same order always. */
static int compare_rows(const void *a, const void *b)
{
    const struct wndl_row *x = a, *y = b;
    int order = compare_u64(y->self.samples, x->self.samples);
    if (order == 0)
        order = compare_u64(y->total.samples, x->total.samples);
    return order != 0 ? order : compare_u64(x->key, y->key);
}

static int compare_by_total(const void *a, const void *b)
{
    const struct wndl_row *x = a, *y = b;
    int order = compare_u64(y->total.samples, x->total.samples);
    return order != 0 ? order : compare_u64(x->key, y->key);
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
        wndl_arena_calloc(&r->arena, locations, sizeof(uint32_t)),
        (uint32_t)s->modules.len,
    };
    if (keys.key_of == NULL)
        return false;
    for (uint32_t i = 0; i < locations; i++)
        keys.key_of[i] = unnamed_module(s, i);
    return sum_by_key(t, &keys, &r->unnamed);
}

static bool sum_view(struct wndl_report *r, const struct stacks *t)
{
    if (r->view == WNDL_BY_THREAD) {
        struct wndl_row *rows = r->threads.data;
        bool kept = true;
        for (size_t i = 0; i < r->threads.len && kept; i++)
            kept = keep_row(&r->rows, &rows[i]);
        return kept;
    }
    struct keys keys;
    return make_keys(&keys, r->symbolized, r->view, &r->arena) &&
           sum_by_key(t, &keys, &r->rows);
}

bool wndl_report_fill(struct wndl_report *r, const struct wndl_symbolized *s,
    enum wndl_view view, struct wndl_mem *mem)
{
    *r = (struct wndl_report){.symbolized = s, .view = view};
    wndl_arena_init(&r->arena, mem);
    wndl_vec_init(&r->rows, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->threads, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->processes, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->unnamed, &r->arena, sizeof(struct wndl_row));
    wndl_vec_init(&r->tree.nodes, &r->arena, sizeof(struct wndl_calltree_node));
    judge_quality(r);
    struct stacks stacks;
    if (!make_stacks(&stacks, s, &r->arena) || !sum_by_thread(r) ||
        !sum_unnamed(r, &stacks) || !sum_view(r, &stacks))
        return false;
    sort_rows(&r->rows, compare_rows);
    sort_rows(&r->threads, compare_rows);
    sort_rows(&r->processes, compare_rows);
    sort_rows(&r->unnamed, compare_by_total);
    return true;
}

void wndl_report_free(struct wndl_report *r)
{
    wndl_arena_free(&r->arena);
}
