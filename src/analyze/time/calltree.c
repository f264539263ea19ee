/* SPDX-License-Identifier: MIT */
#include "analyze/time/calltree.h"

#include "analyze/heap/spans.h"
#include "model/certainty.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    struct wndl_calltree *tree;
    struct wndl_symbolized *s;
    enum wndl_calltree_shape shape;
    enum wndl_time time;
    struct wndl_arena scratch;
    struct wndl_map children;  /* (parent, key and kind) -> younger sibling */
    struct wndl_map built;     /* (trunk, stack node / PAGE) -> address of */
                               /* PAGE tree nodes */
    struct wndl_vec path;      /* struct step: the steps still to be built */
    uint32_t *trunk_of_thread; /* WNDL_LABELS each: tree node + 1, or 0 */
    bool with_threads;
    /* for heaps: the choice of blocks, */
    const struct wndl_heap_choice *choice;
    bool bytes; /* their bytes or their number */
    double carry;
};

struct step {
    uint32_t stack_node;
    uint32_t *built; /* a cache of its tree node */
};

static struct wndl_calltree_node *node_at(
    const struct builder *b, uint32_t node)
{
    return wndl_vec_at(&b->tree->nodes, node);
}

static bool add_child(struct builder *b, struct wndl_calltree_node child)
{
    struct wndl_calltree_node *fresh = wndl_vec_push(&b->tree->nodes);
    if (fresh == NULL || b->tree->nodes.len >= WNDL_NO_INDEX)
        return false;
    *fresh = child;
    return true;
}

/* Most nodes have one child: the first is found without the map. */
static bool child_of(struct builder *b, uint32_t parent,
    enum wndl_calltree_kind kind, uint32_t key, uint32_t *node)
{
    const struct wndl_calltree_node child = {
        .parent = parent, .key = key, .kind = (uint8_t)kind};
    uint32_t fresh = (uint32_t)b->tree->nodes.len;
    uint32_t eldest = node_at(b, parent)->first_child;
    *node = eldest == 0 ? fresh : eldest;
    if (eldest == 0) {
        node_at(b, parent)->first_child = fresh;
        return add_child(b, child);
    }
    if (node_at(b, eldest)->key == key &&
        node_at(b, eldest)->kind == child.kind)
        return true;
    /* One bit for the kind: there are fewer than 2^31 functions or names. */
    uint64_t *slot = wndl_map_put(
        &b->children, (uint64_t)parent << 32 | key << 1 | (uint32_t)kind);
    if (slot == NULL)
        return false;
    *node = *slot == 0 ? fresh : (uint32_t)*slot;
    *slot = *node;
    node_at(b, eldest)->next_sibling = *node; /* any child; the node has some */
    return *node != fresh || add_child(b, child);
}

static bool label_of(
    struct builder *b, struct wndl_bytes text, uint32_t parent, uint32_t *node)
{
    uint32_t id;
    return wndl_intern_add(&b->s->strings, text, &id) &&
           child_of(b, parent, WNDL_TREE_LABEL, id, node);
}

/* ---- the labels above stacks */

/*
 * Whether any process has two threads; false too when memory is out, which sets
 * `*failed`.
 */
static bool has_process_of_threads(struct builder *b, bool *failed)
{
    const struct wndl_profile *p = b->s->profile;
    const struct wndl_thread *threads = p->threads.data;
    bool *seen = wndl_arena_calloc(&b->scratch, p->processes.len, sizeof *seen);
    *failed = seen == NULL;
    for (size_t i = 0; i < p->threads.len && !*failed; i++) {
        if (seen[threads[i].process])
            return true;
        seen[threads[i].process] = true;
    }
    return false;
}

static bool make_trunk(struct builder *b, uint32_t thread_index,
    enum wndl_label label, uint32_t *node)
{
    const struct wndl_profile *p = b->s->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, thread_index);
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, thread->process);
    const char *text = wndl_label_text(label);
    *node = 0;
    if (b->shape == WNDL_TREE_FOR_FOLDING &&
        !label_of(b, wndl_path_name(process->executable), *node, node))
        return false;
    if (b->with_threads && !label_of(b, thread->name, *node, node))
        return false;
    return text == NULL ||
           label_of(b, (struct wndl_bytes){(const uint8_t *)text, strlen(text)},
               *node, node);
}

/* Finds the tree node above the stack of a sample or block. */
static bool find_trunk(
    struct builder *b, const struct wndl_cost_item *item, uint32_t *node)
{
    enum wndl_label label = wndl_cost_item_label(item);
    uint32_t *known =
        &b->trunk_of_thread[(size_t)item->thread * WNDL_LABELS + label];
    if (*known == 0) {
        if (!make_trunk(b, item->thread, label, node))
            return false;
        *known = *node + 1;
    }
    *node = *known - 1;
    return true;
}

/* ---- stacks */

/* The frame's locations as nodes below *node, the outermost first. */
static bool grow_node(struct builder *b, uint32_t stack_node, uint32_t *node)
{
    const struct wndl_symbolized *s = b->s;
    const struct wndl_node *from = wndl_vec_at(&s->profile->nodes, stack_node);
    const struct wndl_span *span = wndl_vec_at(&s->spans, from->frame);
    const struct wndl_frame_key *frame =
        wndl_vec_at(&s->profile->frames, from->frame);
    const enum wndl_certainty certainty = wndl_certainty_of_how(frame->how);
    for (uint32_t i = span->count; i-- > 0;) {
        const struct wndl_location *location =
            wndl_symbolized_location(s, span, i);
        const struct wndl_function *function =
            wndl_vec_at(&s->functions, location->function);
        bool fold = b->shape == WNDL_TREE_FOR_FOLDING;
        if (!child_of(b, *node, WNDL_TREE_FRAME,
                fold ? function->name : location->function, node))
            return false;
        node_at(b, *node)->inlined |= location->inlined;
        node_at(b, *node)->called |= !location->inlined;
        if (certainty > node_at(b, *node)->certainty)
            node_at(b, *node)->certainty = (uint8_t)certainty;
    }
    return true;
}

/* Nodes of a stack have numbers near each other, and so share pages. */
static uint32_t *built_slot(
    struct builder *b, uint32_t trunk, uint32_t stack_node)
{
    enum { PAGE = 64 };
    uint64_t *page =
        wndl_map_put(&b->built, (uint64_t)trunk << 32 | stack_node / PAGE);
    if (page != NULL && *page == 0)
        *page =
            (uintptr_t)wndl_arena_calloc(&b->scratch, PAGE, sizeof(uint32_t));
    return page == NULL || *page == 0
               ? NULL
               : (uint32_t *)(uintptr_t)*page + stack_node % PAGE;
}

/* Goes up to a node that exists in the tree, and builds from there down. */
static bool build_stack(
    struct builder *b, uint32_t trunk, uint32_t stack_node, uint32_t *node)
{
    *node = trunk;
    b->path.len = 0;
    while (stack_node != 0) {
        struct step *step = wndl_vec_push(&b->path);
        uint32_t *built = built_slot(b, trunk, stack_node);
        if (step == NULL || built == NULL)
            return false;
        *step = (struct step){stack_node, built};
        if (*built != 0) {
            *node = *built;
            b->path.len--;
            break;
        }
        const struct wndl_node *n =
            wndl_vec_at(&b->s->profile->nodes, stack_node);
        stack_node = n->parent;
    }
    for (size_t i = b->path.len; i-- > 0;) {
        const struct step *step = wndl_vec_at(&b->path, i);
        if (!grow_node(b, step->stack_node, node))
            return false;
        *step->built = *node;
    }
    return true;
}

static bool add_stacks(struct builder *b)
{
    struct wndl_cost_item item;
    size_t next = 0;
    while (wndl_costs_next(b->s->profile, b->time, &next, &item)) {
        uint32_t trunk, node;
        if (!find_trunk(b, &item, &trunk) ||
            !build_stack(b, trunk, item.node, &node))
            return false;
        wndl_cost_add(&node_at(b, node)->self, item.cost);
    }
    return true;
}

static void sum_totals(struct builder *b)
{
    for (uint32_t i = (uint32_t)b->tree->nodes.len; i-- > 0;) {
        struct wndl_calltree_node *node = node_at(b, i);
        wndl_cost_add(&node->total, node->self);
        if (i != 0)
            wndl_cost_add(&node_at(b, node->parent)->total, node->total);
    }
}

/* ---- order of siblings */

struct order {
    const struct builder *b;
    uint32_t *rank_of_name; /* by id, in the order of their bytes */
};

static int compare_names(const void *a, const void *b, void *context)
{
    const struct wndl_intern *strings = context;
    struct wndl_bytes x = wndl_intern_get(strings, *(const uint32_t *)a);
    struct wndl_bytes y = wndl_intern_get(strings, *(const uint32_t *)b);
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

static bool rank_names(struct builder *b, uint32_t **ranks)
{
    const struct wndl_intern *strings = &b->s->strings;
    uint32_t count = wndl_intern_count(strings);
    uint32_t *ids = wndl_arena_calloc(&b->scratch, count, sizeof *ids);
    *ranks = wndl_arena_calloc(&b->scratch, count, sizeof **ranks);
    if (ids == NULL || *ranks == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ids[i] = i;
    qsort_r(ids, count, sizeof *ids, compare_names, (void *)strings);
    for (uint32_t i = 0; i < count; i++)
        (*ranks)[ids[i]] = i;
    return true;
}

static uint32_t name_of(
    const struct builder *b, const struct wndl_calltree_node *node)
{
    if (node->kind == WNDL_TREE_LABEL || b->shape == WNDL_TREE_FOR_FOLDING)
        return node->key;
    const struct wndl_function *function =
        wndl_vec_at(&b->s->functions, node->key);
    return function->name;
}

static int compare_nodes(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct wndl_calltree_node *x =
        node_at(order->b, *(const uint32_t *)a);
    const struct wndl_calltree_node *y =
        node_at(order->b, *(const uint32_t *)b);
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    bool by_total = order->b->shape == WNDL_TREE_FOR_READING;
    if (by_total && x->total.time != y->total.time)
        return x->total.time > y->total.time ? -1 : 1;
    if (by_total && x->total.samples != y->total.samples)
        return x->total.samples > y->total.samples ? -1 : 1;
    uint32_t name_x = order->rank_of_name[name_of(order->b, x)];
    uint32_t name_y = order->rank_of_name[name_of(order->b, y)];
    if (name_x != name_y)
        return name_x < name_y ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* The nodes that have siblings, without their links. */
static uint32_t pick_siblings(struct builder *b, uint32_t *picked)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < b->tree->nodes.len; i++) {
        uint32_t eldest = node_at(b, node_at(b, i)->parent)->first_child;
        if (eldest != i || node_at(b, i)->next_sibling != 0)
            picked[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        node_at(b, node_at(b, picked[i])->parent)->first_child = 0;
        node_at(b, picked[i])->next_sibling = 0;
    }
    return count;
}

static bool order_siblings(struct builder *b)
{
    uint32_t *sorted =
        wndl_arena_calloc(&b->scratch, b->tree->nodes.len, sizeof *sorted);
    struct order order = {b, NULL};
    if (sorted == NULL || !rank_names(b, &order.rank_of_name))
        return false;
    uint32_t count = pick_siblings(b, sorted);
    qsort_r(sorted, count, sizeof *sorted, compare_nodes, &order);
    for (uint32_t i = count; i-- > 0;) {
        struct wndl_calltree_node *node = node_at(b, sorted[i]);
        struct wndl_calltree_node *parent = node_at(b, node->parent);
        node->next_sibling = parent->first_child;
        parent->first_child = sorted[i];
    }
    return true;
}

static bool build_times(struct builder *b)
{
    size_t threads = b->s->profile->threads.len;
    bool failed = false;
    b->trunk_of_thread =
        wndl_arena_calloc(&b->scratch, threads, WNDL_LABELS * sizeof(uint32_t));
    b->with_threads =
        b->shape == WNDL_TREE_FOR_FOLDING && has_process_of_threads(b, &failed);
    if (failed || b->trunk_of_thread == NULL ||
        wndl_vec_push(&b->tree->nodes) == NULL || !add_stacks(b))
        return false;
    sum_totals(b);
    return order_siblings(b);
}

static bool build_by(struct builder *b, struct wndl_calltree *tree,
    struct wndl_symbolized *s, bool (*build_all)(struct builder *b))
{
    b->tree = tree;
    b->s = s;
    wndl_arena_init(&b->scratch, s->arena.mem);
    wndl_map_init(&b->children, &b->scratch);
    wndl_map_init(&b->built, &b->scratch);
    wndl_vec_init(&b->path, &b->scratch, sizeof(struct step));
    bool built = build_all(b);
    wndl_arena_free(&b->scratch);
    return built;
}

bool wndl_calltree_build(struct wndl_calltree *tree, struct wndl_symbolized *s,
    enum wndl_calltree_shape shape, enum wndl_time time)
{
    struct builder b = {.shape = shape, .time = time};
    return build_by(&b, tree, s, build_times);
}

/* ---- heaps */

/* Uses the walk's end as for a sample: missing parts have the same labels. */
static bool find_heap_trunk(struct builder *b,
    const struct wndl_process_heap *heap, const struct wndl_alloc_site *site,
    uint32_t *node)
{
    const struct wndl_process *process =
        wndl_vec_at(&b->s->profile->processes, heap->process);
    const struct wndl_cost_item item = {.node = site->node, .end = site->end};
    const char *text = wndl_label_text(wndl_cost_item_label(&item));
    *node = 0;
    return label_of(b, wndl_path_name(process->executable), *node, node) &&
           (text == NULL ||
               label_of(b,
                   (struct wndl_bytes){(const uint8_t *)text, strlen(text)},
                   *node, node));
}

static bool add_site(struct builder *b, const struct wndl_process_heap *heap,
    const struct wndl_alloc_counts *counts)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&heap->sites, counts->site);
    uint64_t count = wndl_heap_count(counts, b->choice->set);
    double value = (double)count * wndl_alloc_weight(heap, site);
    if (b->bytes)
        value *= (double)site->requested + (double)site->slop;
    struct wndl_cost cost = {
        .samples = count, .time = wndl_take_whole(value, &b->carry)};
    uint32_t trunk, node;
    if (cost.time == 0)
        return true;
    if (!find_heap_trunk(b, heap, site, &trunk) ||
        !build_stack(b, trunk, site->node, &node))
        return false;
    wndl_cost_add(&node_at(b, node)->self, cost);
    return true;
}

static bool add_heap(struct builder *b, const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    bool chosen = wndl_heap_chosen(b->s->profile, heap, b->choice);
    for (size_t i = 0; i < heap->counts.len && chosen; i++) {
        if (!add_site(b, heap, &counts[i]))
            return false;
    }
    return true;
}

static bool build_heaps(struct builder *b)
{
    const struct wndl_process_heap *heaps = b->s->profile->heaps.data;
    if (wndl_vec_push(&b->tree->nodes) == NULL)
        return false;
    for (size_t i = 0; i < b->s->profile->heaps.len; i++) {
        if (!add_heap(b, &heaps[i]))
            return false;
    }
    sum_totals(b);
    return order_siblings(b);
}

bool wndl_calltree_build_heap(struct wndl_calltree *tree,
    struct wndl_symbolized *s, const struct wndl_heap_choice *choice,
    bool bytes)
{
    struct builder b = {
        .shape = WNDL_TREE_FOR_FOLDING, .choice = choice, .bytes = bytes};
    return build_by(&b, tree, s, build_heaps);
}
