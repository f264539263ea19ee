/* SPDX-License-Identifier: MIT */
#include "unwind_tables/table/phrases.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/*
 * Rounds. In the first ones unused phrases may still be used; later they are
 * dropped. Costs are in bits.
 */
enum {
    ROUNDS = 5,
    HOPEFUL_ROUNDS = 2,
    COUNTED_ROWS = 3000000, /* sample of rows that is representative */
    COMMON = 3000,          /* occurrences of a phrase that will be hot */
    RARE = 3,               /* phrases with fewer uses get no place */
};
static const float start_cost = 9.6f, hot_cost = 9, cold_cost = 17,
                   literal_cost = 60, never = 1e9f;

/*
 * A phrase: its parent's phrase and one more row. parent 0: it has only that
 * row. Node 0 is no phrase. Parents precede their children.
 */
struct node {
    uint32_t parent, token; /* length of the row before << 16 | rule */
    uint32_t count;         /* occurrences seen, or uses */
    uint32_t row;
    float cost;
    uint8_t rows;
    bool keep;
};

/* Invariant: `slots` has more slots than there can be nodes. */
struct trie {
    struct node *nodes;
    uint32_t *slots;
    uint32_t count, cap, mask;
};

struct finder {
    const struct wndl_phrase_text *text;
    struct trie trie;
    uint32_t *best_rows; /* of one block: the best phrase at each row */
    uint32_t *best_node;
    float *best;
    uint32_t longest; /* maximum rows of a block */
};

uint32_t wndl_phrase_size(uint32_t rows)
{
    return (1 + (rows - 1) + 2 * rows + 1) & ~1u;
}

/* ---- the trie */

static uint32_t slot_of(const struct trie *t, uint32_t parent, uint32_t token)
{
    uint64_t key = ((uint64_t)parent << 24) ^ token;
    key *= WNDL_GOLDEN;
    return (uint32_t)(key >> 32) & t->mask;
}

/* The child, or the free slot for it. */
static uint32_t *find_slot(struct trie *t, uint32_t parent, uint32_t token)
{
    uint32_t at = slot_of(t, parent, token);
    for (;; at = (at + 1) & t->mask) {
        const uint32_t n = t->slots[at];
        if (n == 0 ||
            (t->nodes[n].parent == parent && t->nodes[n].token == token))
            return &t->slots[at];
    }
}

static bool init_trie(struct trie *t, uint32_t cap, struct wndl_arena *arena)
{
    uint32_t slots = 1024;
    while (slots < cap + cap / 2)
        slots *= 2;
    *t = (struct trie){.count = 1, .cap = cap + 1, .mask = slots - 1};
    t->nodes = wndl_arena_calloc(arena, t->cap, sizeof *t->nodes);
    t->slots = wndl_arena_calloc(arena, slots, sizeof *t->slots);
    return t->nodes != NULL && t->slots != NULL;
}

static void add_node(struct trie *t, uint32_t *slot, struct node node)
{
    if (t->count == t->cap)
        return;
    *slot = t->count;
    t->nodes[t->count++] = node;
}

/*
 * Drops phrases that are neither kept nor the start of a kept one. The latter
 * get a `cost` of never.
 */
static void prune(struct trie *t)
{
    uint32_t kept = 1;
    uint32_t *number = t->slots; /* at least as many as nodes */
    for (uint32_t i = t->count; i-- > 1;) {
        if (t->nodes[i].keep)
            t->nodes[t->nodes[i].parent].keep = true;
    }
    number[0] = 0;
    for (uint32_t i = 1; i < t->count; i++) {
        if (!t->nodes[i].keep)
            continue;
        struct node node = t->nodes[i];
        node.parent = number[node.parent];
        number[i] = kept;
        t->nodes[kept++] = node;
    }
    t->count = kept;
    while (t->mask > 1023 && t->mask / 4 > kept)
        t->mask /= 2;
    memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
    for (uint32_t i = 1; i < kept; i++)
        *find_slot(t, t->nodes[i].parent, t->nodes[i].token) = i;
}

/* ---- walking the text */

/* A phrase that grows row by row from its first one. */
struct walk {
    const struct wndl_phrase_text *text;
    uint32_t row, end; /* the last row so far; end of the block */
    uint32_t sum;      /* of lengths before the last row */
    uint32_t rows;
};

/* The token of the next row. False: the phrase cannot continue. */
static inline bool next_token(struct walk *w, uint32_t *token)
{
    const uint32_t length = w->text->lengths[w->row];
    w->sum += length;
    w->row++;
    w->rows++;
    if (length == WNDL_PHRASE_LONG || w->row == w->end || w->sum > 255 ||
        w->rows > WNDL_PHRASE_ROWS_MAX ||
        w->text->rules[w->row] == WNDL_PHRASE_NO_RULE)
        return false;
    *token = length << 16 | w->text->rules[w->row];
    return true;
}

static struct walk walk_from(
    const struct wndl_phrase_text *text, uint32_t row, uint32_t end)
{
    return (struct walk){text, row, end, 0, 1};
}

/*
 * Counts the phrases that begin at a row. Of an unseen one only the first new
 * row is added, so that rare phrases do not grow long.
 */
static void count_from(struct finder *f, uint32_t row, uint32_t end)
{
    struct trie *t = &f->trie;
    struct walk w = walk_from(f->text, row, end);
    uint32_t token = f->text->rules[row], parent = 0;
    if (token == WNDL_PHRASE_NO_RULE)
        return;
    do {
        uint32_t *slot = find_slot(t, parent, token);
        if (*slot == 0) {
            add_node(t, slot,
                (struct node){
                    parent, token, 1, row, 0, (uint8_t)w.rows, false});
            return;
        }
        t->nodes[*slot].count++;
        parent = *slot;
    } while (next_token(&w, &token));
}

static uint32_t block_rows(const struct wndl_phrase_text *text, uint32_t block)
{
    return text->blocks[block + 1] - text->blocks[block];
}

/* Counts the rules of all rows, and all phrases of some blocks. */
static void count_all(struct finder *f)
{
    const struct wndl_phrase_text *t = f->text;
    const uint32_t every = 1 + t->blocks[t->block_count] / COUNTED_ROWS;
    for (uint32_t b = 0; b < t->block_count; b++) {
        if (block_rows(t, b) < 2)
            continue;
        for (uint32_t i = t->blocks[b]; i < t->blocks[b + 1]; i++)
            count_from(f, i, b % every == 0 ? t->blocks[b + 1] : i + 1);
    }
}

/* ---- costs */

static float dictionary_cost(const struct node *n, float uses)
{
    return 8.0f * (float)wndl_phrase_size(n->rows) / uses;
}

/* The cost of an unused phrase, by its occurrences. */
static float hoped_cost(const struct node *n, float times)
{
    const float uses = (float)n->count * times / 2;
    return (uses > COMMON ? hot_cost : cold_cost) +
           dictionary_cost(n, uses < 2 ? 2 : uses);
}

static void first_costs(struct trie *t, float times)
{
    for (uint32_t i = 1; i < t->count; i++) {
        struct node *n = &t->nodes[i];
        n->keep = n->rows == 1 || n->count >= RARE;
        n->cost = n->rows == 1 ? cold_cost + 1 : hoped_cost(n, times);
        n->count = 0;
    }
    prune(t);
}

static int compare_down(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x > y ? -1 : x < y;
}

/* The number of uses from which a phrase is hot. */
static uint32_t hot_from(const struct trie *t, struct wndl_arena *arena)
{
    struct wndl_vec uses;
    wndl_vec_init(&uses, arena, sizeof(uint32_t));
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t *u = t->nodes[i].count == 0 ? NULL : wndl_vec_push(&uses);
        if (u != NULL)
            *u = t->nodes[i].count;
    }
    if (uses.len <= WNDL_PHRASE_HOT)
        return 0;
    qsort(uses.data, uses.len, sizeof(uint32_t), compare_down);
    return *(uint32_t *)wndl_vec_at(&uses, WNDL_PHRASE_HOT);
}

/* Sets costs by the uses in a round; counts start again. */
static void next_costs(struct trie *t, unsigned round, struct wndl_arena *arena)
{
    const uint32_t hot = hot_from(t, arena);
    const bool hopeful = round < HOPEFUL_ROUNDS;
    for (uint32_t i = 1; i < t->count; i++) {
        struct node *n = &t->nodes[i];
        n->keep = n->count != 0 || n->rows == 1;
        if (n->count != 0) {
            n->cost = n->count > hot ? hot_cost : cold_cost;
            if (n->rows > 1)
                n->cost +=
                    dictionary_cost(n, (float)n->count) * (hopeful ? 1 : 0.8f);
        } else if (n->rows == 1) {
            n->cost = cold_cost + 1;
        } else if (!hopeful) {
            n->cost = never;
        }
        n->count = 0;
    }
    prune(t);
}

/* ---- cutting */

static void try_phrase(
    struct finder *f, uint32_t at, const struct walk *w, uint32_t node)
{
    const float cost = f->trie.nodes[node].cost + f->best[at + w->rows];
    if (cost >= f->best[at])
        return;
    f->best[at] = cost;
    f->best_node[at] = node;
    f->best_rows[at] = w->rows;
}

/* The cheapest cut of a block from row `at` on. */
static void cut_from(
    struct finder *f, uint32_t first, uint32_t at, uint32_t end)
{
    struct trie *t = &f->trie;
    struct walk w = walk_from(f->text, first + at, end);
    uint32_t token = f->text->rules[w.row], node = 0;
    f->best[at] = literal_cost + f->best[at + 1];
    f->best_node[at] = WNDL_PHRASE_LITERAL;
    f->best_rows[at] = 1;
    if (token != WNDL_PHRASE_NO_RULE) {
        do {
            node = *find_slot(t, node, token);
            if (node == 0)
                break;
            try_phrase(f, at, &w, node);
        } while (next_token(&w, &token));
    }
    f->best[at] += start_cost;
}

static void cut_block(struct finder *f, uint32_t block)
{
    const uint32_t first = f->text->blocks[block];
    const uint32_t rows = block_rows(f->text, block);
    f->best[rows] = 0;
    for (uint32_t at = rows; at-- > 0;)
        cut_from(f, first, at, first + rows);
}

/*
 * Cuts all blocks. False when memory is out, which is needed only to keep the
 * cuts.
 */
static bool cut_all(struct finder *f, struct wndl_vec *cuts)
{
    for (uint32_t b = 0; b < f->text->block_count; b++) {
        const uint32_t rows = block_rows(f->text, b);
        if (rows < 2)
            continue;
        cut_block(f, b);
        for (uint32_t at = 0; at < rows; at += f->best_rows[at]) {
            f->trie.nodes[f->best_node[at]].count++;
            if (cuts == NULL)
                continue;
            struct wndl_phrase_cut *c = wndl_vec_push(cuts);
            if (c == NULL)
                return false;
            *c = (struct wndl_phrase_cut){
                f->text->blocks[b] + at, f->best_node[at]};
        }
    }
    return true;
}

static uint64_t dictionary_size(const struct trie *t)
{
    uint64_t size = 0;
    for (uint32_t i = 1; i < t->count; i++) {
        if (t->nodes[i].count != 0)
            size += wndl_phrase_size(t->nodes[i].rows);
    }
    return size;
}

/*
 * Forbids phrases with fewer uses than `uses`; single rows are forbidden last.
 */
static void forbid_below(struct trie *t, uint32_t uses)
{
    const bool singles = uses > UINT32_MAX / 2;
    for (uint32_t i = 1; i < t->count; i++) {
        struct node *n = &t->nodes[i];
        if (n->count < uses && (n->rows > 1 || (singles && n->count < 2)))
            n->cost = never;
    }
}

static void clear_counts(struct trie *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->nodes[i].count = 0;
}

/* Cuts with fewer and fewer phrases until those in use fit. */
static void fit(struct finder *f, uint32_t dict_max)
{
    uint32_t uses = 2;
    clear_counts(&f->trie);
    (void)cut_all(f, NULL);
    while (dictionary_size(&f->trie) > dict_max && uses != UINT32_MAX) {
        forbid_below(&f->trie, uses);
        uses = uses > UINT32_MAX / 4 ? UINT32_MAX : uses * 2;
        clear_counts(&f->trie);
        (void)cut_all(f, NULL);
    }
}

/* ---- the search */

/* The most nodes: one for each counted row and one for each rule. */
static uint32_t most_nodes(const struct wndl_phrase_text *text)
{
    const uint32_t rows = text->blocks[text->block_count];
    const uint32_t counted = 2 * COUNTED_ROWS + WNDL_PHRASE_NO_RULE;
    return rows < counted ? rows : counted;
}

static bool init(struct finder *f, struct wndl_arena *arena)
{
    const struct wndl_phrase_text *t = f->text;
    for (uint32_t b = 0; b < t->block_count; b++) {
        if (block_rows(t, b) > f->longest)
            f->longest = block_rows(t, b);
    }
    f->best = wndl_arena_calloc(arena, f->longest + 1, sizeof *f->best);
    f->best_rows =
        wndl_arena_calloc(arena, f->longest + 1, sizeof *f->best_rows);
    f->best_node =
        wndl_arena_calloc(arena, f->longest + 1, sizeof *f->best_node);
    return f->best != NULL && f->best_rows != NULL && f->best_node != NULL &&
           init_trie(&f->trie, most_nodes(t), arena);
}

static bool take(struct wndl_phrases *phrases, struct finder *f)
{
    const struct trie *t = &f->trie;
    clear_counts(&f->trie);
    if (!cut_all(f, &phrases->cuts) ||
        !wndl_vec_reserve(&phrases->phrases, t->count))
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct node *n = &t->nodes[i];
        struct wndl_phrase *p = wndl_vec_push(&phrases->phrases);
        *p = (struct wndl_phrase){n->row, n->count, n->rows};
    }
    return true;
}

bool wndl_phrases_find(struct wndl_phrases *phrases,
    const struct wndl_phrase_text *text, uint32_t dict_max,
    struct wndl_arena *arena)
{
    struct wndl_arena own;
    struct finder f = {.text = text};
    wndl_arena_init(&own, arena->mem);
    wndl_vec_init(&phrases->phrases, arena, sizeof(struct wndl_phrase));
    wndl_vec_init(&phrases->cuts, arena, sizeof(struct wndl_phrase_cut));
    bool done = init(&f, &own);
    if (done) {
        const uint32_t every =
            1 + text->blocks[text->block_count] / COUNTED_ROWS;
        count_all(&f);
        first_costs(&f.trie, (float)every);
        for (unsigned round = 0; round < ROUNDS; round++) {
            (void)cut_all(&f, NULL);
            next_costs(&f.trie, round, &own);
        }
        fit(&f, dict_max);
        done = take(phrases, &f);
    }
    wndl_arena_free(&own);
    return done;
}
