/* SPDX-License-Identifier: MIT */
/* view_heap: the curves of heaps, and their blocks by stack. */
#include "model/exported.h"
#include "out/view/view.h"

enum { NS_PER_US = 1000, NAME_SIZE = 32, WHOLE_NAME_SIZE = 64 };

/* Sets of blocks: those of enum wndl_heap_set, and two of dark matter. */
enum {
    UNREPORTED = WNDL_HEAP_SETS, /* live, and no memory reporter knows them */
    TWICE,                       /* reported more than once */
    WHICHES
};

static const char *const whiches[WHICHES] = {
    [WNDL_HEAP_SET_LIVE] = "live",
    [WNDL_HEAP_SET_PEAK] = "peak",
    [WNDL_HEAP_SET_ALL] = "all",
    [WNDL_HEAP_SET_TEMPORARY] = "temporary",
    [UNREPORTED] = "unreported",
    [TWICE] = "twice",
};

struct amounts {
    double blocks[WHICHES];
    double bytes[WHICHES];
};

/* The blocks of a stack. */
struct row {
    uint32_t node;
    uint8_t label;
    double lifetime;
    struct amounts of;
};

/* The blocks of a stack whose usable bytes are from 2^power on, below twice. */
struct size_sum {
    uint32_t stack; /* number of a row */
    uint8_t power;
    struct amounts of;
};

/* The blocks of a stack that lived at a snapshot. */
struct lived_sum {
    uint64_t snapshot; /* its number for people: from 1 on */
    uint32_t stack;    /* number of a row */
    double blocks, bytes;
};

/* The columns of one heap. */
struct heap {
    struct wndl_view_writer *w;
    const struct wndl_merged_part *part;
    const struct wndl_process_heap *of;
    struct wndl_vec rows;  /* struct row, by the page's nodes */
    struct wndl_vec sizes; /* struct size_sum */
    struct wndl_vec lived; /* struct lived_sum, by snapshot */
    size_t number;         /* in the page */
};

static void add_column(
    const struct heap *h, const char *name, size_t count, bool delta)
{
    char whole[WHOLE_NAME_SIZE];
    snprintf(whole, sizeof whole, "heap%zu.%s", h->number, name);
    wndl_view_numbers(&h->w->columns, whole, h->w->numbers, count, delta);
}

/* ---- the curve */

static uint64_t in_us(const struct wndl_heap_moment *moment)
{
    return moment->time / NS_PER_US;
}

static uint64_t in_bytes(const struct wndl_heap_moment *moment)
{
    return wndl_exported_round((double)moment->bytes);
}

static uint64_t in_blocks(const struct wndl_heap_moment *moment)
{
    return wndl_exported_round((double)moment->blocks);
}

static void add_curve(const struct heap *h, const char *name,
    uint64_t (*value)(const struct wndl_heap_moment *moment))
{
    const struct wndl_heap_moment *moments = h->of->moments.data;
    for (size_t i = 0; i < h->of->moments.len; i++)
        h->w->numbers[i] = value(&moments[i]);
    add_column(h, name, h->of->moments.len, true);
}

/* ---- stacks */

static uint64_t key_of(const struct heap *h, uint32_t node, uint8_t label)
{
    return (uint64_t)label << 32 | h->part->nodes[node];
}

/* The row of (node of the page, label), added if new. */
static struct row *row_of(
    struct heap *h, struct wndl_map *index, const struct wndl_stack_sum *from)
{
    uint64_t *slot = wndl_map_put(index, key_of(h, from->node, from->label));
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(&h->rows, *slot - 1);
    struct row *row = wndl_vec_push(&h->rows);
    if (row == NULL)
        return NULL;
    row->node = h->part->nodes[from->node];
    row->label = from->label;
    *slot = h->rows.len;
    return row;
}

static uint8_t power_of(uint64_t size)
{
    return size < 2 ? 0 : (uint8_t)(63 - __builtin_clzll(size));
}

static uint64_t size_key(uint64_t stack, uint8_t power)
{
    return stack << 8 | power;
}

static struct size_sum *size_of(
    struct heap *h, struct wndl_map *index, uint64_t stack, uint8_t power)
{
    uint64_t *slot = wndl_map_put(index, size_key(stack, power));
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(&h->sizes, *slot - 1);
    struct size_sum *sum = wndl_vec_push(&h->sizes);
    if (sum == NULL)
        return NULL;
    sum->stack = (uint32_t)stack;
    sum->power = power;
    *slot = h->sizes.len;
    return sum;
}

/* By stack, and by stack and size. */
struct indexes {
    struct wndl_map stacks; /* numbers + 1 of rows */
    struct wndl_map sizes;  /* the same of sizes */
    struct wndl_map lived;  /* the same of what lived, by snapshot and stack */
};

static uint64_t usable_of(const struct wndl_alloc_site *site)
{
    return site->requested + site->slop;
}

/* The row of a site; 0: none of its blocks was counted. */
static uint64_t row_number(const struct heap *h, const struct indexes *x,
    const struct wndl_alloc_site *site)
{
    const uint64_t *number = wndl_map_get(
        &x->stacks, key_of(h, site->node, wndl_exported_label(site)));
    return number == NULL ? 0 : *number;
}

static bool sum_up_sizes(struct heap *h, struct indexes *x)
{
    for (size_t i = 0; i < h->of->counts.len; i++) {
        const struct wndl_alloc_counts *counts = wndl_vec_at(&h->of->counts, i);
        const struct wndl_alloc_site *site =
            wndl_vec_at(&h->of->sites, counts->site);
        const uint64_t row = row_number(h, x, site) - 1;
        struct size_sum *sum =
            size_of(h, &x->sizes, row, power_of(usable_of(site)));
        if (sum == NULL)
            return false;
        for (unsigned which = 0; which < WNDL_HEAP_SETS; which++) {
            const double blocks = (double)wndl_heap_count(counts, which) *
                                  wndl_alloc_weight(h->of, site);
            sum->of.blocks[which] += blocks;
            sum->of.bytes[which] += blocks * (double)usable_of(site);
        }
    }
    return true;
}

static void add_reported(struct heap *h, const struct indexes *x,
    const struct wndl_alloc_reported *reported, unsigned which)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&h->of->sites, reported->site);
    const uint64_t number = row_number(h, x, site);
    const uint64_t *size = wndl_map_get(
        &x->sizes, size_key(number - 1, power_of(usable_of(site))));
    if (number == 0 || size == NULL)
        return;
    const double blocks =
        (double)reported->blocks * wndl_alloc_weight(h->of, site);
    struct row *row = wndl_vec_at(&h->rows, number - 1);
    struct size_sum *sum = wndl_vec_at(&h->sizes, *size - 1);
    row->of.blocks[which] += blocks;
    row->of.bytes[which] += blocks * (double)usable_of(site);
    sum->of.blocks[which] += blocks;
    sum->of.bytes[which] += blocks * (double)usable_of(site);
}

/* A site without a row is left out: columns have room for rows alone. */
static void sum_up_reported(struct heap *h, const struct indexes *x)
{
    for (size_t i = 0; i < h->of->reported.len; i++) {
        const struct wndl_alloc_reported *reported =
            wndl_vec_at(&h->of->reported, i);
        if (reported->reports != 1)
            add_reported(
                h, x, reported, reported->reports == 0 ? UNREPORTED : TWICE);
    }
}

/* Stacks that differ in addresses alone are one in the page. */
static bool sum_up_stacks(struct heap *h, struct indexes *x)
{
    struct wndl_vec sums;
    if (!wndl_exported_sum(&sums, h->of, &h->w->arena))
        return false;
    for (size_t i = 0; i < sums.len; i++) {
        const struct wndl_stack_sum *from = wndl_vec_at(&sums, i);
        struct row *row = row_of(h, &x->stacks, from);
        if (row == NULL)
            return false;
        for (unsigned which = 0; which < WNDL_HEAP_SETS; which++) {
            row->of.blocks[which] += from->blocks[which];
            row->of.bytes[which] += from->bytes[which];
        }
        row->lifetime += from->lifetime;
    }
    return true;
}

/* Stacks whose blocks were all freed later have a row for this alone. */
static struct lived_sum *lived_of(
    struct heap *h, struct indexes *x, const struct wndl_alloc_lived *lived)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&h->of->sites, lived->site);
    const struct wndl_heap_snapshot *snapshot =
        wndl_vec_at(&h->of->snapshots, lived->snapshot);
    const struct wndl_stack_sum stack = {
        .node = site->node, .label = wndl_exported_label(site)};
    const struct row *row = row_of(h, &x->stacks, &stack);
    if (row == NULL)
        return NULL;
    const uint32_t number = (uint32_t)(row - (struct row *)h->rows.data);
    uint64_t *slot =
        wndl_map_put(&x->lived, (uint64_t)lived->snapshot << 32 | number);
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(&h->lived, *slot - 1);
    struct lived_sum *sum = wndl_vec_push(&h->lived);
    if (sum == NULL)
        return NULL;
    *sum =
        (struct lived_sum){.snapshot = snapshot->number + 1, .stack = number};
    *slot = h->lived.len;
    return sum;
}

static bool add_lived(
    struct heap *h, struct indexes *x, const struct wndl_alloc_lived *lived)
{
    const struct wndl_alloc_site *site =
        wndl_vec_at(&h->of->sites, lived->site);
    if (!wndl_heap_knows_lived(h->of, lived->snapshot))
        return true;
    struct lived_sum *sum = lived_of(h, x, lived);
    if (sum == NULL)
        return false;
    const double blocks =
        (double)lived->blocks * wndl_alloc_weight(h->of, site);
    sum->blocks += blocks;
    sum->bytes += blocks * (double)usable_of(site);
    return true;
}

/* The kept snapshot, of which the reader may have kept only the counts. */
static bool sum_up_last(struct heap *h, struct indexes *x)
{
    if (h->of->kept == WNDL_NO_INDEX || h->of->lived_step == 0 ||
        h->of->kept % h->of->lived_step == 0)
        return true;
    bool whole = true;
    for (size_t i = 0; i < h->of->counts.len && whole; i++) {
        const struct wndl_alloc_counts *counts = wndl_vec_at(&h->of->counts, i);
        const struct wndl_alloc_lived lived = {.snapshot = h->of->kept,
            .site = counts->site,
            .blocks = wndl_alloc_live(counts)};
        whole = lived.blocks == 0 || add_lived(h, x, &lived);
    }
    return whole;
}

static bool sum_up_lived(struct heap *h, struct indexes *x)
{
    bool whole = true;
    for (size_t i = 0; i < h->of->lived.len && whole; i++)
        whole = add_lived(h, x, wndl_vec_at(&h->of->lived, i));
    return whole && sum_up_last(h, x);
}

static bool sum_up(struct heap *h)
{
    struct indexes x;
    wndl_map_init(&x.stacks, &h->w->arena);
    wndl_map_init(&x.sizes, &h->w->arena);
    wndl_vec_init(&h->rows, &h->w->arena, sizeof(struct row));
    wndl_vec_init(&h->sizes, &h->w->arena, sizeof(struct size_sum));
    wndl_map_init(&x.lived, &h->w->arena);
    wndl_vec_init(&h->lived, &h->w->arena, sizeof(struct lived_sum));
    if (!sum_up_stacks(h, &x) || !sum_up_sizes(h, &x) || !sum_up_lived(h, &x))
        return false;
    sum_up_reported(h, &x);
    return true;
}

static void add_which(const struct heap *h, unsigned which)
{
    const struct row *rows = h->rows.data;
    char name[NAME_SIZE];
    for (size_t i = 0; i < h->rows.len; i++)
        h->w->numbers[i] = wndl_exported_round(rows[i].of.blocks[which]);
    snprintf(name, sizeof name, "stacks.blocks_%s", whiches[which]);
    add_column(h, name, h->rows.len, false);
    for (size_t i = 0; i < h->rows.len; i++)
        h->w->numbers[i] = wndl_exported_round(rows[i].of.bytes[which]);
    snprintf(name, sizeof name, "stacks.bytes_%s", whiches[which]);
    add_column(h, name, h->rows.len, false);
}

/* Blocks that are gone are known where freed ones were recorded. */
static bool is_told(const struct heap *h, unsigned which)
{
    if (which == UNREPORTED || which == TWICE)
        return h->of->reported_known;
    return h->of->cumulative ||
           (which != WNDL_HEAP_SET_ALL && which != WNDL_HEAP_SET_TEMPORARY);
}

static void add_stacks(const struct heap *h)
{
    const struct row *rows = h->rows.data;
    uint8_t *labels = wndl_arena_alloc(&h->w->arena, h->rows.len + 1);
    if (labels == NULL) {
        h->w->failed = true;
        return;
    }
    for (size_t i = 0; i < h->rows.len; i++) {
        h->w->numbers[i] = rows[i].node;
        labels[i] = rows[i].label;
    }
    add_column(h, "stacks.node", h->rows.len, false);
    char name[WHOLE_NAME_SIZE];
    snprintf(name, sizeof name, "heap%zu.stacks.label", h->number);
    wndl_view_bytes(&h->w->columns, name, labels, h->rows.len);
    for (unsigned which = 0; which < WHICHES; which++) {
        if (is_told(h, which))
            add_which(h, which);
    }
    if (!h->of->cumulative)
        return;
    for (size_t i = 0; i < h->rows.len; i++)
        h->w->numbers[i] = wndl_exported_round(rows[i].lifetime);
    add_column(h, "stacks.lifetime", h->rows.len, false);
}

static void add_sizes_of(const struct heap *h, unsigned which)
{
    const struct size_sum *sums = h->sizes.data;
    char name[NAME_SIZE];
    for (size_t i = 0; i < h->sizes.len; i++)
        h->w->numbers[i] = wndl_exported_round(sums[i].of.blocks[which]);
    snprintf(name, sizeof name, "sizes.blocks_%s", whiches[which]);
    add_column(h, name, h->sizes.len, false);
    for (size_t i = 0; i < h->sizes.len; i++)
        h->w->numbers[i] = wndl_exported_round(sums[i].of.bytes[which]);
    snprintf(name, sizeof name, "sizes.bytes_%s", whiches[which]);
    add_column(h, name, h->sizes.len, false);
}

static void add_sizes(const struct heap *h)
{
    const struct size_sum *sums = h->sizes.data;
    for (size_t i = 0; i < h->sizes.len; i++)
        h->w->numbers[i] = sums[i].stack;
    add_column(h, "sizes.stack", h->sizes.len, false);
    for (size_t i = 0; i < h->sizes.len; i++)
        h->w->numbers[i] = sums[i].power;
    add_column(h, "sizes.power", h->sizes.len, false);
    for (unsigned which = 0; which < WHICHES; which++) {
        if (is_told(h, which))
            add_sizes_of(h, which);
    }
}

static void add_all_lived(const struct heap *h)
{
    const struct lived_sum *sums = h->lived.data;
    for (size_t i = 0; i < h->lived.len; i++)
        h->w->numbers[i] = sums[i].snapshot;
    add_column(h, "lived.snapshot", h->lived.len, true);
    for (size_t i = 0; i < h->lived.len; i++)
        h->w->numbers[i] = sums[i].stack;
    add_column(h, "lived.stack", h->lived.len, true);
    for (size_t i = 0; i < h->lived.len; i++)
        h->w->numbers[i] = wndl_exported_round(sums[i].blocks);
    add_column(h, "lived.blocks", h->lived.len, false);
    for (size_t i = 0; i < h->lived.len; i++)
        h->w->numbers[i] = wndl_exported_round(sums[i].bytes);
    add_column(h, "lived.bytes", h->lived.len, false);
}

static void add_heap(struct heap *h)
{
    add_curve(h, "curve.time", in_us);
    add_curve(h, "curve.bytes", in_bytes);
    add_curve(h, "curve.blocks", in_blocks);
    h->w->failed = h->w->failed || !sum_up(h);
    if (h->w->failed)
        return;
    add_stacks(h);
    add_sizes(h);
    add_all_lived(h);
}

void wndl_view_add_heaps(struct wndl_view_writer *w)
{
    struct heap h = {.w = w};
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_vec *heaps = &wndl_view_profile(w, r)->heaps;
        h.part = &w->merged.parts[r];
        const struct wndl_vec *held = w->view->recordings[r].held;
        for (size_t i = 0; held != NULL && i < held->len && !w->failed; i++) {
            const struct wndl_view_held *of = wndl_vec_at(held, i);
            wndl_view_add_held(w, h.number + of->heap, of->holders);
        }
        for (size_t i = 0; i < heaps->len && !w->failed; i++, h.number++) {
            h.of = wndl_vec_at(heaps, i);
            add_heap(&h);
        }
    }
}
