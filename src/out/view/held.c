/* SPDX-License-Identifier: MIT */
/* view_held: who holds the blocks of a heap, and what would be freed with
 * whom. */
#include "out/view/view.h"

#include <string.h>

enum { NAME_SIZE = 64 };

/* Bits of the column `how`. */
enum { IS_ROOT = 1, CONSERVATIVE = 2, DIFFER = 4, REPEATS = 8, POINTERS = 16 };

/* A tree that is being added. */
struct tree {
    struct wndl_view_writer *w;
    const struct wndl_heap_holders *holders;
    const struct wndl_vec *nodes; /* struct wndl_held_node */
    const char *name;
    size_t heap;       /* number in the page */
    uint64_t *numbers; /* room for a column */
};

typedef uint64_t value_of(
    const struct tree *t, const struct wndl_held_node *node);

static uint64_t parent_of(
    const struct tree *t, const struct wndl_held_node *node)
{
    (void)t;
    return node->parent;
}

static uint64_t place_of(
    const struct tree *t, const struct wndl_held_node *node)
{
    return wndl_view_string(
        t->w, wndl_intern_get(&t->holders->strings, node->place));
}

static uint64_t blocks_of(
    const struct tree *t, const struct wndl_held_node *node)
{
    (void)t;
    return node->blocks;
}

static uint64_t bytes_of(
    const struct tree *t, const struct wndl_held_node *node)
{
    (void)t;
    return node->bytes;
}

static uint64_t offset_of(
    const struct tree *t, const struct wndl_held_node *node)
{
    (void)t;
    return node->offset;
}

static uint64_t how_of(const struct tree *t, const struct wndl_held_node *node)
{
    (void)t;
    return (node->is_root ? IS_ROOT : 0u) |
           (node->conservative * 2 > node->pointers ? CONSERVATIVE : 0u) |
           (node->offsets_differ ? DIFFER : 0u) |
           (node->repeats ? REPEATS : 0u) |
           (node->pointers != 0 ? POINTERS : 0u);
}

static void add_column(
    const struct tree *t, const char *column, value_of *value)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < t->nodes->len; i++)
        t->numbers[i] = value(t, wndl_vec_at(t->nodes, i));
    snprintf(name, sizeof name, "heap%zu.%s.%s", t->heap, t->name, column);
    wndl_view_numbers(&t->w->columns, name, t->numbers, t->nodes->len, false);
}

static void add_tree(struct tree *t)
{
    t->numbers =
        wndl_arena_calloc(&t->w->arena, t->nodes->len + 1, sizeof *t->numbers);
    if (t->numbers == NULL) {
        t->w->failed = true;
        return;
    }
    add_column(t, "parent", parent_of);
    add_column(t, "place", place_of);
    add_column(t, "blocks", blocks_of);
    add_column(t, "bytes", bytes_of);
    add_column(t, "offset", offset_of);
    add_column(t, "how", how_of);
}

void wndl_view_add_held(struct wndl_view_writer *w, size_t number,
    const struct wndl_heap_holders *holders)
{
    struct tree retained = {.w = w,
        .holders = holders,
        .nodes = &holders->retained,
        .name = "retained",
        .heap = number};
    struct tree chains = retained;
    chains.nodes = &holders->chains;
    chains.name = "chains";
    add_tree(&retained);
    add_tree(&chains);
}
