/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/annotate/annotate.h"

#include "analyze/time/selection.h"
#include "model/frame_key.h"
#include "model/heap.h"

#include <stdlib.h>

static const struct wndl_profile *profile_of(const struct wndl_annotator *x)
{
    return x->of->symbolized->profile;
}

static const struct wndl_node *node_at(
    const struct wndl_annotator *x, uint32_t node)
{
    return wndl_vec_at(&profile_of(x)->nodes, node);
}

static const struct wndl_span *span_of(
    const struct wndl_annotator *x, uint32_t frame)
{
    return wndl_vec_at(&x->of->symbolized->spans, frame);
}

static uint32_t function_at(
    const struct wndl_annotator *x, const struct wndl_span *span, uint32_t i)
{
    return wndl_symbolized_location(x->of->symbolized, span, i)->function;
}

/* The innermost location of the frame in the function; count if none is. */
static uint32_t place_of(const struct wndl_annotator *x,
    const struct wndl_span *span, uint32_t function)
{
    uint32_t i = 0;
    while (i < span->count && function_at(x, span, i) != function)
        i++;
    return i;
}

/* ---- costs by node */

static void add_times(struct wndl_annotator *x)
{
    struct wndl_cost_item item;
    size_t at = 0;
    while (wndl_costs_next(profile_of(x), x->of->time, &at, &item)) {
        wndl_cost_add(&x->of->all, item.cost);
        wndl_cost_add(&x->self[item.node], item.cost);
    }
}

static uint64_t round_value(double value)
{
    return value < 1e18 ? (uint64_t)(value + 0.5) : (uint64_t)1e18;
}

static void add_heap(struct wndl_annotator *x,
    const struct wndl_process_heap *heap, enum wndl_heap_set set)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        double blocks = (double)wndl_heap_count(&counts[i], set) *
                        wndl_alloc_weight(heap, site);
        double bytes = (double)site->requested + (double)site->slop;
        const struct wndl_cost cost = {
            round_value(blocks), round_value(blocks * bytes)};
        wndl_cost_add(&x->of->all, cost);
        wndl_cost_add(&x->self[site->node], cost);
    }
}

static void add_heaps(
    struct wndl_annotator *x, const struct wndl_heap_choice *choice)
{
    const struct wndl_profile *p = profile_of(x);
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (wndl_heap_chosen(p, &heaps[i], choice))
            add_heap(x, &heaps[i], choice->set);
    }
}

/* From the back: the total of a child is whole before its parent gets it. */
static void sum_totals(struct wndl_annotator *x)
{
    for (uint32_t i = (uint32_t)profile_of(x)->nodes.len; i-- > 1;) {
        wndl_cost_add(&x->total[i], x->self[i]);
        wndl_cost_add(&x->total[node_at(x, i)->parent], x->total[i]);
    }
}

static bool sum_costs(
    struct wndl_annotator *x, const struct wndl_annotate_choice *choice)
{
    size_t nodes = profile_of(x)->nodes.len;
    x->self = wndl_arena_calloc(&x->arena, nodes, sizeof *x->self);
    x->total = wndl_arena_calloc(&x->arena, nodes, sizeof *x->total);
    if (x->self == NULL || x->total == NULL ||
        !wndl_node_walk_init(&x->walk, profile_of(x), &x->arena))
        return false;
    if (choice->heap != NULL)
        add_heaps(x, choice->heap);
    else
        add_times(x);
    sum_totals(x);
    return true;
}

/* ---- the functions of a name */

struct finding {
    struct wndl_annotator *x;
    uint32_t *index_of; /* by function: its index + 1; 0: another name */
    uint32_t *open;     /* by index: how often it is on the path */
};

static void enter_functions(void *context, uint32_t node)
{
    struct finding *f = context;
    const struct wndl_span *span = span_of(f->x, node_at(f->x, node)->frame);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t function = function_at(f->x, span, i);
        uint32_t index = f->index_of[function];
        if (index == 0)
            continue;
        struct wndl_annotated *a = wndl_vec_at(&f->x->of->functions, index - 1);
        if (place_of(f->x, span, function) == i)
            wndl_cost_add(&a->self, f->x->self[node]);
        if (f->open[index - 1]++ == 0)
            wndl_cost_add(&a->total, f->x->total[node]);
    }
}

static void leave_functions(void *context, uint32_t node)
{
    struct finding *f = context;
    const struct wndl_span *span = span_of(f->x, node_at(f->x, node)->frame);
    for (uint32_t i = 0; i < span->count; i++) {
        uint32_t index = f->index_of[function_at(f->x, span, i)];
        if (index != 0)
            f->open[index - 1]--;
    }
}

static bool add_function(struct wndl_annotation *of, uint32_t function)
{
    struct wndl_annotated *a = wndl_vec_push(&of->functions);
    if (a == NULL)
        return false;
    a->function = function;
    wndl_vec_init(&a->lines, &of->arena, sizeof(struct wndl_annotated_line));
    wndl_vec_init(
        &a->inlined, &of->arena, sizeof(struct wndl_annotated_inlined));
    wndl_vec_init(
        &a->callers, &of->arena, sizeof(struct wndl_annotated_caller));
    wndl_vec_init(&a->code, &of->arena, sizeof(struct wndl_annotated_code));
    wndl_vec_init(&a->files, &of->arena, sizeof(struct wndl_annotated_file));
    return true;
}

static bool add_functions(struct finding *f, const char *name)
{
    const struct wndl_symbolized *s = f->x->of->symbolized;
    for (uint32_t i = 0; i < s->functions.len; i++) {
        const struct wndl_function *function = wndl_vec_at(&s->functions, i);
        if (name != NULL &&
            !wndl_function_is_named(
                wndl_intern_get(&s->strings, function->name), name))
            continue;
        if (!add_function(f->x->of, i))
            return false;
        f->index_of[i] = (uint32_t)f->x->of->functions.len;
    }
    return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders costs, the larger first. */
static int compare_costs(const struct wndl_cost *a, const struct wndl_cost *b)
{
    int order = compare_u64(b->time, a->time);
    return order != 0 ? order : compare_u64(b->samples, a->samples);
}

static int compare_functions(const void *a, const void *b)
{
    const struct wndl_annotated *x = a, *y = b;
    int order = compare_costs(&x->total, &y->total);
    if (order == 0)
        order = compare_costs(&x->self, &y->self);
    return order != 0 ? order : compare_u64(x->function, y->function);
}

static void sort_vec(
    struct wndl_vec *vec, int (*compare)(const void *a, const void *b))
{
    if (vec->len > 1)
        qsort(vec->data, vec->len, vec->element, compare);
}

/* Functions without a cost are at the end. */
static void drop_costless(struct wndl_annotation *of)
{
    const struct wndl_annotated *all = of->functions.data;
    sort_vec(&of->functions, compare_functions);
    while (
        of->functions.len > 0 && all[of->functions.len - 1].total.samples == 0)
        of->functions.len--;
}

static bool find_functions(struct wndl_annotator *x, const char *name)
{
    struct finding f = {.x = x};
    size_t functions = x->of->symbolized->functions.len;
    f.index_of =
        wndl_arena_calloc(&x->arena, functions + 1, sizeof *f.index_of);
    if (f.index_of == NULL || !add_functions(&f, name))
        return false;
    f.open =
        wndl_arena_calloc(&x->arena, x->of->functions.len + 1, sizeof *f.open);
    if (f.open == NULL)
        return false;
    const struct wndl_node_visitor visitor = {
        enter_functions, leave_functions, &f};
    wndl_node_walk(&x->walk, &visitor);
    drop_costless(x->of);
    return true;
}

bool wndl_annotator_init(struct wndl_annotator *x, struct wndl_annotation *of,
    struct wndl_symbolized *s, const struct wndl_annotate_choice *choice)
{
    *of = (struct wndl_annotation){
        .symbolized = s,
        .of_heap = choice->heap != NULL,
        .time = choice->time,
    };
    *x = (struct wndl_annotator){.of = of};
    wndl_arena_init(&of->arena, s->arena.mem);
    wndl_arena_init(&x->arena, s->arena.mem);
    wndl_vec_init(&of->functions, &of->arena, sizeof(struct wndl_annotated));
    return sum_costs(x, choice) && find_functions(x, choice->name);
}

void wndl_annotator_free(struct wndl_annotator *x)
{
    wndl_arena_free(&x->arena);
    wndl_arena_free(&x->of->arena);
}

/* ---- one function */

/* Indices of rows are + 1; 0: none. */
struct filling {
    struct wndl_annotator *x;
    struct wndl_annotated *a;
    struct wndl_arena arena;
    struct wndl_map lines, inlined, callers;       /* key -> row */
    uint32_t *line_of, *inlined_of, *code_of;      /* by frame */
    uint32_t *caller_of;                           /* by node */
    uint32_t *open_line, *open_code, *open_caller; /* by row */
};

static bool line_row(
    struct filling *f, uint32_t file, uint32_t line, uint32_t *row)
{
    uint64_t *slot = wndl_map_put(&f->lines, (uint64_t)file << 32 | line);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        struct wndl_annotated_line *fresh = wndl_vec_push(&f->a->lines);
        if (fresh == NULL)
            return false;
        fresh->file = file;
        fresh->line = line;
        *slot = f->a->lines.len;
    }
    *row = (uint32_t)*slot;
    return true;
}

/* `key` is the index of the innermost location. */
static bool inlined_row(
    struct filling *f, uint32_t line, uint32_t key, uint32_t *row)
{
    uint64_t *slot = wndl_map_put(&f->inlined, (uint64_t)line << 32 | key);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        const struct wndl_annotated_line *at =
            wndl_vec_at(&f->a->lines, line - 1);
        struct wndl_annotated_inlined *fresh = wndl_vec_push(&f->a->inlined);
        if (fresh == NULL)
            return false;
        fresh->file = at->file;
        fresh->line = at->line;
        fresh->location = key;
        *slot = f->a->inlined.len;
    }
    *row = (uint32_t)*slot;
    return true;
}

static bool caller_row(struct filling *f, uint32_t location, uint32_t *row)
{
    uint64_t *slot = wndl_map_put(&f->callers, (uint64_t)location + 1);
    if (slot == NULL)
        return false;
    if (*slot == 0) {
        struct wndl_annotated_caller *fresh = wndl_vec_push(&f->a->callers);
        if (fresh == NULL)
            return false;
        fresh->location = location;
        *slot = f->a->callers.len;
    }
    *row = (uint32_t)*slot;
    return true;
}

/* The instruction with that byte. */
static uint32_t code_row(const struct filling *f, uint64_t rva)
{
    const struct wndl_annotated_code *code = f->a->code.data;
    size_t low = 0, high = f->a->code.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code[middle].rva + code[middle].size <= rva)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->a->code.len && code[low].rva <= rva ? (uint32_t)low + 1 : 0;
}

static uint32_t location_index(
    const struct filling *f, const struct wndl_span *span, uint32_t i)
{
    const uint32_t *index =
        wndl_vec_at(&f->x->of->symbolized->frame_locations, span->first + i);
    return *index;
}

static bool add_frame(struct filling *f, uint32_t frame)
{
    const struct wndl_symbolized *s = f->x->of->symbolized;
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, f->a->function);
    const struct wndl_frame_key *key = wndl_vec_at(&s->profile->frames, frame);
    const struct wndl_span *span = span_of(f->x, frame);
    uint32_t i = place_of(f->x, span, f->a->function);
    if (i == span->count)
        return true;
    const struct wndl_location *at = wndl_symbolized_location(s, span, i);
    if (!line_row(f, at->file, at->line, &f->line_of[frame]) ||
        (i != 0 && !inlined_row(f, f->line_of[frame],
                       location_index(f, span, 0), &f->inlined_of[frame])))
        return false;
    if (key->image == function->module)
        f->code_of[frame] = code_row(f, wndl_frame_key_byte(key));
    return true;
}

/* Also lines without a cost are lines of the function. */
static bool add_lines_of_code(struct filling *f)
{
    const struct wndl_annotated_code *code = f->a->code.data;
    uint32_t row;
    for (size_t i = 0; i < f->a->code.len; i++) {
        if (code[i].own_line != 0 &&
            !line_row(f, code[i].own_file, code[i].own_line, &row))
            return false;
    }
    return true;
}

/* The caller is the next location of the frame, or in the frame above. */
static bool add_caller(struct filling *f, uint32_t node)
{
    uint32_t frame = node_at(f->x, node)->frame;
    if (f->line_of[frame] == 0)
        return true;
    const struct wndl_span *span = span_of(f->x, frame);
    uint32_t i = place_of(f->x, span, f->a->function) + 1;
    uint32_t parent = node_at(f->x, node)->parent;
    if (i < span->count)
        return caller_row(f, location_index(f, span, i), &f->caller_of[node]);
    if (parent == 0)
        return caller_row(f, WNDL_NO_INDEX, &f->caller_of[node]);
    span = span_of(f->x, node_at(f->x, parent)->frame);
    return caller_row(f, location_index(f, span, 0), &f->caller_of[node]);
}

static bool make_rows(struct filling *f)
{
    size_t frames = profile_of(f->x)->frames.len;
    size_t nodes = profile_of(f->x)->nodes.len;
    f->line_of = wndl_arena_calloc(&f->arena, frames + 1, sizeof(uint32_t));
    f->inlined_of = wndl_arena_calloc(&f->arena, frames + 1, sizeof(uint32_t));
    f->code_of = wndl_arena_calloc(&f->arena, frames + 1, sizeof(uint32_t));
    f->caller_of = wndl_arena_calloc(&f->arena, nodes + 1, sizeof(uint32_t));
    if (f->line_of == NULL || f->inlined_of == NULL || f->code_of == NULL ||
        f->caller_of == NULL || !add_lines_of_code(f))
        return false;
    for (uint32_t i = 0; i < frames; i++) {
        if (!add_frame(f, i))
            return false;
    }
    for (uint32_t i = 1; i < nodes; i++) {
        if (!add_caller(f, i))
            return false;
    }
    f->open_line =
        wndl_arena_calloc(&f->arena, f->a->lines.len + 1, sizeof(uint32_t));
    f->open_code =
        wndl_arena_calloc(&f->arena, f->a->code.len + 1, sizeof(uint32_t));
    f->open_caller =
        wndl_arena_calloc(&f->arena, f->a->callers.len + 1, sizeof(uint32_t));
    return f->open_line != NULL && f->open_code != NULL &&
           f->open_caller != NULL;
}

static void enter_code(struct filling *f, uint32_t row, uint32_t node)
{
    if (row == 0)
        return;
    struct wndl_annotated_code *code = wndl_vec_at(&f->a->code, row - 1);
    wndl_cost_add(&code->self, f->x->self[node]);
    if (f->open_code[row]++ == 0)
        wndl_cost_add(&code->total, f->x->total[node]);
}

static void enter_caller(struct filling *f, uint32_t row, uint32_t node)
{
    struct wndl_annotated_caller *caller = wndl_vec_at(&f->a->callers, row - 1);
    if (f->open_caller[row]++ == 0)
        wndl_cost_add(&caller->total, f->x->total[node]);
}

static void enter_line(void *context, uint32_t node)
{
    struct filling *f = context;
    uint32_t frame = node_at(f->x, node)->frame;
    uint32_t row = f->line_of[frame];
    if (row == 0)
        return;
    struct wndl_annotated_line *line = wndl_vec_at(&f->a->lines, row - 1);
    wndl_cost_add(&line->self, f->x->self[node]);
    if (f->open_line[row]++ == 0)
        wndl_cost_add(&line->total, f->x->total[node]);
    if (f->inlined_of[frame] != 0) {
        struct wndl_annotated_inlined *inlined =
            wndl_vec_at(&f->a->inlined, f->inlined_of[frame] - 1);
        wndl_cost_add(&inlined->self, f->x->self[node]);
    }
    enter_code(f, f->code_of[frame], node);
    enter_caller(f, f->caller_of[node], node);
}

static void leave_line(void *context, uint32_t node)
{
    struct filling *f = context;
    uint32_t frame = node_at(f->x, node)->frame;
    uint32_t row = f->line_of[frame];
    if (row == 0)
        return;
    f->open_line[row]--;
    f->open_caller[f->caller_of[node]]--;
    if (f->code_of[frame] != 0)
        f->open_code[f->code_of[frame]]--;
}

/* ---- order */

/* The file of the function's start comes first, as id 0. */
static uint64_t line_key(uint32_t own, uint32_t file, uint32_t line)
{
    return (uint64_t)(file == own ? 0 : (uint64_t)file + 1) << 32 | line;
}

static int compare_lines(const void *a, const void *b, void *context)
{
    const struct wndl_annotated_line *x = a, *y = b;
    uint32_t own = *(const uint32_t *)context;
    return compare_u64(
        line_key(own, x->file, x->line), line_key(own, y->file, y->line));
}

static int compare_inlined(const void *a, const void *b, void *context)
{
    const struct wndl_annotated_inlined *x = a, *y = b;
    uint32_t own = *(const uint32_t *)context;
    int order = compare_u64(
        line_key(own, x->file, x->line), line_key(own, y->file, y->line));
    if (order == 0)
        order = compare_costs(&x->self, &y->self);
    return order != 0 ? order : compare_u64(x->location, y->location);
}

static int compare_callers(const void *a, const void *b)
{
    const struct wndl_annotated_caller *x = a, *y = b;
    int order = compare_costs(&x->total, &y->total);
    return order != 0 ? order : compare_u64(x->location, y->location);
}

static void drop_free_inlined(struct wndl_vec *inlined)
{
    struct wndl_annotated_inlined *all = inlined->data;
    size_t kept = 0;
    for (size_t i = 0; i < inlined->len; i++) {
        if (all[i].self.samples != 0)
            all[kept++] = all[i];
    }
    inlined->len = kept;
}

static void drop_free_callers(struct wndl_vec *callers)
{
    struct wndl_annotated_caller *all = callers->data;
    size_t kept = 0;
    for (size_t i = 0; i < callers->len; i++) {
        if (all[i].total.samples != 0)
            all[kept++] = all[i];
    }
    callers->len = kept;
}

static void sort_rows(struct wndl_annotated *a, uint32_t own)
{
    drop_free_inlined(&a->inlined);
    drop_free_callers(&a->callers);
    if (a->lines.len > 1)
        qsort_r(
            a->lines.data, a->lines.len, a->lines.element, compare_lines, &own);
    if (a->inlined.len > 1)
        qsort_r(a->inlined.data, a->inlined.len, a->inlined.element,
            compare_inlined, &own);
    sort_vec(&a->callers, compare_callers);
}

/* ---- files */

static bool mention(
    struct wndl_annotated *a, uint32_t file, struct wndl_annotated_file **to)
{
    *to = (struct wndl_annotated_file *)wndl_annotated_file(a, file);
    if (*to != NULL)
        return true;
    *to = wndl_vec_push(&a->files);
    if (*to == NULL)
        return false;
    (*to)->file = file;
    return true;
}

static void widen_file(struct wndl_annotated_file *file, uint32_t line)
{
    file->is_own = true;
    if (line == 0)
        return;
    if (file->first == 0 || line < file->first)
        file->first = line;
    if (line > file->last)
        file->last = line;
}

static bool mention_lines(
    struct wndl_annotated *a, const struct wndl_function *function)
{
    const struct wndl_annotated_line *lines = a->lines.data;
    struct wndl_annotated_file *file;
    for (size_t i = 0; i < a->lines.len; i++) {
        if (!mention(a, lines[i].file, &file))
            return false;
        widen_file(file, lines[i].line);
        if (lines[i].file == function->file)
            widen_file(file, function->line);
    }
    return true;
}

/* The files of inlined code, for the texts of its lines. */
static bool mention_inlined(
    struct wndl_annotated *a, const struct wndl_symbolized *s)
{
    const struct wndl_annotated_inlined *inlined = a->inlined.data;
    const struct wndl_annotated_code *code = a->code.data;
    struct wndl_annotated_file *file;
    for (size_t i = 0; i < a->inlined.len; i++) {
        const struct wndl_location *at =
            wndl_vec_at(&s->locations, inlined[i].location);
        if (!mention(a, at->file, &file))
            return false;
    }
    for (size_t i = 0; i < a->code.len; i++) {
        if (!mention(a, code[i].file, &file))
            return false;
    }
    return true;
}

static bool fill(struct filling *f)
{
    const struct wndl_symbolized *s = f->x->of->symbolized;
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, f->a->function);
    const struct wndl_node_visitor visitor = {enter_line, leave_line, f};
    if (!make_rows(f))
        return false;
    wndl_node_walk(&f->x->walk, &visitor);
    sort_rows(f->a, function->file);
    return mention_lines(f->a, function) && mention_inlined(f->a, s);
}

bool wndl_annotator_fill(struct wndl_annotator *x, struct wndl_annotated *a)
{
    struct filling f = {.x = x, .a = a};
    wndl_arena_init(&f.arena, x->arena.mem);
    wndl_map_init(&f.lines, &f.arena);
    wndl_map_init(&f.inlined, &f.arena);
    wndl_map_init(&f.callers, &f.arena);
    bool filled = fill(&f);
    wndl_arena_free(&f.arena);
    return filled;
}
