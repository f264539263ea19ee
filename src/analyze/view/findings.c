/* SPDX-License-Identifier: MIT */
#include "analyze/view/findings.h"

#include "analyze/heap/report.h"
#include "out/report_text/heap.h"

enum { MOST_OF_A_KIND = 50 };

static const char *const kinds[WNDL_FINDINGS] = {
    [WNDL_FINDING_DEFINITE] = "leaks_definite",
    [WNDL_FINDING_INDIRECT] = "leaks_indirect",
    [WNDL_FINDING_POSSIBLE] = "leaks_possible",
    [WNDL_FINDING_REACHABLE] = "reachable",
    [WNDL_FINDING_TEMPORARY] = "temporary",
    [WNDL_FINDING_GROWTH] = "buffers_that_grow",
    [WNDL_FINDING_CLASS] = "above_size",
    [WNDL_FINDING_SLOP] = "slop",
    [WNDL_FINDING_TOGETHER] = "together",
    [WNDL_FINDING_WRONG] = "wrong_frees",
    [WNDL_FINDING_MEASURED] = "wrong_measures",
};

/* The findings of one heap. */
struct work {
    struct wndl_vec *findings;
    struct wndl_arena *arena;
    const struct wndl_symbolized *s;
    uint32_t heap;
    struct wndl_heap_report report;
    struct wndl_stack_texts stacks; /* the report's */
    uint32_t *node_of_leaf;         /* the profile's node of its stacks */
    size_t leaves;
};

/* ---- whose stack it is */

static bool know_stack(struct work *w, uint32_t node, uint8_t end)
{
    uint32_t leaf;
    if (!wndl_stack_texts_of(&w->stacks, node, end, &leaf))
        return false;
    if (leaf < w->leaves && w->node_of_leaf[leaf] == 0)
        w->node_of_leaf[leaf] = node;
    return true;
}

/* Stacks that are in no finding may be new to the list, and are skipped. */
static bool know_stacks(struct work *w, const struct wndl_process_heap *heap)
{
    const struct wndl_alloc_site *sites = heap->sites.data;
    const struct wndl_alloc_growth *growths = heap->growths.data;
    const struct wndl_alloc_wrong *wrongs = heap->wrongs.data;
    bool known = true;
    w->leaves = w->report.list.frames.len;
    w->node_of_leaf =
        wndl_arena_calloc(w->arena, w->leaves + 1, sizeof *w->node_of_leaf);
    if (w->node_of_leaf == NULL)
        return false;
    for (size_t i = 0; i < heap->sites.len && known; i++)
        known = know_stack(w, sites[i].node, sites[i].end);
    for (size_t i = 0; i < heap->growths.len && known; i++)
        known = know_stack(w, growths[i].node, WNDL_WALK_COMPLETE);
    for (size_t i = 0; i < heap->wrongs.len && known; i++)
        known = know_stack(w, wrongs[i].node, WNDL_WALK_COMPLETE);
    return known;
}

/* ---- the kind of a finding */

/* Its lines as one. */
static bool describe_finding(struct work *w, enum wndl_finding_kind kind,
    const struct wndl_finding *row, struct wndl_bytes *detail)
{
    struct wndl_buf text;
    wndl_buf_init(&text, w->arena->mem);
    wndl_report_finding_text(&w->report, kind, row, &text);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        bool blank = text.data[i] == '\n' || text.data[i] == ' ';
        if (!blank || (size != 0 && text.data[size - 1] != ' '))
            text.data[size++] = blank ? ' ' : text.data[i];
    }
    while (size != 0 && text.data[size - 1] == ' ')
        size--;
    char *copy =
        text.failed ? NULL : wndl_arena_copy(w->arena, text.data, size);
    wndl_buf_free(&text);
    *detail = (struct wndl_bytes){(const uint8_t *)copy, size};
    return copy != NULL;
}

static uint64_t positive(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

static bool add_finding(
    struct work *w, enum wndl_finding_kind kind, const struct wndl_finding *row)
{
    struct wndl_view_finding *finding = wndl_vec_push(w->findings);
    if (finding == NULL)
        return false;
    bool is_growth = kind == WNDL_FINDING_GROWTH;
    uint32_t leaf = row->stack.leaf;
    *finding = (struct wndl_view_finding){
        .heap = w->heap,
        .kind = kinds[kind],
        .title = wndl_report_finding_title(kind),
        .bytes = is_growth ? row->growth.allocated
                           : positive(wndl_heap_usable(&row->figures)),
        .blocks =
            is_growth ? row->growth.chains : positive(row->figures.blocks),
        .node = leaf < w->leaves ? w->node_of_leaf[leaf] : 0,
    };
    return describe_finding(w, kind, row, &finding->detail);
}

static bool add_all(struct work *w)
{
    for (unsigned kind = 0; kind < WNDL_FINDINGS; kind++) {
        const struct wndl_vec *rows = &w->report.findings.rows[kind];
        for (size_t i = 0; i < rows->len && i < MOST_OF_A_KIND; i++) {
            if (!add_finding(
                    w, (enum wndl_finding_kind)kind, wndl_vec_at(rows, i)))
                return false;
        }
    }
    return true;
}

static bool look_at_heap(struct work *w, const struct wndl_process_heap *heap)
{
    static const char *const no_filters[] = {NULL};
    const struct wndl_heap_choice choice = {
        .set = WNDL_HEAP_SET_LIVE,
        .only = heap,
        .grouping = {.max_frames = UINT32_MAX, .filters = no_filters},
    };
    bool found =
        wndl_heap_report_fill(&w->report, w->s, &choice, w->arena->mem);
    if (found) {
        found = wndl_stack_texts_init(&w->stacks, &w->report.list, w->s) &&
                know_stacks(w, heap) && add_all(w);
        wndl_stack_texts_free(&w->stacks);
    }
    wndl_heap_report_free(&w->report);
    return found;
}

bool wndl_view_findings(struct wndl_vec *findings,
    const struct wndl_symbolized *s, struct wndl_arena *arena)
{
    const struct wndl_vec *heaps = &s->profile->heaps;
    wndl_vec_init(findings, arena, sizeof(struct wndl_view_finding));
    for (uint32_t i = 0; i < heaps->len; i++) {
        struct work w = {
            .findings = findings, .arena = arena, .s = s, .heap = i};
        if (!look_at_heap(&w, wndl_vec_at(heaps, i)))
            return false;
    }
    return true;
}
