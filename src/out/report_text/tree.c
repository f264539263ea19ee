/* SPDX-License-Identifier: MIT */
/*
 * report_text_tree: the call tree, root first. It moves to the right only where
 * it branches, so that deep stacks stay on the screen.
 */
#include "model/certainty.h"
#include "out/report_text/report_text.h"

#include <stdio.h>
#include <string.h>

/* The text for each branch that a line is in, and before its own node. */
struct strokes {
    const char *passing, *blank, *middle, *last;
};

static const struct strokes ascii = {"|  ", "   ", "|- ", "`- "};
static const struct strokes drawn = {"\xe2\x94\x82  ", "   ",
    "\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x94\xe2\x94\x80 "};

/* Columns of the strokes at the left: "passing" ones, or blank. */
struct tree {
    const struct wndl_text *t;
    struct strokes strokes;
    struct wndl_vec branches; /* bool: more siblings follow below */
    struct wndl_arena arena;
    double least; /* cost that a node must have */
};

static const struct wndl_calltree_node *node_at(
    const struct tree *tree, uint32_t index)
{
    return wndl_calltree_at(&tree->t->r->tree, index);
}

/* The first node from `index` on, along siblings, that is shown; or 0. */
static uint32_t first_shown(const struct tree *tree, uint32_t index)
{
    /*
     * Siblings are in order of total, so the first one that is too small ends
     * them.
     */
    if (index == 0 || (double)node_at(tree, index)->total.time < tree->least)
        return 0;
    return index;
}

static uint32_t first_child(const struct tree *tree, uint32_t index)
{
    return first_shown(tree, node_at(tree, index)->first_child);
}

static uint32_t next_sibling(const struct tree *tree, uint32_t index)
{
    return first_shown(tree, node_at(tree, index)->next_sibling);
}

/* Whether the node has siblings, and so is on a branch. */
static bool is_branch(const struct tree *tree, uint32_t index)
{
    uint32_t first = first_child(tree, node_at(tree, index)->parent);
    return first != index || next_sibling(tree, index) != 0;
}

static size_t draw_branches(const struct tree *tree, bool on_branch)
{
    struct wndl_buf *out = tree->t->out;
    size_t depth = tree->branches.len;
    const bool *more = tree->branches.data;
    for (size_t i = 0; i < depth; i++) {
        bool own = on_branch && i + 1 == depth;
        if (own)
            wndl_buf_text(
                out, more[i] ? tree->strokes.middle : tree->strokes.last);
        else
            wndl_buf_text(
                out, more[i] ? tree->strokes.passing : tree->strokes.blank);
    }
    return 3 * depth;
}

static void draw_function(
    const struct tree *tree, const struct wndl_calltree_node *node, size_t room)
{
    const struct wndl_text *t = tree->t;
    const struct wndl_symbolized *s = t->r->symbolized;
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, node->key);
    struct wndl_bytes name = wndl_intern_get(&s->strings, function->name);
    struct wndl_bytes module = wndl_text_module_name(t, function->module);
    struct wndl_bytes file =
        wndl_path_name(wndl_intern_get(&s->strings, function->file));
    struct wndl_buf place;
    wndl_buf_init(&place, t->out->mem);
    wndl_text_place(file, function->line, &place);
    const char *guessed = node->certainty == WNDL_GUESSED ? "~" : "";
    const char *mark = !node->inlined ? ""
                       : node->called ? " (partly inlined)"
                                      : " (inlined)";
    enum { AROUND = 6, LEAST = 16, GOOD = 40 };
    if (room != 0 && room < place.size + module.size + AROUND + GOOD)
        wndl_buf_clear(&place);
    size_t after =
        strlen(guessed) + module.size + place.size + AROUND + strlen(mark);
    size_t left = room == 0 ? 0 : room > after + LEAST ? room - after : LEAST;
    struct wndl_buf spelled;
    wndl_buf_init(&spelled, t->out->mem);
    wndl_buf_text(t->out, guessed);
    wndl_text_cut(t, wndl_text_name(t, name, left, &spelled), left);
    t->out->failed |= spelled.failed;
    wndl_buf_free(&spelled);
    wndl_buf_text(t->out, mark);
    wndl_text_spaces(t, place.size == 0 ? 0 : 2);
    wndl_buf_add(t->out, place.data, place.size);
    wndl_text_spaces(t, 2);
    wndl_text_module(t, module);
    t->out->failed |= place.failed;
    wndl_buf_free(&place);
}

static void draw_node(const struct tree *tree, uint32_t index, bool on_branch)
{
    enum { NUMBERS = 29 };
    const struct wndl_text *t = tree->t;
    const struct wndl_calltree_node *node = node_at(tree, index);
    char total[WNDL_NUMBER_SIZE];
    wndl_buf_printf(t->out, "%5.1f%% %11s  %5.1f%%  ",
        wndl_text_percent(t, node->total.time),
        wndl_text_cost_cell(t, node->total.time, total),
        wndl_text_percent(t, node->self.time));
    size_t used = NUMBERS + draw_branches(tree, on_branch);
    size_t width = t->layout->width;
    if (node->kind == WNDL_TREE_LABEL)
        wndl_text_cut(
            t, wndl_intern_get(&t->r->symbolized->strings, node->key), 0);
    else
        draw_function(tree, node,
            width == 0     ? 0
            : width > used ? width - used
                           : 1);
    wndl_buf_byte(t->out, '\n');
}

/* Draws a node, whose branch is then on the list. False when memory is out. */
static bool enter_node(struct tree *tree, uint32_t index)
{
    bool on_branch = is_branch(tree, index);
    if (on_branch) {
        bool *more = wndl_vec_push(&tree->branches);
        if (more == NULL)
            return false;
        *more = next_sibling(tree, index) != 0;
    }
    draw_node(tree, index, on_branch);
    return true;
}

static void leave_node(struct tree *tree, uint32_t index)
{
    if (is_branch(tree, index))
        tree->branches.len--;
}

/* Down and up by links, without recursion. */
static bool draw_nodes(struct tree *tree)
{
    uint32_t index = first_child(tree, 0);
    while (index != 0) {
        if (!enter_node(tree, index))
            return false;
        uint32_t child = first_child(tree, index);
        if (child != 0) {
            index = child;
            continue;
        }
        leave_node(tree, index);
        while (index != 0 && next_sibling(tree, index) == 0) {
            index = node_at(tree, index)->parent;
            if (index != 0)
                leave_node(tree, index);
        }
        index = index == 0 ? 0 : next_sibling(tree, index);
    }
    return true;
}

void wndl_text_tree(const struct wndl_text *t)
{
    struct tree tree = {.t = t, .strokes = t->layout->utf8 ? drawn : ascii};
    tree.least = t->layout->min_percent / 100 * (double)t->r->all.time;
    wndl_arena_init(&tree.arena, t->out->mem);
    wndl_vec_init(&tree.branches, &tree.arena, sizeof(bool));
    char kind[WNDL_NUMBER_SIZE];
    snprintf(kind, sizeof kind, "(%s)", wndl_text_time_kind(t));
    wndl_buf_printf(t->out, " total %11s    self  function\n", kind);
    if (!draw_nodes(&tree))
        t->out->failed = true;
    wndl_buf_printf(t->out, "Calls below %g%% are not shown: --min-percent\n",
        t->layout->min_percent);
    wndl_arena_free(&tree.arena);
}
