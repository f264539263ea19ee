/* SPDX-License-Identifier: MIT */
#include "analyze/time/diff.h"

#include "analyze/time/node_walk.h"

#include <string.h>

struct cost {
    double cost, variance;
};

/* A recording that is being added. */
struct adder {
    struct wndl_diff *d;
    const struct wndl_symbolized *s;
    struct wndl_diff_recording *to;
    struct wndl_arena scratch;
    struct cost *of[WNDL_LABELS]; /* by node, of those labels that occur */
    uint32_t *text_of;            /* by id of the symbols' strings: ours + 1 */
    uint32_t *key_of;             /* by location: its key */
    struct cost *total;           /* by node, of all labels */
    uint32_t *open;               /* by key: how often it is on the path */
};

static bool add_cost(
    struct adder *a, unsigned label, uint32_t node, const struct cost *cost)
{
    if (a->of[label] == NULL)
        a->of[label] = wndl_arena_calloc(
            &a->scratch, a->s->profile->nodes.len, sizeof(struct cost));
    if (a->of[label] == NULL)
        return false;
    a->of[label][node].cost += cost->cost;
    a->of[label][node].variance += cost->variance;
    return true;
}

static bool put_cost(struct adder *a, uint32_t key, enum wndl_diff_cost which,
    const struct cost *cost)
{
    struct wndl_diff_sum *sum = wndl_diff_sum(a->to, key);
    if (sum == NULL)
        return false;
    sum->cost[which] += cost->cost;
    sum->variance[which] += cost->variance;
    return true;
}

static bool put_both(struct adder *a, uint32_t key, const struct cost *cost)
{
    return put_cost(a, key, WNDL_DIFF_SELF, cost) &&
           put_cost(a, key, WNDL_DIFF_TOTAL, cost);
}

/* ---- names */

static bool text_of(struct adder *a, struct wndl_bytes text, uint32_t *id)
{
    return wndl_intern_add(&a->d->strings, text, id);
}

/* A string of the symbols', which most frames share. */
static bool copy_text(struct adder *a, uint32_t from, uint32_t *id)
{
    uint32_t *known = &a->text_of[from];
    if (*known == 0) {
        if (!text_of(a, wndl_intern_get(&a->s->strings, from), id))
            return false;
        *known = *id + 1;
    }
    *id = *known - 1;
    return true;
}

static bool key_of_label(struct adder *a, unsigned label, uint32_t *key)
{
    const char *text = wndl_label_text((enum wndl_label)label);
    struct wndl_diff_key k = {0};
    *key = 0;
    return text == NULL ||
           (text_of(a, (struct wndl_bytes){(const uint8_t *)text, strlen(text)},
                &k.name) &&
               wndl_diff_key(a->d, &k, key));
}

static bool key_of_location(struct adder *a, uint32_t caller,
    const struct wndl_location *location, uint32_t *key)
{
    const struct wndl_function *function =
        wndl_vec_at(&a->s->functions, location->function);
    const struct wndl_module *module =
        wndl_vec_at(&a->s->modules, function->module);
    enum wndl_diff_key_kind by = a->d->by;
    struct wndl_diff_key k = {.caller = caller};
    if (by == WNDL_DIFF_BY_MODULE)
        return copy_text(a, module->name, &k.name) &&
               wndl_diff_key(a->d, &k, key);
    if (!copy_text(a, function->name, &k.name) ||
        !copy_text(a, module->name, &k.module))
        return false;
    if (by == WNDL_DIFF_BY_LINE) {
        k.line = location->line;
        if (!text_of(a,
                wndl_path_name(wndl_intern_get(&a->s->strings, location->file)),
                &k.file))
            return false;
    }
    return wndl_diff_key(a->d, &k, key);
}

/* ---- keys of code */

static const struct wndl_span *span_of(const struct adder *a, uint32_t node)
{
    const struct wndl_node *n = wndl_vec_at(&a->s->profile->nodes, node);
    return wndl_vec_at(&a->s->spans, n->frame);
}

static uint32_t key_at(
    const struct adder *a, const struct wndl_span *span, uint32_t i)
{
    const uint32_t *location =
        wndl_vec_at(&a->s->frame_locations, span->first + i);
    return a->key_of[*location];
}

static bool make_keys(struct adder *a)
{
    const struct wndl_symbolized *s = a->s;
    a->key_of =
        wndl_arena_calloc(&a->scratch, s->locations.len, sizeof(uint32_t));
    if (a->key_of == NULL)
        return false;
    for (size_t i = 0; i < s->locations.len; i++) {
        if (!key_of_location(
                a, 0, wndl_vec_at(&s->locations, i), &a->key_of[i]))
            return false;
    }
    uint32_t keys = wndl_intern_count(&a->d->keys);
    a->open = wndl_arena_calloc(&a->scratch, keys, sizeof(uint32_t));
    /* Rows exist for all keys now, so a walk cannot fail. */
    return a->open != NULL && wndl_diff_sum(a->to, keys - 1) != NULL;
}

static struct cost self_of(const struct adder *a, uint32_t node)
{
    struct cost sum = {0};
    for (unsigned i = 0; i < WNDL_LABELS; i++) {
        if (a->of[i] == NULL)
            continue;
        sum.cost += a->of[i][node].cost;
        sum.variance += a->of[i][node].variance;
    }
    return sum;
}

static bool sum_totals(struct adder *a)
{
    size_t count = a->s->profile->nodes.len;
    a->total = wndl_arena_calloc(&a->scratch, count, sizeof(struct cost));
    if (a->total == NULL)
        return false;
    for (uint32_t i = (uint32_t)count; i-- > 1;) {
        const struct wndl_node *n = wndl_vec_at(&a->s->profile->nodes, i);
        struct cost self = self_of(a, i);
        a->total[i].cost += self.cost;
        a->total[i].variance += self.variance;
        a->total[n->parent].cost += a->total[i].cost;
        a->total[n->parent].variance += a->total[i].variance;
    }
    return true;
}

static void enter_node(void *context, uint32_t node)
{
    struct adder *a = context;
    const struct wndl_span *span = span_of(a, node);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t key = key_at(a, span, i);
        struct cost self = self_of(a, node);
        if (i == 0)
            (void)put_cost(a, key, WNDL_DIFF_SELF, &self);
        if (a->open[key]++ == 0)
            (void)put_cost(a, key, WNDL_DIFF_TOTAL, &a->total[node]);
    }
}

static void leave_node(void *context, uint32_t node)
{
    struct adder *a = context;
    const struct wndl_span *span = span_of(a, node);
    for (uint32_t i = 0; i < span->count; i++)
        a->open[key_at(a, span, i)]--;
}

/* Costs without a stack have a row of their own. */
static bool sum_without(struct adder *a)
{
    for (unsigned i = 0; i < WNDL_LABELS; i++) {
        uint32_t key;
        if (a->of[i] == NULL || a->of[i][0].cost <= 0)
            continue;
        if (!key_of_label(a, i, &key) || !put_both(a, key, &a->of[i][0]))
            return false;
    }
    return true;
}

static bool sum_by_location(struct adder *a)
{
    struct wndl_node_walk walk;
    if (!make_keys(a) || !sum_totals(a) ||
        !wndl_node_walk_init(&walk, a->s->profile, &a->scratch))
        return false;
    const struct wndl_node_visitor visitor = {enter_node, leave_node, a};
    wndl_node_walk(&walk, &visitor);
    return sum_without(a);
}

/* ---- by path */

/* Marks the nodes on the way to those that have a cost. */
static bool *used_by(struct adder *a, const struct cost *of)
{
    size_t count = a->s->profile->nodes.len;
    bool *used = wndl_arena_calloc(&a->scratch, count, sizeof *used);
    for (uint32_t i = (uint32_t)count; used != NULL && i-- > 1;) {
        const struct wndl_node *n = wndl_vec_at(&a->s->profile->nodes, i);
        used[i] |= of[i].cost > 0;
        used[n->parent] |= used[i];
    }
    return used;
}

static bool extend_path(struct adder *a, uint32_t node, uint32_t *key)
{
    const struct wndl_span *span = span_of(a, node);
    for (uint32_t i = span->count; i-- > 0;) {
        if (!key_of_location(
                a, *key, wndl_symbolized_location(a->s, span, i), key))
            return false;
    }
    return true;
}

static bool sum_label_by_path(struct adder *a, unsigned label)
{
    const struct cost *of = a->of[label];
    size_t count = a->s->profile->nodes.len;
    bool *used = used_by(a, of);
    uint32_t *path = wndl_arena_calloc(&a->scratch, count, sizeof *path);
    if (used == NULL || path == NULL || !key_of_label(a, label, &path[0]))
        return false;
    if (of[0].cost > 0 && !put_cost(a, path[0], WNDL_DIFF_SELF, &of[0]))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        const struct wndl_node *n = wndl_vec_at(&a->s->profile->nodes, i);
        if (!used[i])
            continue;
        path[i] = path[n->parent];
        if (!extend_path(a, i, &path[i]) ||
            !put_cost(a, path[i], WNDL_DIFF_SELF, &of[i]))
            return false;
    }
    return true;
}

/* A key's number is larger than that of its caller. */
static bool sum_by_path(struct adder *a)
{
    for (unsigned i = 0; i < WNDL_LABELS; i++) {
        if (a->of[i] != NULL && !sum_label_by_path(a, i))
            return false;
    }
    for (size_t i = a->to->sums.len; i-- > 1;) {
        struct wndl_diff_sum *sum = wndl_vec_at(&a->to->sums, i);
        uint32_t caller = wndl_diff_key_at(a->d, (uint32_t)i).caller;
        struct wndl_diff_sum *above = wndl_vec_at(&a->to->sums, caller);
        sum->cost[WNDL_DIFF_TOTAL] += sum->cost[WNDL_DIFF_SELF];
        sum->variance[WNDL_DIFF_TOTAL] += sum->variance[WNDL_DIFF_SELF];
        if (caller == 0) /* which was summed up before */
            continue;
        above->cost[WNDL_DIFF_TOTAL] += sum->cost[WNDL_DIFF_TOTAL];
        above->variance[WNDL_DIFF_TOTAL] += sum->variance[WNDL_DIFF_TOTAL];
    }
    return true;
}

/* ---- costs */

static bool add_time_by_thread(
    struct adder *a, const struct wndl_cost_item *item, const struct cost *cost)
{
    const struct wndl_thread *thread =
        wndl_vec_at(&a->s->profile->threads, item->thread);
    uint32_t *known = &a->key_of[item->thread];
    struct wndl_diff_key k = {0};
    if (*known == 0 &&
        (!text_of(a, thread->name, &k.name) || !wndl_diff_key(a->d, &k, known)))
        return false;
    return put_both(a, *known, cost);
}

static bool add_time(struct adder *a, const struct wndl_cost_item *item)
{
    double time = (double)item->cost.time;
    struct cost cost = {time, time * time};
    a->to->count++;
    if (!put_cost(a, 0, WNDL_DIFF_TOTAL, &cost))
        return false;
    return a->d->by == WNDL_DIFF_BY_THREAD
               ? add_time_by_thread(a, item, &cost)
               : add_cost(a, wndl_cost_item_label(item), item->node, &cost);
}

static double size_of(
    const struct wndl_alloc_site *site, enum wndl_heap_sort what)
{
    switch (what) {
    case WNDL_HEAP_BY_REQUESTED:
        return (double)site->requested;
    case WNDL_HEAP_BY_SLOP:
        return (double)site->slop;
    case WNDL_HEAP_BY_BLOCKS:
        return 1;
    default:
        return (double)site->requested + (double)site->slop;
    }
}

/*
 * A block that is sampled with p = 1 / weight gives an estimate of their number
 * with the variance (1-p)/p^2.
 */
static bool add_site(struct adder *a, const struct wndl_process_heap *heap,
    const struct wndl_alloc_counts *counts,
    const struct wndl_heap_choice *choice)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&heap->sites, counts->site);
    uint64_t taken = wndl_heap_count(counts, choice->set);
    double weight = wndl_alloc_weight(heap, site);
    double size = size_of(site, choice->grouping.sort);
    struct cost cost = {(double)taken * weight * size,
        (double)taken * weight * (weight - 1) * size * size};
    const struct wndl_cost_item item = {.node = site->node, .end = site->end};
    a->to->count += taken;
    return put_cost(a, 0, WNDL_DIFF_TOTAL, &cost) &&
           add_cost(a, wndl_cost_item_label(&item), site->node, &cost);
}

static bool add_heaps(struct adder *a, const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = a->s->profile;
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_alloc_counts *counts = heaps[i].counts.data;
        if (!wndl_heap_chosen(p, &heaps[i], choice))
            continue;
        for (size_t k = 0; k < heaps[i].counts.len; k++) {
            if (!add_site(a, &heaps[i], &counts[k], choice))
                return false;
        }
    }
    return true;
}

static bool begin_adding(
    struct adder *a, struct wndl_diff *d, const struct wndl_symbolized *s)
{
    *a = (struct adder){
        .d = d,
        .s = s,
        .to = wndl_vec_at(&d->recordings, d->recordings.len - 1),
    };
    wndl_arena_init(&a->scratch, d->arena.mem);
    a->text_of = wndl_arena_calloc(
        &a->scratch, wndl_intern_count(&s->strings), sizeof(uint32_t));
    if (d->by == WNDL_DIFF_BY_THREAD)
        a->key_of = wndl_arena_calloc(
            &a->scratch, s->profile->threads.len, sizeof(uint32_t));
    return a->text_of != NULL &&
           (d->by != WNDL_DIFF_BY_THREAD || a->key_of != NULL);
}

static bool sum_stacks(struct adder *a)
{
    switch (a->d->by) {
    case WNDL_DIFF_BY_THREAD:
        return true;
    case WNDL_DIFF_BY_PATH:
        return sum_by_path(a);
    default:
        return sum_by_location(a);
    }
}

bool wndl_diff_add_time(
    struct wndl_diff *d, const struct wndl_symbolized *s, enum wndl_time time)
{
    static const char *const times[] = {"CPU", "blocked", "wall"};
    struct adder a;
    struct wndl_cost_item item;
    d->unit = WNDL_DIFF_NS;
    d->what = times[time];
    d->of_samples = true;
    bool added = begin_adding(&a, d, s);
    for (size_t at = 0; added && wndl_costs_next(s->profile, time, &at, &item);)
        added = add_time(&a, &item);
    added = added && sum_stacks(&a);
    wndl_arena_free(&a.scratch);
    return added;
}

bool wndl_diff_add_heap(struct wndl_diff *d, const struct wndl_symbolized *s,
    const struct wndl_heap_choice *choice)
{
    struct adder a;
    d->unit = choice->grouping.sort == WNDL_HEAP_BY_BLOCKS ? WNDL_DIFF_BLOCKS
                                                           : WNDL_DIFF_BYTES;
    d->what = wndl_heap_set_name(choice->set);
    bool added =
        begin_adding(&a, d, s) && add_heaps(&a, choice) && sum_stacks(&a);
    wndl_arena_free(&a.scratch);
    return added;
}
