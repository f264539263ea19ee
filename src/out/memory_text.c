/* SPDX-License-Identifier: MIT */
#include "out/memory_text.h"

#include "base/text.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACROSS "\xe2\x94\x80"                         /* U+2500 */
#define BRANCH "\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80" /* U+251C */
#define CORNER "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80" /* U+2514 */
#define PASSES "\xe2\x94\x82  "                       /* U+2502 */

enum { VALUE_SIZE = 48 };

/* ---- amounts */

/* "1,234,567" */
static size_t format_digits(char *text, int64_t amount)
{
    char plain[24];
    const int size =
        snprintf(plain, sizeof plain, "%" PRIu64, wndl_memory_size(amount));
    char *to = text;
    if (amount < 0)
        *to++ = '-';
    for (int i = 0; i < size; i++) {
        *to++ = plain[i];
        if (i + 1 < size && (size - i - 1) % 3 == 0)
            *to++ = ',';
    }
    *to = '\0';
    return (size_t)(to - text);
}

static void format_value(char text[VALUE_SIZE], int64_t amount,
    const struct wndl_memory_node *node, bool exact)
{
    const double mebibyte = 1024 * 1024;
    char *to = text;
    if (node->is_estimated)
        *to++ = '~';
    const size_t left = (size_t)(text + VALUE_SIZE - to);
    if (node->unit == WNDL_REPORTED_PERCENTAGE) {
        snprintf(to, left, "%.2f%%", (double)amount / 100);
    } else if (node->unit != WNDL_REPORTED_BYTES) {
        format_digits(to, amount);
    } else if (exact) {
        to += format_digits(to, amount);
        snprintf(to, (size_t)(text + VALUE_SIZE - to), " B");
    } else {
        snprintf(to, left, "%.2f MiB", (double)amount / mebibyte);
    }
}

/* ---- trees */

struct writer {
    struct wndl_buf *out;
    struct wndl_buf prefix; /* the strokes of the branches that go on */
    const struct wndl_memory_tree *tree;
    int64_t total; /* of this tree */
    bool verbose;
    bool exact; /* bytes */
};

/* Where a node stands. */
struct place {
    size_t parent_width; /* of the parent's value */
    bool is_root, is_last;
};

static bool is_tiny(const struct writer *w, int64_t amount)
{
    return !w->verbose && wndl_memory_size(amount) <
                              wndl_memory_size(w->total) / 100 +
                                  (wndl_memory_size(w->total) % 100 != 0);
}

static void put_share(const struct writer *w, int64_t amount)
{
    if (w->total == 0)
        return;
    const double share = 100 * (double)amount / (double)w->total;
    if (amount == w->total)
        wndl_buf_text(w->out, " (100.0%)");
    else
        wndl_buf_printf(w->out, " (%05.2f%%)", share);
}

static void put_name(
    const struct writer *w, const struct wndl_memory_node *node)
{
    static const char *const presences[] = {"", " [-]", " [+]"};
    if (node->name.size == 0)
        wndl_buf_text(w->out, "(no name)");
    for (size_t at = 0; at < node->name.size;) { /* '\' stands for '/' */
        size_t end = at;
        while (end < node->name.size && node->name.data[end] != '\\')
            end++;
        wndl_utf8_plain(
            w->out, (struct wndl_bytes){node->name.data + at, end - at});
        if (end < node->name.size)
            wndl_buf_byte(w->out, '/');
        at = end + 1;
    }
    if (node->reports > 1)
        wndl_buf_printf(w->out, " (%" PRIu64 ")", node->reports);
    wndl_buf_text(w->out, presences[node->presence]);
    if (w->verbose && node->description.size != 0) {
        wndl_buf_text(w->out, ": ");
        wndl_utf8_plain(w->out, node->description);
    }
}

/* The strokes before a value, and what its children have there. */
static void put_strokes(
    struct writer *w, const struct place *place, size_t width)
{
    size_t more = place->parent_width > width ? place->parent_width - width : 0;
    wndl_buf_add(w->out, w->prefix.data, w->prefix.size);
    if (place->is_root)
        return;
    wndl_buf_text(w->out, place->is_last ? CORNER : BRANCH);
    wndl_buf_text(&w->prefix, place->is_last ? "   " : PASSES);
    for (; more > 0; more--) {
        wndl_buf_text(w->out, ACROSS);
        wndl_buf_byte(&w->prefix, ' ');
    }
}

/* A line for several small children. */
static void put_rest(struct writer *w, int64_t amount, uint64_t count,
    const struct wndl_memory_node *of, size_t width)
{
    char value[VALUE_SIZE];
    format_value(value, amount, of, w->exact);
    const struct place place = {width, false, true};
    put_strokes(w, &place, strlen(value));
    wndl_buf_text(w->out, value);
    put_share(w, amount);
    wndl_buf_printf(w->out, " ++ (%" PRIu64 " tiny)\n", count);
}

static void put_node(
    struct writer *w, uint32_t number, const struct place *place);

static void put_children(
    struct writer *w, const struct wndl_memory_node *node, size_t width)
{
    uint64_t count = 0;
    int64_t rest = 0;
    for (uint32_t i = node->first; i != 0;
         i = wndl_memory_node_at(w->tree, i)->next) {
        const int64_t amount = wndl_memory_node_at(w->tree, i)->amount;
        if (is_tiny(w, amount)) {
            rest = wndl_reported_sum(rest, amount);
            count++;
        }
    }
    for (uint32_t i = node->first; i != 0;) {
        const struct wndl_memory_node *child = wndl_memory_node_at(w->tree, i);
        const bool is_folded = count > 1 && is_tiny(w, child->amount);
        const struct place place = {width, false, child->next == 0};
        const size_t kept = w->prefix.size;
        if (is_folded)
            put_rest(w, rest, count, node, width);
        else
            put_node(w, i, &place);
        w->prefix.size = kept;
        i = is_folded ? 0 : child->next; /* the tiny ones are the last */
    }
}

static void put_node(
    struct writer *w, uint32_t number, const struct place *place)
{
    const struct wndl_memory_node *node = wndl_memory_node_at(w->tree, number);
    const bool is_open =
        node->first != 0 && (place->is_root || !is_tiny(w, node->amount));
    char value[VALUE_SIZE];
    format_value(value, node->amount, node, w->exact);
    put_strokes(w, place, strlen(value));
    wndl_buf_text(w->out, value);
    put_share(w, node->amount);
    wndl_buf_text(w->out, node->first == 0 ? " " ACROSS ACROSS " "
                          : is_open        ? " -- "
                                           : " ++ ");
    put_name(w, node);
    if (node->amount < 0 && !w->tree->is_difference)
        wndl_buf_text(w->out, " (?!)");
    wndl_buf_byte(w->out, '\n');
    if (is_open)
        put_children(w, node, strlen(value));
}

/* ---- a process */

static bool is_explicit(const struct wndl_memory_node *root)
{
    return root->first != 0 && root->unit == WNDL_REPORTED_BYTES &&
           wndl_bytes_is(root->name, "explicit");
}

static void put_tree(struct writer *w, uint32_t root)
{
    static const struct place place = {0, true, true};
    w->total = wndl_memory_node_at(w->tree, root)->amount;
    wndl_buf_clear(&w->prefix);
    put_node(w, root, &place);
    wndl_buf_byte(w->out, '\n');
}

/* The columns of the widest value of the roots from `first` on. */
static size_t find_width(const struct writer *w, uint32_t first)
{
    size_t most = 0;
    for (uint32_t i = first; i != 0;
         i = wndl_memory_node_at(w->tree, i)->next) {
        const struct wndl_memory_node *node = wndl_memory_node_at(w->tree, i);
        char value[VALUE_SIZE];
        format_value(value, node->amount, node, w->exact);
        most = strlen(value) > most ? strlen(value) : most;
    }
    return most;
}

static void put_list(struct writer *w, uint32_t first)
{
    const size_t width = find_width(w, first);
    for (uint32_t i = first; i != 0;
         i = wndl_memory_node_at(w->tree, i)->next) {
        const struct wndl_memory_node *node = wndl_memory_node_at(w->tree, i);
        char value[VALUE_SIZE];
        format_value(value, node->amount, node, w->exact);
        wndl_buf_printf(w->out, "%*s " ACROSS ACROSS " ", (int)width, value);
        put_name(w, node);
        wndl_buf_byte(w->out, '\n');
    }
    if (first != 0)
        wndl_buf_byte(w->out, '\n');
}

void wndl_memory_text_tree(struct wndl_buf *out,
    const struct wndl_memory_tree *tree, struct wndl_bytes title, bool verbose)
{
    struct writer w = {.out = out,
        .tree = tree,
        .verbose = verbose,
        .exact = verbose || tree->is_difference};
    uint32_t at = tree->first;
    wndl_buf_init(&w.prefix, out->mem);
    wndl_utf8_plain(out, title);
    wndl_buf_text(out, "\n\n");
    if (at != 0 && is_explicit(wndl_memory_node_at(tree, at))) {
        wndl_buf_text(out, "Explicit Allocations\n\n");
        put_tree(&w, at);
        at = wndl_memory_node_at(tree, at)->next;
    }
    if (at != 0)
        wndl_buf_text(out, "Other Measurements\n\n");
    for (; at != 0 && wndl_memory_node_at(tree, at)->first != 0;
         at = wndl_memory_node_at(tree, at)->next)
        put_tree(&w, at);
    put_list(&w, at);
    wndl_buf_text(out, "End of ");
    wndl_utf8_plain(out, title);
    wndl_buf_byte(out, '\n');
    out->failed |= w.prefix.failed;
    wndl_buf_free(&w.prefix);
}

/* ---- paths */

/* A path of several trees. */
struct line {
    struct wndl_memory_node node; /* of any tree that has it */
    const struct wndl_memory_node **of_trees;
    int64_t sum;
};

struct lines {
    struct wndl_intern keys; /* "UNIT PATH"; number - 1: index of the line */
    struct wndl_vec all;     /* struct line */
    struct wndl_buf key;
};

/* The amount of a node itself, without the parts below. */
static int64_t own_amount(
    const struct wndl_memory_tree *tree, const struct wndl_memory_node *node)
{
    int64_t below = 0;
    for (uint32_t i = node->first; i != 0;
         i = wndl_memory_node_at(tree, i)->next)
        below = wndl_reported_sum(below, wndl_memory_node_at(tree, i)->amount);
    return wndl_reported_sum(
        node->amount, below == INT64_MIN ? INT64_MAX : -below);
}

static struct line *line_of(
    struct lines *lines, const struct wndl_memory_node *node, size_t count)
{
    uint32_t number;
    wndl_buf_clear(&lines->key);
    wndl_buf_byte(&lines->key, (uint8_t)('0' + node->unit));
    wndl_buf_add(&lines->key, node->path.data, node->path.size);
    if (lines->key.failed ||
        !wndl_intern_add(&lines->keys,
            (struct wndl_bytes){lines->key.data, lines->key.size}, &number))
        return NULL;
    if (number - 1 < lines->all.len)
        return wndl_vec_at(&lines->all, number - 1);
    struct line *line = wndl_vec_push(&lines->all);
    if (line == NULL)
        return NULL;
    line->node = *node;
    line->node.is_estimated = false;
    line->of_trees = wndl_arena_calloc(
        lines->all.arena, count, sizeof(const struct wndl_memory_node *));
    return line->of_trees == NULL ? NULL : line;
}

static bool add_tree(struct lines *lines, const struct wndl_memory_tree *trees,
    size_t index, size_t count)
{
    const struct wndl_memory_tree *tree = &trees[index];
    for (size_t i = 0; i < tree->nodes.len; i++) {
        const struct wndl_memory_node *node = wndl_vec_at(&tree->nodes, i);
        if (node->reports == 0)
            continue;
        struct line *line = line_of(lines, node, count);
        if (line == NULL)
            return false;
        line->of_trees[index] = node;
        line->node.is_estimated |= node->is_estimated;
        line->sum = wndl_reported_sum(line->sum, own_amount(tree, node));
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->node.unit != y->node.unit)
        return x->node.unit < y->node.unit ? -1 : 1;
    const uint64_t m = wndl_memory_size(x->sum), n = wndl_memory_size(y->sum);
    if (m != n)
        return m > n ? -1 : 1;
    const size_t size = x->node.path.size < y->node.path.size
                            ? x->node.path.size
                            : y->node.path.size;
    const int order =
        size == 0 ? 0 : memcmp(x->node.path.data, y->node.path.data, size);
    return order != 0 ? order
                      : (x->node.path.size > y->node.path.size) -
                            (x->node.path.size < y->node.path.size);
}

static void put_line(struct wndl_buf *out, const struct line *line,
    const struct wndl_memory_tree *trees, size_t count, bool verbose)
{
    char value[VALUE_SIZE];
    for (size_t i = 0; i < count; i++) {
        const struct wndl_memory_node *node = line->of_trees[i];
        value[0] = '\0';
        if (node != NULL)
            format_value(value, own_amount(&trees[i], node), node, verbose);
        wndl_buf_printf(out, "%18s ", value);
    }
    if (count > 1) {
        value[0] = '\0';
        if (line->node.unit != WNDL_REPORTED_PERCENTAGE)
            format_value(value, line->sum, &line->node, verbose);
        wndl_buf_printf(out, "%18s ", value);
    }
    wndl_buf_byte(out, ' ');
    wndl_utf8_plain(out, line->node.path);
    wndl_buf_byte(out, '\n');
}

bool wndl_memory_text_flat(struct wndl_buf *out,
    const struct wndl_memory_tree *trees, size_t count, bool verbose,
    struct wndl_arena *arena)
{
    struct lines lines;
    bool fine = wndl_intern_init(&lines.keys, arena);
    wndl_vec_init(&lines.all, arena, sizeof(struct line));
    wndl_buf_init(&lines.key, arena->mem);
    for (size_t i = 0; i < count && fine; i++)
        fine = add_tree(&lines, trees, i, count);
    wndl_buf_free(&lines.key);
    if (fine && lines.all.len != 0)
        qsort(
            lines.all.data, lines.all.len, sizeof(struct line), compare_lines);
    for (size_t i = 0; i < lines.all.len && fine; i++)
        put_line(out, wndl_vec_at(&lines.all, i), trees, count, verbose);
    return fine;
}
