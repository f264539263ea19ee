/* SPDX-License-Identifier: MIT */
#include "model/memory_tree.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char unclassified[] = "explicit/heap-unclassified";

struct building {
    struct wndl_memory_tree *tree;
    struct wndl_intern paths; /* "UNIT PATH"; the number of the node */
    struct wndl_buf key;
};

/* ---- nodes */

/* The node of the first `size` bytes of a path below `parent`. */
static uint32_t node_of(struct building *b, const struct wndl_reported *row,
    size_t size, uint32_t parent, size_t name_at)
{
    uint32_t number;
    wndl_buf_clear(&b->key);
    wndl_buf_byte(&b->key, (uint8_t)('0' + row->unit));
    wndl_buf_add(&b->key, row->path.data, size);
    if (b->key.failed ||
        !wndl_intern_add(
            &b->paths, (struct wndl_bytes){b->key.data, b->key.size}, &number))
        return 0;
    if (number - 1 < b->tree->nodes.len)
        return number;
    struct wndl_memory_node *node = wndl_vec_push(&b->tree->nodes);
    if (node == NULL)
        return 0;
    node->path = (struct wndl_bytes){row->path.data, size};
    node->name = (struct wndl_bytes){row->path.data + name_at, size - name_at};
    node->description = (struct wndl_bytes){(const uint8_t *)"", 0};
    node->parent = parent;
    node->unit = row->unit;
    return number;
}

/* Adds a report to the node of its path. False if memory is out. */
static bool add_row(struct building *b, const struct wndl_reported *row)
{
    uint32_t node = 0;
    size_t at = 0;
    for (unsigned depth = 1; at <= row->path.size; depth++) {
        size_t end = at;
        while (end < row->path.size &&
               (row->path.data[end] != '/' || depth == WNDL_MEMORY_DEPTH_MAX))
            end++;
        node = node_of(b, row, end, node, at);
        if (node == 0)
            return false;
        at = end + 1;
    }
    struct wndl_memory_node *leaf = wndl_vec_at(&b->tree->nodes, node - 1);
    if (leaf->reports++ == 0) {
        leaf->description = row->description;
        leaf->presence = row->presence;
    }
    leaf->amount = wndl_reported_sum(leaf->amount, row->amount);
    leaf->is_estimated |= row->is_estimated;
    return true;
}

/* ---- what is not reported */

/* The heap of one process. */
struct heap {
    int64_t allocated, reported;
    bool is_known, is_estimated, is_classified;
};

static void add_to_heap(struct heap *heap, const struct wndl_reported *row)
{
    if (row->unit != WNDL_REPORTED_BYTES)
        return;
    if (wndl_bytes_is(row->path, "heap-allocated")) {
        heap->allocated = wndl_reported_sum(heap->allocated, row->amount);
        heap->is_estimated |= row->is_estimated;
        heap->is_known = true;
    }
    if (row->kind == WNDL_REPORTED_HEAP &&
        wndl_bytes_start_with(row->path, "explicit/")) {
        heap->reported = wndl_reported_sum(heap->reported, row->amount);
        heap->is_estimated |= row->is_estimated;
    }
    heap->is_classified |= wndl_bytes_is(row->path, unclassified);
}

static bool add_unclassified(struct building *b, const struct heap *heap)
{
    static const char description[] =
        "Memory of the heap that no reporter accounts for: heap-allocated "
        "minus the heap of all reports.";
    if (!heap->is_known || heap->is_classified)
        return true;
    const int64_t reported =
        heap->reported == INT64_MIN ? INT64_MAX : -heap->reported;
    const struct wndl_reported row = {
        .kind = WNDL_REPORTED_HEAP,
        .amount = wndl_reported_sum(heap->allocated, reported),
        .is_estimated = heap->is_estimated,
        .path = {(const uint8_t *)unclassified, sizeof unclassified - 1},
        .description = {(const uint8_t *)description, sizeof description - 1},
    };
    return add_row(b, &row);
}

static bool add_rows(struct building *b,
    const struct wndl_memory_reports *reports, uint32_t process,
    struct heap *heaps)
{
    for (size_t i = 0; i < reports->rows.len; i++) {
        const struct wndl_reported *row = wndl_vec_at(&reports->rows, i);
        if (process != WNDL_MEMORY_ALL && row->process != process)
            continue;
        if (process == WNDL_MEMORY_ALL && row->unit == WNDL_REPORTED_PERCENTAGE)
            continue; /* which have no sum */
        add_to_heap(&heaps[row->process], row);
        if (!add_row(b, row))
            return false;
    }
    return true;
}

/* ---- the order */

static void sum_up(struct wndl_memory_tree *tree)
{
    for (size_t i = tree->nodes.len; i > 0; i--) {
        const struct wndl_memory_node *node =
            wndl_memory_node_at(tree, (uint32_t)i);
        if (node->parent == 0)
            continue;
        struct wndl_memory_node *parent =
            wndl_vec_at(&tree->nodes, node->parent - 1);
        parent->amount = wndl_reported_sum(parent->amount, node->amount);
        parent->is_estimated |= node->is_estimated;
        parent->first = (uint32_t)i; /* any, until they are in order */
    }
}

/* A node in the order of its siblings. */
struct placed {
    const struct wndl_memory_node *node;
    uint32_t number;
};

static int compare_names(struct wndl_bytes a, struct wndl_bytes b)
{
    const size_t size = a.size < b.size ? a.size : b.size;
    const int order = size == 0 ? 0 : memcmp(a.data, b.data, size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Roots: "explicit", those with children, the others by name. */
static int rank_root(const struct wndl_memory_node *root)
{
    if (root->first == 0)
        return 2;
    return wndl_bytes_is(root->name, "explicit") &&
                   root->unit == WNDL_REPORTED_BYTES
               ? 0
               : 1;
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *p = a, *q = b;
    const struct wndl_memory_node *x = p->node, *y = q->node;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->parent == 0 && rank_root(x) != rank_root(y))
        return rank_root(x) - rank_root(y);
    const uint64_t m = wndl_memory_size(x->amount);
    const uint64_t n = wndl_memory_size(y->amount);
    if (x->parent != 0 && m != n)
        return m > n ? -1 : 1;
    const int order = compare_names(x->name, y->name);
    return order != 0 ? order
                      : (p->number > q->number) - (p->number < q->number);
}

/* Links siblings in order. False if memory is out. */
static bool link_nodes(struct wndl_memory_tree *tree, struct wndl_arena *arena)
{
    const size_t count = tree->nodes.len;
    struct placed *all = wndl_arena_calloc(arena, count + 1, sizeof *all);
    if (all == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct placed){wndl_vec_at(&tree->nodes, i), (uint32_t)i + 1};
    qsort(all, count, sizeof *all, compare_placed);
    for (size_t i = count; i > 0; i--) {
        struct wndl_memory_node *node =
            wndl_vec_at(&tree->nodes, all[i - 1].number - 1);
        struct wndl_memory_node *parent =
            node->parent == 0 ? NULL
                              : wndl_vec_at(&tree->nodes, node->parent - 1);
        const bool is_last = i == count || all[i].node->parent != node->parent;
        node->next = is_last ? 0 : all[i].number;
        if (parent != NULL)
            parent->first = all[i - 1].number;
        else
            tree->first = all[i - 1].number;
    }
    return true;
}

bool wndl_memory_tree_build(struct wndl_memory_tree *tree,
    const struct wndl_memory_reports *reports, uint32_t process,
    struct wndl_arena *arena)
{
    const uint32_t processes = wndl_intern_count(&reports->processes);
    struct building b = {.tree = tree};
    struct heap *heaps = wndl_arena_calloc(arena, processes, sizeof *heaps);
    *tree = (struct wndl_memory_tree){.is_difference = reports->is_difference};
    wndl_vec_init(&tree->nodes, arena, sizeof(struct wndl_memory_node));
    wndl_buf_init(&b.key, arena->mem);
    bool fine = heaps != NULL && wndl_intern_init(&b.paths, arena) &&
                add_rows(&b, reports, process, heaps);
    for (uint32_t i = 0; i < processes && fine; i++)
        fine = add_unclassified(&b, &heaps[i]);
    wndl_buf_free(&b.key);
    sum_up(tree);
    return fine && link_nodes(tree, arena);
}
