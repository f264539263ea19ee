/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/findings.h"

#include "analyze/heap/findings_table.h"

#include <stdlib.h>

/* The thresholds of docs/heap-report.md. */
enum {
    SLOP_LEAST = 16,      /* one in so many usable bytes */
    CLASS_LEAST_SLOP = 8, /* one in so many usable bytes */
    CLASS_SLOP_TIMES = 4, /* slop for each byte above the class below */
    GROWTH_LEAST_STEPS = 8,
    /* bytes for each byte that doubling would have allocated */
    GROWTH_TIMES = 2,
    TOGETHER_LEAST = 16,
};

struct work {
    struct wndl_heap_report *r;
    struct wndl_stack_texts *stacks;
    const struct wndl_heap_choice *choice;
    struct wndl_arena scratch;
};

static const struct wndl_process_heap *heap_of(const struct work *w, size_t row)
{
    const struct wndl_heap_row *rows = w->r->rows.data;
    return wndl_vec_at(&w->r->symbolized->profile->heaps, rows[row].heap);
}

/* ---- findings from records: leaks, temporary blocks, slop */

static bool wastes_bytes(const struct wndl_heap_figures *f)
{
    return f->slop > 0 && f->slop >= wndl_heap_usable(f) / SLOP_LEAST;
}

static bool take_records(
    struct work *w, enum wndl_finding_kind kind, enum wndl_heap_sort sort)
{
    struct wndl_heap_records records;
    struct wndl_heap_grouping how = w->choice->grouping;
    struct wndl_vec *rows = &w->r->findings.rows[kind];
    how.sort = sort;
    bool taken =
        wndl_heap_records_fill(&records, w->stacks->list, &how, w->scratch.mem);
    for (size_t i = 0; i < records.records.len && taken; i++) {
        const struct wndl_heap_record *record =
            wndl_vec_at(&records.records, i);
        if (kind == WNDL_FINDING_SLOP && !wastes_bytes(&record->figures))
            continue;
        struct wndl_finding *row = wndl_vec_push(rows);
        taken = row != NULL;
        if (taken)
            *row = (struct wndl_finding){
                .stack = record->stacks[WNDL_HEAP_ALLOCATED],
                .figures = record->figures};
    }
    w->r->findings.totals[kind] = records.shown;
    wndl_heap_records_free(&records);
    w->stacks->list->blocks.len = 0;
    return taken;
}

static uint64_t leaked(
    const struct wndl_alloc_leaks *leaks, enum wndl_finding_kind kind)
{
    return kind == WNDL_FINDING_DEFINITE   ? leaks->definite
           : kind == WNDL_FINDING_INDIRECT ? leaks->indirect
                                           : leaks->possible;
}

static bool add_leaks(struct work *w, enum wndl_finding_kind kind)
{
    for (size_t i = 0; i < w->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_of(w, i);
        const struct wndl_alloc_leaks *leaks = heap->leaks.data;
        w->r->findings.leaks_known |= heap->leaks_known;
        for (size_t k = 0; k < heap->leaks.len; k++) {
            if (!wndl_heap_sites_add_one(
                    w->stacks, heap, leaks[k].site, leaked(&leaks[k], kind)))
                return false;
        }
    }
    return take_records(w, kind, WNDL_HEAP_BY_USABLE);
}

/* Adds the blocks that were live at the end and are in none of the leaks. */
static bool add_reachable_of(
    struct work *w, const struct wndl_process_heap *heap)
{
    uint64_t *gone =
        wndl_arena_calloc(&w->scratch, heap->sites.len + 1, sizeof *gone);
    const struct wndl_alloc_leaks *leaks = heap->leaks.data;
    const struct wndl_alloc_counts *counts = heap->counts.data;
    if (gone == NULL)
        return false;
    for (size_t i = 0; i < heap->leaks.len; i++)
        gone[leaks[i].site] +=
            leaks[i].definite + leaks[i].indirect + leaks[i].possible;
    for (size_t i = 0; i < heap->counts.len; i++) {
        uint64_t live = wndl_alloc_live(&counts[i]);
        uint64_t left =
            live - (gone[counts[i].site] < live ? gone[counts[i].site] : live);
        if (!wndl_heap_sites_add_one(w->stacks, heap, counts[i].site, left))
            return false;
    }
    return true;
}

static bool add_reachable(struct work *w)
{
    for (size_t i = 0; i < w->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_of(w, i);
        bool known = heap->leaks_known && heap->kept != WNDL_NO_INDEX &&
                     heap->kept + 1 == heap->snapshots.len;
        if (known && !add_reachable_of(w, heap))
            return false;
    }
    return take_records(w, WNDL_FINDING_REACHABLE, WNDL_HEAP_BY_USABLE);
}

static bool add_which(struct work *w, enum wndl_finding_kind kind,
    enum wndl_heap_set set, enum wndl_heap_sort sort)
{
    for (size_t i = 0; i < w->r->rows.len; i++) {
        const struct wndl_process_heap *heap = heap_of(w, i);
        if (set == WNDL_HEAP_SET_TEMPORARY && !heap->cumulative)
            continue; /* its count is not complete */
        if (!wndl_heap_sites_add(w->stacks, heap, set, WNDL_HEAP_SIDE_ONLY))
            return false;
    }
    return take_records(w, kind, sort);
}

/* ---- requests just above a size class */

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The usable sizes of a heap, in order, equal ones too. */
static uint64_t *usable_sizes(
    struct work *w, const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_site *sites = heap->sites.data;
    uint64_t *sizes =
        wndl_arena_calloc(&w->scratch, heap->sites.len + 1, sizeof *sizes);
    if (sizes == NULL)
        return NULL;
    for (size_t i = 0; i < heap->sites.len; i++)
        sizes[i] = sites[i].requested + sites[i].slop;
    qsort(sizes, heap->sites.len, sizeof *sizes, compare_sizes);
    return sizes;
}

/* The largest of the sizes that is below `request`, 0 if none is. */
static uint64_t size_below(
    const uint64_t *sizes, size_t count, uint64_t request)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (sizes[middle] < request)
            low = middle + 1;
        else
            count = middle;
    }
    return low == 0 ? 0 : sizes[low - 1];
}

static bool is_just_above(const struct wndl_alloc_site *site, uint64_t below)
{
    uint64_t usable = site->requested + site->slop;
    return below != 0 &&
           site->slop / CLASS_SLOP_TIMES >= site->requested - below &&
           site->slop >= usable / CLASS_LEAST_SLOP;
}

static bool add_site(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap, size_t i, uint64_t below)
{
    const struct wndl_alloc_counts *counts = wndl_vec_at(&heap->counts, i);
    const struct wndl_alloc_site *site =
        wndl_vec_at(&heap->sites, counts->site);
    struct wndl_findings_key key = {
        .extra = {site->requested, site->requested + site->slop}};
    struct wndl_heap_sums *row;
    if (!wndl_stack_texts_of(
            w->stacks, site->node, site->end, &key.leaves[0]) ||
        !wndl_findings_table_find(table, &key, &row))
        return false;
    if (row == NULL)
        return true;
    row->finding.request = site->requested;
    row->finding.size = below;
    wndl_findings_add(row, site, wndl_heap_count(counts, w->choice->set),
        wndl_alloc_weight(heap, site));
    return true;
}

static bool add_classes_of(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap)
{
    const uint64_t *sizes = usable_sizes(w, heap);
    const struct wndl_alloc_counts *counts = heap->counts.data;
    if (sizes == NULL)
        return false;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        uint64_t below = size_below(sizes, heap->sites.len, site->requested);
        bool wanted = wndl_heap_count(&counts[i], w->choice->set) != 0;
        if (wanted && is_just_above(site, below) &&
            !add_site(w, table, heap, i, below))
            return false;
    }
    return true;
}

/* ---- buffers, frees, togetherness */

static bool add_growth(struct work *w, struct wndl_findings_table *table,
    const struct wndl_alloc_growth *g)
{
    struct wndl_findings_key key = {.extra = {g->by_copy}};
    struct wndl_heap_sums *row;
    if (!wndl_stack_texts_of(
            w->stacks, g->node, WNDL_WALK_COMPLETE, &key.leaves[0]) ||
        !wndl_findings_table_find(table, &key, &row))
        return false;
    if (row == NULL)
        return true;
    struct wndl_alloc_growth *sum = &row->finding.growth;
    bool first = sum->chains == 0;
    sum->by_copy = g->by_copy;
    sum->chains += g->chains;
    sum->steps += g->steps;
    sum->allocated += g->allocated;
    sum->final += g->final;
    sum->doubling += g->doubling;
    if (first || g->least_step < sum->least_step)
        sum->least_step = g->least_step;
    if (g->most_step > sum->most_step)
        sum->most_step = g->most_step;
    return true;
}

static bool add_growths_of(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_growth *growths = heap->growths.data;
    for (size_t i = 0; i < heap->growths.len; i++) {
        if (!add_growth(w, table, &growths[i]))
            return false;
    }
    return true;
}

/* Whether the buffers needed far more bytes than doubling would have. */
static bool grows_just_enough(const struct wndl_finding *row)
{
    const struct wndl_alloc_growth *g = &row->growth;
    return g->steps >= GROWTH_LEAST_STEPS &&
           g->allocated / GROWTH_TIMES >= g->doubling;
}

static bool is_measure(const struct wndl_alloc_wrong *wrong)
{
    return wrong->kind >= WNDL_WRONG_MEASURE_INTERIOR;
}

/* The module of the innermost frame: an index of symbolized->modules. */
static uint32_t module_of(const struct work *w, uint32_t node)
{
    const struct wndl_profile *p = w->r->symbolized->profile;
    const uint32_t in_no_image = (uint32_t)p->images.len;
    if (node == 0)
        return in_no_image;
    const struct wndl_node *at = wndl_vec_at(&p->nodes, node);
    const struct wndl_frame_key *key = wndl_vec_at(&p->frames, at->frame);
    return key->image == WNDL_NO_INDEX ? in_no_image : key->image;
}

/* The module that called operator new, which is in one itself. */
static uint32_t module_that_took(
    const struct work *w, const struct wndl_alloc_wrong *wrong)
{
    const struct wndl_vec *nodes = &w->r->symbolized->profile->nodes;
    const uint32_t first = module_of(w, wrong->taken_at);
    uint32_t node = wrong->taken_at;
    if (wrong->taken_by != WNDL_WHOSE_CPP)
        return first;
    while (node != 0 && module_of(w, node) == first)
        node = ((const struct wndl_node *)wndl_vec_at(nodes, node))->parent;
    return node == 0 ? first : module_of(w, node);
}

/* A key for each pair of stacks, of modules and of functions. */
static bool key_of_wrong(struct work *w, const struct wndl_alloc_wrong *wrong,
    struct wndl_findings_key *key)
{
    *key = (struct wndl_findings_key){.extra = {wrong->kind}};
    if (wrong->taken_at != 0) {
        key->extra[0] |=
            (uint64_t)wrong->taken_by << 8 | (uint64_t)wrong->freed_by << 16;
        key->extra[1] = (uint64_t)module_that_took(w, wrong) << 32 |
                        module_of(w, wrong->node);
        if (!wndl_stack_texts_of(w->stacks, wrong->taken_at, WNDL_WALK_COMPLETE,
                &key->leaves[1]))
            return false;
    }
    return wndl_stack_texts_of(
        w->stacks, wrong->node, WNDL_WALK_COMPLETE, &key->leaves[0]);
}

static void note_taken(const struct work *w,
    const struct wndl_alloc_wrong *wrong, struct wndl_finding *finding)
{
    finding->taken_by = wrong->taken_by;
    finding->freed_by = wrong->freed_by;
    finding->taken_in = module_that_took(w, wrong);
    finding->freed_in = module_of(w, wrong->node);
}

static bool add_wrongs(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap, bool measures)
{
    const struct wndl_alloc_wrong *wrongs = heap->wrongs.data;
    for (size_t i = 0; i < heap->wrongs.len; i++) {
        if (is_measure(&wrongs[i]) != measures)
            continue;
        struct wndl_findings_key key;
        struct wndl_heap_sums *row;
        if (!key_of_wrong(w, &wrongs[i], &key) ||
            !wndl_findings_table_find(table, &key, &row))
            return false;
        if (row == NULL)
            continue;
        if (row->blocks == 0)
            row->finding.address = wrongs[i].address;
        row->finding.wrong = wrongs[i].kind;
        if (wrongs[i].taken_at != 0)
            note_taken(w, &wrongs[i], &row->finding);
        row->blocks += (double)wrongs[i].count;
    }
    return true;
}

static bool add_wrongs_of(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap)
{
    return add_wrongs(w, table, heap, false);
}

static bool add_measures_of(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap)
{
    return add_wrongs(w, table, heap, true);
}

static bool add_together(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap, const struct wndl_alloc_together *t)
{
    const struct wndl_alloc_site *site = wndl_vec_at(&heap->sites, t->site);
    const struct wndl_alloc_site *other = wndl_vec_at(&heap->sites, t->other);
    struct wndl_findings_key key = {0};
    struct wndl_heap_sums *row;
    if (!wndl_stack_texts_of(
            w->stacks, site->node, site->end, &key.leaves[0]) ||
        !wndl_stack_texts_of(
            w->stacks, other->node, other->end, &key.leaves[1]) ||
        !wndl_findings_table_find(table, &key, &row))
        return false;
    if (row == NULL)
        return true;
    wndl_findings_add(row, site, t->blocks, wndl_alloc_weight(heap, site));
    return true;
}

static bool add_togethers_of(struct work *w, struct wndl_findings_table *table,
    const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_together *together = heap->together.data;
    for (size_t i = 0; i < heap->together.len; i++) {
        if (together[i].site != together[i].other &&
            !add_together(w, table, heap, &together[i]))
            return false;
    }
    return true;
}

static bool are_many(const struct wndl_finding *row)
{
    return row->figures.blocks >= TOGETHER_LEAST;
}

static uint64_t by_slop(const struct wndl_finding *row)
{
    return (uint64_t)row->figures.slop;
}

static uint64_t by_blocks(const struct wndl_finding *row)
{
    return (uint64_t)row->figures.blocks;
}

static uint64_t by_waste(const struct wndl_finding *row)
{
    return row->growth.allocated - row->growth.doubling;
}

static bool is_any(const struct wndl_finding *row)
{
    (void)row;
    return true;
}

/* ---- all of it */

/* Findings that are not from records: rows of their own. */
struct own_rows {
    enum wndl_finding_kind kind;
    bool (*add)(struct work *w, struct wndl_findings_table *table,
        const struct wndl_process_heap *heap);
    struct wndl_findings_order order;
};

static bool add_own(struct work *w, const struct own_rows *own)
{
    struct wndl_findings_table table;
    bool added = wndl_findings_table_init(
        &table, w->stacks->list, &w->choice->grouping, w->scratch.mem);
    for (size_t i = 0; i < w->r->rows.len && added; i++)
        added = own->add(w, &table, heap_of(w, i));
    added = added && wndl_findings_table_take(&table, &own->order,
                         &w->r->findings.rows[own->kind],
                         &w->r->findings.totals[own->kind]);
    wndl_findings_table_free(&table);
    return added;
}

static bool fill_findings(struct work *w)
{
    static const struct own_rows own[] = {
        {WNDL_FINDING_CLASS, add_classes_of, {is_any, by_slop}},
        {WNDL_FINDING_GROWTH, add_growths_of, {grows_just_enough, by_waste}},
        {WNDL_FINDING_WRONG, add_wrongs_of, {is_any, by_blocks}},
        {WNDL_FINDING_MEASURED, add_measures_of, {is_any, by_blocks}},
        {WNDL_FINDING_TOGETHER, add_togethers_of, {are_many, by_blocks}},
    };
    bool filled =
        add_leaks(w, WNDL_FINDING_DEFINITE) &&
        add_leaks(w, WNDL_FINDING_INDIRECT) &&
        add_leaks(w, WNDL_FINDING_POSSIBLE) && add_reachable(w) &&
        add_which(w, WNDL_FINDING_TEMPORARY, WNDL_HEAP_SET_TEMPORARY,
            WNDL_HEAP_BY_BLOCKS) &&
        add_which(w, WNDL_FINDING_SLOP, w->choice->set, WNDL_HEAP_BY_SLOP);
    for (size_t i = 0; i < sizeof own / sizeof own[0] && filled; i++)
        filled = add_own(w, &own[i]);
    return filled;
}

bool wndl_heap_findings_fill(struct wndl_heap_report *r,
    struct wndl_stack_texts *stacks, const struct wndl_heap_choice *choice)
{
    struct work w = {.r = r, .stacks = stacks, .choice = choice};
    wndl_arena_init(&w.scratch, r->arena.mem);
    bool filled = fill_findings(&w);
    wndl_arena_free(&w.scratch);
    return filled;
}
