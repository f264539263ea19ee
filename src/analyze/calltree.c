/* SPDX-License-Identifier: MIT */
#include "analyze/calltree.h"

#include <stdlib.h>
#include <string.h>

/* Which label the stacks of a sample hang below. */
enum trunk { TRUNK_WHOLE, TRUNK_TRUNCATED, TRUNK_LOST, TRUNK_NO_STACK, TRUNKS };

struct builder {
    struct wndl_calltree *tree;
    struct wndl_symbolized *s;
    enum wndl_calltree_shape shape;
    struct wndl_arena scratch;
    struct wndl_map children;  /* (parent, key and kind) -> node */
    struct wndl_map built;     /* (trunk, stack node) -> tree node */
    struct wndl_vec path;      /* uint32_t: stack nodes still to be built */
    uint32_t *trunk_of_thread; /* TRUNKS for each: tree node + 1, 0 unknown */
    bool with_threads;
};

static struct wndl_calltree_node *at(const struct builder *b, uint32_t node)
{
    return wndl_vec_at(&b->tree->nodes, node);
}

static bool child_of(struct builder *b, uint32_t parent,
    enum wndl_calltree_kind kind, uint32_t key, uint32_t *node)
{
    /* One bit for the kind: there are fewer than 2^31 functions or names. */
    uint64_t *slot = wndl_map_put(
        &b->children, (uint64_t)parent << 32 | key << 1 | (uint32_t)kind);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        struct wndl_calltree_node *fresh = wndl_vec_push(&b->tree->nodes);
        if (fresh == NULL || b->tree->nodes.len >= WNDL_NO_INDEX)
            return false;
        fresh->parent = parent;
        fresh->key = key;
        fresh->kind = (uint8_t)kind;
        *slot = b->tree->nodes.len - 1;
    }
    *node = (uint32_t)*slot;
    return true;
}

static bool label_of(
    struct builder *b, struct wndl_bytes text, uint32_t parent, uint32_t *node)
{
    uint32_t id;
    return wndl_intern_add(&b->s->strings, text, &id) &&
           child_of(b, parent, WNDL_TREE_LABEL, id, node);
}

/* ---- what stacks hang below */

/* Whether any process has two threads; false too when memory is out, as
 * `*failed` says. */
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

static enum trunk trunk_of_sample(const struct wndl_sample *sample)
{
    if (sample->node == 0)
        return TRUNK_NO_STACK;
    switch (sample->end) {
    case WNDL_WALK_COMPLETE:
    case WNDL_WALK_FP_ROOT:
        return TRUNK_WHOLE;
    case WNDL_WALK_TRUNCATED:
        return TRUNK_TRUNCATED;
    default:
        return TRUNK_LOST;
    }
}

static bool make_trunk(
    struct builder *b, uint32_t thread_index, enum trunk trunk, uint32_t *node)
{
    static const char *const labels[TRUNKS] = {
        NULL, "[truncated]", "[lost]", "[no stack]"};
    const struct wndl_profile *p = b->s->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, thread_index);
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, thread->process);
    *node = 0;
    if (b->shape == WNDL_TREE_FOR_FOLDING &&
        !label_of(b, wndl_path_name(process->executable), *node, node))
        return false;
    if (b->with_threads && !label_of(b, thread->name, *node, node))
        return false;
    if (labels[trunk] == NULL)
        return true;
    struct wndl_bytes label = {
        (const uint8_t *)labels[trunk], strlen(labels[trunk])};
    return label_of(b, label, *node, node);
}

static bool find_trunk(
    struct builder *b, const struct wndl_sample *sample, uint32_t *node)
{
    enum trunk trunk = trunk_of_sample(sample);
    uint32_t *known = &b->trunk_of_thread[sample->thread * TRUNKS + trunk];
    if (*known == 0) {
        if (!make_trunk(b, sample->thread, trunk, node))
            return false;
        *known = *node + 1;
    }
    *node = *known - 1;
    return true;
}

/* ---- stacks */

/* The frame's locations as nodes below *node, the outermost first. */
static bool grow(struct builder *b, uint32_t stack_node, uint32_t *node)
{
    const struct wndl_symbolized *s = b->s;
    const struct wndl_node *from = wndl_vec_at(&s->profile->nodes, stack_node);
    const struct wndl_span *span = wndl_vec_at(&s->spans, from->frame);
    for (uint32_t i = span->count; i-- > 0;) {
        const struct wndl_location *location =
            wndl_symbolized_location(s, span, i);
        const struct wndl_function *function =
            wndl_vec_at(&s->functions, location->function);
        bool fold = b->shape == WNDL_TREE_FOR_FOLDING;
        if (!child_of(b, *node, WNDL_TREE_FRAME,
                fold ? function->name : location->function, node))
            return false;
        at(b, *node)->inlined |= location->inlined;
        at(b, *node)->called |= !location->inlined;
    }
    return true;
}

static uint64_t *built_slot(
    struct builder *b, uint32_t trunk, uint32_t stack_node)
{
    return wndl_map_put(&b->built, (uint64_t)trunk << 32 | stack_node);
}

/* Up to what is built already, then down again. */
static bool build_stack(
    struct builder *b, uint32_t trunk, uint32_t stack_node, uint32_t *node)
{
    *node = trunk;
    b->path.len = 0;
    while (stack_node != 0) {
        uint64_t *slot = built_slot(b, trunk, stack_node);
        if (slot == NULL)
            return false;
        if (*slot != 0) {
            *node = (uint32_t)*slot;
            break;
        }
        uint32_t *step = wndl_vec_push(&b->path);
        if (step == NULL)
            return false;
        *step = stack_node;
        const struct wndl_node *n =
            wndl_vec_at(&b->s->profile->nodes, stack_node);
        stack_node = n->parent;
    }
    for (size_t i = b->path.len; i-- > 0;) {
        uint32_t step = *(const uint32_t *)wndl_vec_at(&b->path, i);
        uint64_t *slot = built_slot(b, trunk, step);
        if (slot == NULL || !grow(b, step, node))
            return false;
        *slot = *node;
    }
    return true;
}

static bool add_samples(struct builder *b)
{
    const struct wndl_profile *p = b->s->profile;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++) {
        uint32_t trunk, node;
        if (!find_trunk(b, &samples[i], &trunk) ||
            !build_stack(b, trunk, samples[i].node, &node))
            return false;
        wndl_cost_add(
            &at(b, node)->self, (struct wndl_cost){1, samples[i].cpu});
    }
    return true;
}

static void sum_totals(struct builder *b)
{
    for (uint32_t i = (uint32_t)b->tree->nodes.len; i-- > 0;) {
        struct wndl_calltree_node *node = at(b, i);
        wndl_cost_add(&node->total, node->self);
        if (i != 0)
            wndl_cost_add(&at(b, node->parent)->total, node->total);
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
    const struct wndl_calltree_node *x = at(order->b, *(const uint32_t *)a);
    const struct wndl_calltree_node *y = at(order->b, *(const uint32_t *)b);
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    bool by_total = order->b->shape == WNDL_TREE_FOR_READING;
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

static bool order_siblings(struct builder *b)
{
    uint32_t count = (uint32_t)b->tree->nodes.len;
    uint32_t *sorted = wndl_arena_calloc(&b->scratch, count, sizeof *sorted);
    struct order order = {b, NULL};
    if (sorted == NULL || !rank_names(b, &order.rank_of_name))
        return false;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    /* Not the root, which is its own parent by number alone. */
    qsort_r(sorted + 1, count - 1, sizeof *sorted, compare_nodes, &order);
    for (uint32_t i = count; i-- > 1;) {
        struct wndl_calltree_node *node = at(b, sorted[i]);
        struct wndl_calltree_node *parent = at(b, node->parent);
        node->next_sibling = parent->first_child;
        parent->first_child = sorted[i];
    }
    return true;
}

static bool build(struct builder *b)
{
    size_t threads = b->s->profile->threads.len;
    bool failed = false;
    b->trunk_of_thread =
        wndl_arena_calloc(&b->scratch, threads, TRUNKS * sizeof(uint32_t));
    b->with_threads =
        b->shape == WNDL_TREE_FOR_FOLDING && has_process_of_threads(b, &failed);
    if (failed || b->trunk_of_thread == NULL ||
        wndl_vec_push(&b->tree->nodes) == NULL || !add_samples(b))
        return false;
    sum_totals(b);
    return order_siblings(b);
}

bool wndl_calltree_build(struct wndl_calltree *tree, struct wndl_symbolized *s,
    enum wndl_calltree_shape shape)
{
    struct builder b = {.tree = tree, .s = s, .shape = shape};
    wndl_arena_init(&b.scratch, s->arena.mem);
    wndl_map_init(&b.children, &b.scratch);
    wndl_map_init(&b.built, &b.scratch);
    wndl_vec_init(&b.path, &b.scratch, sizeof(uint32_t));
    bool built = build(&b);
    wndl_arena_free(&b.scratch);
    return built;
}
