/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/time/selection.h"

#include "base/buf.h"
#include "model/heap.h"
#include "rec/filter.h"

#include <string.h>

/* ---- names */

/* Skips what stands between the brackets that open at `text`. */
static size_t skip_brackets(struct wndl_bytes text, size_t at)
{
    size_t depth = 0;
    do {
        depth += text.data[at] == '<';
        depth -= text.data[at] == '>';
        at++;
    } while (at < text.size && depth != 0);
    return at;
}

/* Whether nothing that belongs to the name follows. */
static bool ends_name(struct wndl_bytes full, size_t at)
{
    return at == full.size || strchr("(.@[", full.data[at]) != NULL;
}

/* Compares from `at` on; template arguments in `full` may be left out. */
static bool is_named_from(struct wndl_bytes full, size_t at, const char *name)
{
    for (; *name != '\0'; name++) {
        if (at < full.size && full.data[at] == '<' && *name != '<')
            at = skip_brackets(full, at);
        if (at >= full.size || full.data[at++] != (uint8_t)*name)
            return false;
    }
    if (at < full.size && full.data[at] == '<')
        at = skip_brackets(full, at);
    return ends_name(full, at);
}

static bool begins_part(struct wndl_bytes full, size_t at)
{
    return at == 0 || full.data[at - 1] == ':' || full.data[at - 1] == ' ';
}

bool wndl_function_is_named(struct wndl_bytes full, const char *name)
{
    if (*name == '\0')
        return false;
    if (wndl_bytes_is(full, name))
        return true;
    for (size_t at = 0; at < full.size && full.data[at] != '('; at++) {
        if (begins_part(full, at) && is_named_from(full, at, name))
            return true;
    }
    return false;
}

/* ---- stacks */

/* Bits for the things that a stack has: one for each text, and three more. */
enum {
    HAS_FUNCTION = 1 << WNDL_SELECTION_TEXTS,
    HAS_MODULE = HAS_FUNCTION << 1,
    HAS_IGNORED = HAS_MODULE << 1,
};

struct choosing {
    struct wndl_profile *p;
    const struct wndl_symbolized *s;
    const struct wndl_selection *selection;
    struct wndl_arena scratch;
    bool *by_thread;   /* whether it is selected */
    uint32_t *by_node; /* what the stack has */
    uint32_t wanted;   /* of those bits, */
    uint32_t unwanted; /* and those that it must not have */
};

static bool has_text(struct wndl_bytes in, const char *text)
{
    return memmem(in.data, in.size, text, strlen(text)) != NULL;
}

const char *wndl_selection_text(const char *filter)
{
    return filter + (*filter == '!' || *filter == '\\');
}

static bool selects_stacks(const struct wndl_selection *selection)
{
    return selection->function != NULL || selection->module != NULL ||
           selection->ignored != NULL ||
           (selection->texts != NULL && selection->texts[0] != NULL);
}

bool wndl_module_is_named(const struct wndl_symbolized *s,
    const struct wndl_module *module, const char *name)
{
    return wndl_bytes_is(wndl_intern_get(&s->strings, module->name), name) ||
           wndl_bytes_is(wndl_intern_get(&s->strings, module->path), name);
}

static uint32_t held_by_function(const struct choosing *c, uint32_t index)
{
    const struct wndl_symbolized *s = c->s;
    const struct wndl_selection *selection = c->selection;
    const struct wndl_function *f = wndl_vec_at(&s->functions, index);
    const struct wndl_module *module = wndl_vec_at(&s->modules, f->module);
    struct wndl_bytes name = wndl_intern_get(&s->strings, f->name);
    uint32_t held = 0;
    for (size_t i = 0; selection->texts != NULL && selection->texts[i] != NULL;
         i++) {
        const char *text = wndl_selection_text(selection->texts[i]);
        bool has = has_text(name, text) ||
                   has_text(wndl_intern_get(&s->strings, f->file), text) ||
                   has_text(wndl_intern_get(&s->strings, module->path), text);
        held |= (uint32_t)has << i;
    }
    if (selection->function != NULL &&
        wndl_function_is_named(name, selection->function))
        held |= HAS_FUNCTION;
    if (selection->ignored != NULL &&
        wndl_function_is_named(name, selection->ignored))
        held |= HAS_IGNORED;
    if (selection->module != NULL &&
        wndl_module_is_named(s, module, selection->module))
        held |= HAS_MODULE;
    return held;
}

/* A parent's number is smaller than those of its nodes. */
static bool look_at_stacks(struct choosing *c)
{
    const struct wndl_symbolized *s = c->s;
    size_t functions = s->functions.len;
    uint32_t *by_function =
        wndl_arena_calloc(&c->scratch, functions + 1, sizeof *by_function);
    c->by_node =
        wndl_arena_calloc(&c->scratch, c->p->nodes.len + 1, sizeof *c->by_node);
    if (by_function == NULL || c->by_node == NULL)
        return false;
    for (uint32_t i = 0; i < functions; i++)
        by_function[i] = held_by_function(c, i);
    for (size_t i = 1; i < c->p->nodes.len; i++) {
        const struct wndl_node *node = wndl_vec_at(&c->p->nodes, i);
        const struct wndl_span *span = wndl_vec_at(&s->spans, node->frame);
        c->by_node[i] = c->by_node[node->parent];
        for (uint32_t k = 0; k < span->count; k++)
            c->by_node[i] |=
                by_function[wndl_symbolized_location(s, span, k)->function];
    }
    return true;
}

static void set_wanted(struct choosing *c)
{
    const struct wndl_selection *selection = c->selection;
    for (size_t i = 0; selection->texts != NULL && selection->texts[i] != NULL;
         i++)
        *(selection->texts[i][0] == '!' ? &c->unwanted : &c->wanted) |=
            UINT32_C(1) << i;
    if (selection->function != NULL)
        c->wanted |= HAS_FUNCTION;
    if (selection->module != NULL)
        c->wanted |= HAS_MODULE;
    if (selection->ignored != NULL)
        c->unwanted |= HAS_IGNORED;
}

static bool is_stack_chosen(const struct choosing *c, uint32_t node)
{
    uint32_t held = c->by_node == NULL ? 0 : c->by_node[node];
    return (held & c->wanted) == c->wanted && (held & c->unwanted) == 0;
}

/* ---- threads and times */

static bool look_at_threads(struct choosing *c)
{
    const struct wndl_selection *selection = c->selection;
    const struct wndl_profile *p = c->p;
    c->by_thread = wndl_arena_calloc(
        &c->scratch, p->threads.len + 1, sizeof *c->by_thread);
    struct wndl_buf name;
    wndl_buf_init(&name, p->arena.mem);
    for (size_t i = 0; i < p->threads.len && c->by_thread != NULL; i++) {
        const struct wndl_thread *t = wndl_vec_at(&p->threads, i);
        const struct wndl_process *of = wndl_vec_at(&p->processes, t->process);
        wndl_buf_clear(&name);
        wndl_buf_add(&name, t->name.data, t->name.size);
        wndl_buf_byte(&name, '\0');
        const struct wndl_filter_thread whom = {(int)of->pid, (int)t->tid,
            name.failed ? "" : (const char *)name.data};
        c->by_thread[i] =
            (selection->process == 0 || selection->process == of->pid) &&
            (selection->threads == NULL ||
                wndl_filter_has(selection->threads, &whom));
    }
    bool failed = name.failed;
    wndl_buf_free(&name);
    return c->by_thread != NULL && !failed;
}

/* The first interval that ends after `time`; time_count if there is none. */
static size_t interval_after(
    const struct wndl_selection *selection, uint64_t time)
{
    size_t low = 0, high = selection->time_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (selection->times[middle].end > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_time_chosen(
    const struct wndl_selection *selection, uint64_t time)
{
    size_t i = interval_after(selection, time);
    return selection->time_count == 0 ||
           (i < selection->time_count && selection->times[i].start <= time);
}

/*
 * Cuts a span at the interval `i`. False if nothing is in it; a moment has no
 * duration, and is in it or not.
 */
static bool cut_at(const struct wndl_selection *selection, size_t i,
    uint64_t *start, uint64_t *duration)
{
    if (selection->time_count == 0)
        return true;
    const struct wndl_interval *in = &selection->times[i];
    uint64_t end = *start + *duration;
    if (*duration == 0)
        return *start >= in->start && *start < in->end;
    if (end <= in->start || *start >= in->end)
        return false;
    end = end < in->end ? end : in->end;
    *start = *start > in->start ? *start : in->start;
    *duration = end - *start;
    return true;
}

/* ---- choosing */

static void choose_samples(struct choosing *c)
{
    struct wndl_vec *samples = &c->p->samples;
    size_t kept = 0;
    memset(c->p->ends, 0, sizeof c->p->ends);
    for (size_t i = 0; i < samples->len; i++) {
        const struct wndl_sample sample =
            *(const struct wndl_sample *)wndl_vec_at(samples, i);
        if (!c->by_thread[sample.thread] ||
            !is_time_chosen(c->selection, sample.time) ||
            !is_stack_chosen(c, sample.node))
            continue;
        *(struct wndl_sample *)wndl_vec_at(samples, kept++) = sample;
        c->p->ends[sample.end]++;
    }
    samples->len = kept;
}

/* Adds the parts of a block that are selected. False when memory is out. */
static bool add_parts(
    struct choosing *c, struct wndl_vec *to, const struct wndl_block *block)
{
    size_t i = interval_after(c->selection, block->start);
    do {
        struct wndl_block part = *block;
        if ((c->selection->time_count != 0 && i >= c->selection->time_count) ||
            !cut_at(c->selection, i++, &part.start, &part.duration))
            return true;
        struct wndl_block *slot = wndl_vec_push(to);
        if (slot == NULL)
            return false;
        *slot = part;
        c->p->block_ends[part.end] += !part.waiting && part.node != 0;
    } while (c->selection->time_count != 0);
    return true;
}

/* A block may be in several intervals, so that there may be more of them. */
static bool choose_blocks(struct choosing *c)
{
    struct wndl_vec chosen;
    const struct wndl_vec *blocks = &c->p->blocks;
    wndl_vec_init(&chosen, &c->p->arena, sizeof(struct wndl_block));
    memset(c->p->block_ends, 0, sizeof c->p->block_ends);
    for (size_t i = 0; i < blocks->len; i++) {
        const struct wndl_block *block = wndl_vec_at(blocks, i);
        const size_t before = chosen.len;
        if (c->by_thread[block->thread] && is_stack_chosen(c, block->node) &&
            !add_parts(c, &chosen, block))
            return false;
        c->p->unselected.kept_blocks += chosen.len != before;
    }
    c->p->blocks = chosen;
    return true;
}

static bool is_mark_chosen(
    const struct choosing *c, const struct wndl_mark *mark)
{
    const struct wndl_selection *selection = c->selection;
    size_t i = interval_after(selection, mark->time);
    uint64_t start = mark->time, duration = mark->duration;
    return c->by_thread[mark->thread] &&
           (selection->time_count == 0 ||
               (i < selection->time_count &&
                   cut_at(selection, i, &start, &duration)));
}

static void choose_marks(struct choosing *c)
{
    struct wndl_vec *marks = &c->p->marks;
    size_t kept = 0;
    for (size_t i = 0; i < marks->len; i++) {
        const struct wndl_mark mark =
            *(const struct wndl_mark *)wndl_vec_at(marks, i);
        if (is_mark_chosen(c, &mark))
            *(struct wndl_mark *)wndl_vec_at(marks, kept++) = mark;
    }
    marks->len = kept;
}

/* Times and threads choose nothing of a heap, which has neither. */
static void choose_heap(struct choosing *c, struct wndl_process_heap *heap)
{
    struct wndl_alloc_counts *counts = heap->counts.data;
    size_t kept = 0;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        if (is_stack_chosen(c, site->node))
            counts[kept++] = counts[i];
    }
    heap->counts.len = kept;
}

static void choose_heaps(struct choosing *c)
{
    for (size_t i = 0; i < c->p->heaps.len; i++)
        choose_heap(c, wndl_vec_at(&c->p->heaps, i));
}

static void drop_unsampled(struct choosing *c)
{
    bool parts = c->selection->time_count != 0 || selects_stacks(c->selection);
    for (size_t i = 0; i < c->p->threads.len; i++) {
        struct wndl_thread *thread = wndl_vec_at(&c->p->threads, i);
        if (parts || !c->by_thread[i])
            thread->unsampled_cpu = 0;
    }
}

static bool choose(struct choosing *c)
{
    set_wanted(c);
    if (!look_at_threads(c) ||
        (selects_stacks(c->selection) && !look_at_stacks(c)))
        return false;
    c->p->unselected.samples = c->p->samples.len;
    c->p->unselected.blocks = c->p->blocks.len;
    c->p->is_selected = true;
    choose_samples(c);
    choose_marks(c);
    choose_heaps(c);
    drop_unsampled(c);
    return choose_blocks(c);
}

bool wndl_select(struct wndl_profile *p, const struct wndl_symbolized *s,
    const struct wndl_selection *selection)
{
    struct choosing c = {.p = p, .s = s, .selection = selection};
    wndl_arena_init(&c.scratch, p->arena.mem);
    bool chosen = choose(&c);
    wndl_arena_free(&c.scratch);
    return chosen;
}
