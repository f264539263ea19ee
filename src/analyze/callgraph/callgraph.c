/* SPDX-License-Identifier: MIT */
#include "analyze/callgraph/callgraph.h"

#include <string.h>

/* A recording has so many kinds of costs at most. */
enum { KINDS = 4 };

/* The costs of stacks with one node and one label. */
struct ended {
    uint32_t node;
    uint32_t label; /* enum wndl_label */
    uint64_t costs[KINDS];
    uint64_t count;
};

struct adder {
    struct wndl_callgraph *g;
    const struct wndl_symbolized *s;
    struct wndl_arena scratch;
    uint32_t event_of[KINDS];    /* the graph's */
    unsigned kinds;              /* that are in use */
    struct wndl_vec ended;       /* struct ended, in order of appearance */
    struct wndl_map ended_index; /* node and label -> index + 1 */
    uint32_t *function_of;       /* by the recording's function: + 1, or 0 */
    uint32_t *place_of;          /* by its location: + 1, or 0 */
    uint32_t *label_place;       /* by enum wndl_label: + 1, or 0 */
    struct wndl_vec path;        /* uint32_t: places, the innermost first */
};

static bool begin_adding(
    struct adder *a, struct wndl_callgraph *g, const struct wndl_symbolized *s)
{
    *a = (struct adder){.g = g, .s = s};
    wndl_arena_init(&a->scratch, g->arena.mem);
    wndl_vec_init(&a->ended, &a->scratch, sizeof(struct ended));
    wndl_vec_init(&a->path, &a->scratch, sizeof(uint32_t));
    wndl_map_init(&a->ended_index, &a->scratch);
    a->function_of =
        wndl_arena_calloc(&a->scratch, s->functions.len + 1, sizeof(uint32_t));
    a->place_of =
        wndl_arena_calloc(&a->scratch, s->locations.len + 1, sizeof(uint32_t));
    a->label_place =
        wndl_arena_calloc(&a->scratch, WNDL_LABELS, sizeof(uint32_t));
    return a->function_of != NULL && a->place_of != NULL &&
           a->label_place != NULL;
}

static struct ended *ended_at(struct adder *a, uint32_t node, uint32_t label)
{
    uint64_t *slot =
        wndl_map_put(&a->ended_index, (uint64_t)label << 32 | node);
    if (slot == NULL)
        return NULL;
    if (*slot == 0) {
        struct ended *fresh = wndl_vec_push(&a->ended);
        if (fresh == NULL)
            return NULL;
        fresh->node = node;
        fresh->label = label;
        *slot = a->ended.len;
    }
    return wndl_vec_at(&a->ended, *slot - 1);
}

/* ---- names */

static bool copy_text(struct adder *a, uint32_t from, uint32_t *to)
{
    return wndl_intern_add(
        &a->g->strings, wndl_intern_get(&a->s->strings, from), to);
}

static bool find_function(struct adder *a, uint32_t index, uint32_t *function)
{
    if (a->function_of[index] == 0) {
        const struct wndl_function *from = wndl_vec_at(&a->s->functions, index);
        const struct wndl_module *module =
            wndl_vec_at(&a->s->modules, from->module);
        struct wndl_callgraph_function f = {.line = from->line};
        if (!copy_text(a, from->name, &f.name) ||
            !copy_text(a, from->file, &f.file) ||
            !copy_text(a, module->path, &f.object) ||
            !wndl_callgraph_function(a->g, f, function))
            return false;
        a->function_of[index] = *function + 1;
    }
    *function = a->function_of[index] - 1;
    return true;
}

static bool find_place(struct adder *a, uint32_t location, uint32_t *place)
{
    if (a->place_of[location] == 0) {
        const struct wndl_location *from =
            wndl_vec_at(&a->s->locations, location);
        struct wndl_callgraph_place p = {.line = from->line};
        if (!find_function(a, from->function, &p.function) ||
            !copy_text(a, from->file, &p.file))
            return false;
        if (p.file == 0)
            p.file = wndl_callgraph_function_at(a->g, p.function)->file;
        if (!wndl_callgraph_place(a->g, p, place))
            return false;
        a->place_of[location] = *place + 1;
    }
    *place = a->place_of[location] - 1;
    return true;
}

static bool find_label(struct adder *a, enum wndl_label label, uint32_t *place)
{
    if (a->label_place[label] == 0) {
        struct wndl_callgraph_function f = {0};
        struct wndl_callgraph_place p = {0};
        if (!wndl_callgraph_text(a->g, wndl_label_text(label), &f.name) ||
            !wndl_callgraph_function(a->g, f, &p.function) ||
            !wndl_callgraph_place(a->g, p, place))
            return false;
        a->label_place[label] = *place + 1;
    }
    *place = a->label_place[label] - 1;
    return true;
}

/* ---- stacks */

static bool push_place(struct adder *a, uint32_t place)
{
    uint32_t *slot = wndl_vec_push(&a->path);
    if (slot != NULL)
        *slot = place;
    return slot != NULL;
}

static bool push_frame(struct adder *a, uint32_t frame)
{
    const struct wndl_span *span = wndl_vec_at(&a->s->spans, frame);
    const uint32_t *locations = a->s->frame_locations.data;
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t place;
        if (!find_place(a, locations[span->first + i], &place) ||
            !push_place(a, place))
            return false;
    }
    return true;
}

static bool trace_stack(struct adder *a, const struct ended *ended)
{
    a->path.len = 0;
    for (uint32_t node = ended->node; node != 0;) {
        const struct wndl_node *n = wndl_vec_at(&a->s->profile->nodes, node);
        if (!push_frame(a, n->frame))
            return false;
        node = n->parent;
    }
    uint32_t place;
    return ended->label == WNDL_LABEL_NONE ||
           (find_label(a, ended->label, &place) && push_place(a, place));
}

static void reverse_path(struct wndl_vec *path)
{
    uint32_t *places = path->data;
    for (size_t i = 0; i < path->len / 2; i++) {
        uint32_t place = places[i];
        places[i] = places[path->len - 1 - i];
        places[path->len - 1 - i] = place;
    }
}

static enum wndl_status add_ended(struct adder *a, const struct ended *ended)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    if (!trace_stack(a, ended))
        return WNDL_NOMEM;
    reverse_path(&a->path);
    for (unsigned i = 0; i < a->kinds; i++)
        costs[a->event_of[i]] = ended->costs[i];
    const struct wndl_callgraph_stack stack = {.places = a->path.data,
        .count = a->path.len,
        .costs = costs,
        .stacks = ended->count};
    return wndl_callgraph_add_stack(a->g, &stack);
}

static enum wndl_status add_stacks(struct adder *a)
{
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < a->ended.len && status == WNDL_OK; i++)
        status = add_ended(a, wndl_vec_at(&a->ended, i));
    return status;
}

/* A kind of cost, by the event of that name. */
static enum wndl_status add_kind(
    struct adder *a, const char *name, const char *text, unsigned *kind)
{
    struct wndl_bytes bytes = {(const uint8_t *)name, strlen(name)};
    *kind = a->kinds++;
    return wndl_callgraph_event(a->g, bytes, text, &a->event_of[*kind]);
}

/* Adds up to UINT64_MAX, which the graph then refuses. */
static void add_cost(uint64_t *cost, uint64_t more)
{
    if (__builtin_add_overflow(*cost, more, cost))
        *cost = UINT64_MAX;
}

/* ---- time */

enum { ON_CPU, BLOCKED, WAITING, SEEN, TIME_KINDS };

_Static_assert(TIME_KINDS <= (int)KINDS, "there is room for all");

static const struct {
    const char *name, *text;
} time_events[TIME_KINDS] = {
    [ON_CPU] = {"CPU", "ns on a CPU"},
    [BLOCKED] = {"Blocked", "ns blocked"},
    [WAITING] = {"Waiting", "ns waiting for a CPU"},
    [SEEN] = {"Samples", "how often it was seen"},
};

static bool is_of(enum wndl_time time, unsigned event)
{
    return event == SEEN || time == WNDL_TIME_WALL ||
           event == (time == WNDL_TIME_CPU ? ON_CPU : BLOCKED);
}

static enum wndl_status add_time_kinds(
    struct adder *a, enum wndl_time time, unsigned kinds[TIME_KINDS])
{
    enum wndl_status status = WNDL_OK;
    for (unsigned i = 0; i < TIME_KINDS && status == WNDL_OK; i++) {
        if (is_of(time, i))
            status = add_kind(
                a, time_events[i].name, time_events[i].text, &kinds[i]);
    }
    return status;
}

static bool sum_time(
    struct adder *a, enum wndl_time time, const unsigned kinds[TIME_KINDS])
{
    struct wndl_cost_item item;
    size_t samples = a->s->profile->samples.len, at = 0;
    while (wndl_costs_next(a->s->profile, time, &at, &item)) {
        struct ended *ended =
            ended_at(a, item.node, wndl_cost_item_label(&item));
        if (ended == NULL)
            return false;
        unsigned kind = at <= samples  ? ON_CPU
                        : item.waiting ? WAITING
                                       : BLOCKED;
        add_cost(&ended->costs[kinds[kind]], item.cost.time);
        ended->costs[kinds[SEEN]] += item.cost.samples;
        ended->count += item.cost.samples;
    }
    return true;
}

enum wndl_status wndl_callgraph_add_time(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, enum wndl_time time)
{
    struct adder a;
    unsigned kinds[TIME_KINDS] = {0};
    enum wndl_status status = begin_adding(&a, g, s) ? WNDL_OK : WNDL_NOMEM;
    if (status == WNDL_OK)
        status = add_time_kinds(&a, time, kinds);
    if (status == WNDL_OK)
        status = sum_time(&a, time, kinds) ? add_stacks(&a) : WNDL_NOMEM;
    wndl_arena_free(&a.scratch);
    return status;
}

/* ---- heaps */

struct heap_kinds {
    unsigned bytes, blocks;
    double bytes_left, blocks_left; /* of estimates, for the next */
};

static enum wndl_status add_heap_kinds(
    struct adder *a, bool bytes, struct heap_kinds *kinds)
{
    enum wndl_status status = WNDL_OK;
    for (int i = 0; i < 2 && status == WNDL_OK; i++) {
        if ((i == 0) == bytes)
            status = add_kind(a, "Bytes", "usable bytes", &kinds->bytes);
        else
            status = add_kind(a, "Blocks", "blocks", &kinds->blocks);
    }
    return status;
}

/* Rounds down; the remainder goes to the next value. */
static uint64_t take_whole(double value, double *left)
{
    value += *left;
    bool sane = value < 1e18;
    uint64_t whole = sane ? (uint64_t)value : (uint64_t)1e18;
    *left = sane ? value - (double)whole : 0;
    return whole;
}

static bool sum_site(struct adder *a, const struct wndl_process_heap *heap,
    const struct wndl_alloc_counts *counts, uint64_t count,
    struct heap_kinds *kinds)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&heap->sites, counts->site);
    const struct wndl_cost_item item = {.node = site->node, .end = site->end};
    double blocks = (double)count * wndl_alloc_weight(heap, site);
    double size = (double)site->requested + (double)site->slop;
    struct ended *ended = ended_at(a, site->node, wndl_cost_item_label(&item));
    if (ended == NULL)
        return false;
    add_cost(&ended->costs[kinds->bytes],
        take_whole(blocks * size, &kinds->bytes_left));
    add_cost(
        &ended->costs[kinds->blocks], take_whole(blocks, &kinds->blocks_left));
    add_cost(&ended->count, count);
    return true;
}

static bool sum_heap(struct adder *a, const struct wndl_process_heap *heap,
    const struct wndl_heap_choice *choice, struct heap_kinds *kinds)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    for (size_t i = 0; i < heap->counts.len; i++) {
        uint64_t count = wndl_heap_count(&counts[i], choice->set);
        if (count != 0 && !sum_site(a, heap, &counts[i], count, kinds))
            return false;
    }
    return true;
}

static bool sum_heaps(struct adder *a, const struct wndl_heap_choice *choice,
    struct heap_kinds *kinds)
{
    const struct wndl_profile *p = a->s->profile;
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (wndl_heap_chosen(p, &heaps[i], choice) &&
            !sum_heap(a, &heaps[i], choice, kinds))
            return false;
    }
    return true;
}

enum wndl_status wndl_callgraph_add_heap(struct wndl_callgraph *g,
    const struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes)
{
    struct adder a;
    struct heap_kinds kinds = {0};
    enum wndl_status status = begin_adding(&a, g, s) ? WNDL_OK : WNDL_NOMEM;
    if (status == WNDL_OK)
        status = add_heap_kinds(&a, bytes, &kinds);
    if (status == WNDL_OK)
        status = sum_heaps(&a, choice, &kinds) ? add_stacks(&a) : WNDL_NOMEM;
    wndl_arena_free(&a.scratch);
    return status;
}
