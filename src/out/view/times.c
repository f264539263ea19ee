/* SPDX-License-Identifier: MIT */
/*
 * view_times: the samples, blocks, marks and pauses, by thread and in order of
 * time.
 */
#include "out/view/view.h"

#include <stdlib.h>

enum { NS_PER_US = 1000 };

/* An event of a thread. */
struct moment {
    uint64_t time; /* ns */
    uint32_t thread;
    uint32_t index; /* in its list */
};

/* A recording's values for the i-th element of a list. */
struct kind {
    const struct wndl_vec *(*list)(const struct wndl_profile *p);
    struct moment (*moment)(const void *element);
};

/* The moments of all recordings, in order. */
struct line {
    struct wndl_view_columns *to;
    struct wndl_view_writer *w;
    struct moment *moments;
    size_t count;
    size_t starts[WNDL_MERGED_MAX + 1]; /* of each recording's */
    uint8_t *bytes;
};

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* By thread first: the moments of one thread are usually in order already. */
static bool sort_moments(struct wndl_view_writer *w, struct moment *moments,
    size_t count, size_t threads)
{
    size_t *next = wndl_arena_calloc(&w->arena, threads + 1, sizeof *next);
    struct moment *by_thread =
        wndl_arena_calloc(&w->arena, count + 1, sizeof *by_thread);
    if (next == NULL || by_thread == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        next[moments[i].thread + 1]++;
    for (size_t i = 1; i <= threads; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < count; i++)
        by_thread[next[moments[i].thread]++] = moments[i];
    bool ordered = true;
    for (size_t i = 0; i < count; i++) {
        moments[i] = by_thread[i];
        ordered = ordered &&
                  (i == 0 || compare_moments(&moments[i - 1], &moments[i]) < 0);
    }
    if (!ordered)
        qsort(moments, count, sizeof *moments, compare_moments);
    return true;
}

static bool fill_line(struct line *l, const struct kind *kind)
{
    struct wndl_view_writer *w = l->w;
    for (size_t r = 0; r < w->view->count; r++)
        l->count += kind->list(wndl_view_profile(w, r))->len;
    l->moments = wndl_arena_calloc(&w->arena, l->count + 1, sizeof *l->moments);
    l->bytes = wndl_arena_alloc(&w->arena, l->count + 1);
    if (l->moments == NULL || l->bytes == NULL)
        return false;
    size_t at = 0;
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_profile *p = wndl_view_profile(w, r);
        const struct wndl_vec *list = kind->list(p);
        l->starts[r] = at;
        for (size_t i = 0; i < list->len; i++, at++) {
            l->moments[at] = kind->moment(wndl_vec_at(list, i));
            l->moments[at].index = (uint32_t)i;
        }
        l->starts[r + 1] = at;
        if (!sort_moments(w, l->moments + l->starts[r], at - l->starts[r],
                p->threads.len))
            return false;
    }
    return true;
}

static bool open_line(struct line *l, struct wndl_view_writer *w,
    const struct kind *kind, struct wndl_view_columns *to)
{
    *l = (struct line){.to = to, .w = w};
    w->failed = w->failed || !fill_line(l, kind);
    return !w->failed;
}

/* A column's value for a moment; `part` is its recording. */
typedef uint64_t value_of(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment);

static void add_column(
    const struct line *l, const char *name, value_of *value, bool delta)
{
    struct wndl_view_writer *w = l->w;
    for (size_t r = 0; r < w->view->count; r++) {
        for (size_t i = l->starts[r]; i < l->starts[r + 1]; i++)
            w->numbers[i] = value(w, &w->merged.parts[r], &l->moments[i]);
    }
    wndl_view_numbers(l->to, name, w->numbers, l->count, delta);
}

static void add_bytes(const struct line *l, const char *name, value_of *value)
{
    struct wndl_view_writer *w = l->w;
    for (size_t r = 0; r < w->view->count; r++) {
        for (size_t i = l->starts[r]; i < l->starts[r + 1]; i++)
            l->bytes[i] =
                (uint8_t)value(w, &w->merged.parts[r], &l->moments[i]);
    }
    wndl_view_bytes(l->to, name, l->bytes, l->count);
}

static uint64_t thread_of(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    return w->first_thread[part - w->merged.parts] + moment->thread;
}

static uint64_t time_of(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    (void)part;
    return moment->time / NS_PER_US;
}

/* ---- sums of stacks, from which a page's first picture is made */

/* The samples of a stack, and of a way in which its walks ended. */
struct stack_sum {
    uint32_t node; /* of the page */
    uint8_t recording, end;
    uint64_t samples, cpu; /* us */
};

struct sums {
    struct wndl_map index; /* numbers + 1 of sums */
    struct wndl_vec list;  /* struct stack_sum, in the order of samples */
};

static struct stack_sum *sum_of(
    struct sums *sums, uint8_t recording, uint32_t node, uint8_t end)
{
    const uint64_t key = (uint64_t)recording << 40 | (uint64_t)node << 8 | end;
    uint64_t *slot = wndl_map_put(&sums->index, key);
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(&sums->list, *slot - 1);
    struct stack_sum *sum = wndl_vec_push(&sums->list);
    if (sum == NULL)
        return NULL;
    *sum = (struct stack_sum){.node = node, .recording = recording, .end = end};
    *slot = sums->list.len;
    return sum;
}

/* Adds moments of a line; `cpu` has a number for each, NULL: they have none. */
static void sum_up(struct sums *sums, const struct line *l, value_of *node,
    value_of *end, const uint64_t *cpu)
{
    struct wndl_view_writer *w = l->w;
    for (size_t r = 0; r < w->view->count && !w->failed; r++) {
        const struct wndl_merged_part *part = &w->merged.parts[r];
        for (size_t i = l->starts[r]; i < l->starts[r + 1]; i++) {
            const struct moment *moment = &l->moments[i];
            struct stack_sum *sum = sum_of(sums, (uint8_t)r,
                (uint32_t)node(w, part, moment), (uint8_t)end(w, part, moment));
            w->failed = w->failed || sum == NULL;
            if (sum == NULL)
                break;
            sum->samples += cpu != NULL;
            sum->cpu += cpu == NULL ? 0 : cpu[i];
        }
    }
}

static void add_sums(struct wndl_view_writer *w, const struct sums *sums)
{
    const struct stack_sum *list = sums->list.data;
    const size_t count = sums->list.len;
    uint64_t *numbers =
        wndl_arena_calloc(&w->arena, count + 1, sizeof *numbers);
    uint8_t *bytes = wndl_arena_alloc(&w->arena, count + 1);
    w->failed = w->failed || numbers == NULL || bytes == NULL;
    if (w->failed)
        return;
    for (size_t i = 0; i < count; i++)
        numbers[i] = list[i].node;
    wndl_view_numbers(&w->columns, "sums.node", numbers, count, true);
    for (size_t i = 0; i < count; i++)
        numbers[i] = list[i].samples;
    wndl_view_numbers(&w->columns, "sums.samples", numbers, count, false);
    for (size_t i = 0; i < count; i++)
        numbers[i] = list[i].cpu;
    wndl_view_numbers(&w->columns, "sums.cpu", numbers, count, false);
    for (size_t i = 0; i < count; i++)
        bytes[i] = list[i].end;
    wndl_view_bytes(&w->columns, "sums.end", bytes, count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = list[i].recording;
    wndl_view_bytes(&w->columns, "sums.recording", bytes, count);
}

/* ---- samples */

static const struct wndl_vec *samples_of(const struct wndl_profile *p)
{
    return &p->samples;
}

static struct moment moment_of_sample(const void *element)
{
    const struct wndl_sample *sample = element;
    return (struct moment){.time = sample->time, .thread = sample->thread};
}

static const struct wndl_sample *sample_at(
    const struct wndl_merged_part *part, const struct moment *moment)
{
    const struct wndl_profile *p = part->symbolized->profile;
    return wndl_vec_at(&p->samples, moment->index);
}

static uint64_t sample_node(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return part->nodes[sample_at(part, moment)->node];
}

/* The remainder of rounding a sample goes to the next one. */
static uint64_t sample_cpu(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    int64_t ns = sample_at(part, moment)->cpu + w->cpu_left;
    int64_t us = (ns + NS_PER_US / 2) / NS_PER_US;
    w->cpu_left = ns - us * NS_PER_US;
    return (uint64_t)us;
}

static uint64_t sample_end(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return sample_at(part, moment)->end;
}

static void add_samples(struct wndl_view_writer *w, struct sums *sums)
{
    static const struct kind kind = {samples_of, moment_of_sample};
    struct line l;
    if (!open_line(&l, w, &kind, &w->later))
        return;
    add_column(&l, "samples.thread", thread_of, true);
    add_column(&l, "samples.time", time_of, true);
    add_column(&l, "samples.node", sample_node, false);
    add_column(&l, "samples.cpu", sample_cpu, false);
    sum_up(sums, &l, sample_node, sample_end, w->numbers);
    add_bytes(&l, "samples.end", sample_end);
}

/* ---- blocks */

static const struct wndl_vec *blocks_of(const struct wndl_profile *p)
{
    return &p->blocks;
}

static struct moment moment_of_block(const void *element)
{
    const struct wndl_block *block = element;
    return (struct moment){.time = block->start, .thread = block->thread};
}

static const struct wndl_block *block_at(
    const struct wndl_merged_part *part, const struct moment *moment)
{
    const struct wndl_profile *p = part->symbolized->profile;
    return wndl_vec_at(&p->blocks, moment->index);
}

static uint64_t block_duration(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    const struct wndl_block *block = block_at(part, moment);
    return (block->duration + NS_PER_US / 2) / NS_PER_US;
}

static uint64_t block_node(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return part->nodes[block_at(part, moment)->node];
}

static uint64_t block_waiting(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return block_at(part, moment)->waiting;
}

static uint64_t block_end(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return block_at(part, moment)->end;
}

static void add_blocks(struct wndl_view_writer *w, struct sums *sums)
{
    static const struct kind kind = {blocks_of, moment_of_block};
    struct line l;
    if (!open_line(&l, w, &kind, &w->later))
        return;
    add_column(&l, "blocks.thread", thread_of, true);
    add_column(&l, "blocks.start", time_of, true);
    add_column(&l, "blocks.duration", block_duration, false);
    add_column(&l, "blocks.node", block_node, false);
    add_bytes(&l, "blocks.waiting", block_waiting);
    add_bytes(&l, "blocks.end", block_end);
    sum_up(sums, &l, block_node, block_end, NULL);
}

/* ---- marks */

static const struct wndl_vec *marks_of(const struct wndl_profile *p)
{
    return &p->marks;
}

static struct moment moment_of_mark(const void *element)
{
    const struct wndl_mark *mark = element;
    return (struct moment){.time = mark->time, .thread = mark->thread};
}

static const struct wndl_mark *mark_at(
    const struct wndl_merged_part *part, const struct moment *moment)
{
    const struct wndl_profile *p = part->symbolized->profile;
    return wndl_vec_at(&p->marks, moment->index);
}

static uint64_t mark_duration(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    const struct wndl_mark *mark = mark_at(part, moment);
    return (mark->duration + NS_PER_US / 2) / NS_PER_US;
}

static uint64_t mark_text(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    return wndl_view_string(w, mark_at(part, moment)->text);
}

static uint64_t mark_missed(struct wndl_view_writer *w,
    const struct wndl_merged_part *part, const struct moment *moment)
{
    (void)w;
    return mark_at(part, moment)->missed_deadline;
}

static void add_marks(struct wndl_view_writer *w)
{
    static const struct kind kind = {marks_of, moment_of_mark};
    struct line l;
    if (!open_line(&l, w, &kind, &w->columns))
        return;
    add_column(&l, "marks.thread", thread_of, true);
    add_column(&l, "marks.time", time_of, true);
    add_column(&l, "marks.duration", mark_duration, false);
    add_column(&l, "marks.text", mark_text, false);
    add_bytes(&l, "marks.missed", mark_missed);
}

/* ---- pauses */

static void add_pauses(struct wndl_view_writer *w)
{
    struct wndl_buf recordings;
    size_t count = 0;
    wndl_buf_init(&recordings, w->arena.mem);
    for (size_t r = 0; r < w->view->count; r++) {
        for (size_t i = 0; i < wndl_view_profile(w, r)->pauses.len; i++)
            wndl_buf_byte(&recordings, (uint8_t)r);
    }
    w->failed = w->failed || recordings.failed;
    if (!w->failed)
        wndl_view_bytes(
            &w->columns, "pauses.recording", recordings.data, recordings.size);
    wndl_buf_free(&recordings);
    for (unsigned end = 0; end < 2; end++, count = 0) {
        for (size_t r = 0; r < w->view->count; r++) {
            const struct wndl_vec *list = &wndl_view_profile(w, r)->pauses;
            for (size_t i = 0; i < list->len; i++, count++) {
                const struct wndl_pause *pause = wndl_vec_at(list, i);
                w->numbers[count] =
                    (end ? pause->end : pause->start) / NS_PER_US;
            }
        }
        wndl_view_numbers(&w->columns, end ? "pauses.end" : "pauses.start",
            w->numbers, count, true);
    }
}

/* ---- sizes of processes, by their memory event logs */

enum size_column { SIZE_PROCESS, SIZE_TIME, SIZE_RESIDENT };

static uint64_t size_value(const struct wndl_view_writer *w, size_t recording,
    const struct wndl_size *size, enum size_column column)
{
    return column == SIZE_PROCESS
               ? (uint64_t)w->first_process[recording] + size->process
           : column == SIZE_TIME ? size->time / NS_PER_US
                                 : size->resident;
}

static void add_size_column(
    struct wndl_view_writer *w, const char *name, enum size_column column)
{
    size_t count = 0;
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_vec *list = &wndl_view_profile(w, r)->sizes;
        for (size_t i = 0; i < list->len; i++)
            w->numbers[count++] =
                size_value(w, r, wndl_vec_at(list, i), column);
    }
    wndl_view_numbers(&w->columns, name, w->numbers, count, true);
}

static void add_sizes(struct wndl_view_writer *w)
{
    add_size_column(w, "sizes.process", SIZE_PROCESS);
    add_size_column(w, "sizes.time", SIZE_TIME);
    add_size_column(w, "sizes.resident", SIZE_RESIDENT);
}

void wndl_view_add_times(struct wndl_view_writer *w)
{
    struct sums sums;
    wndl_map_init(&sums.index, &w->arena);
    wndl_vec_init(&sums.list, &w->arena, sizeof(struct stack_sum));
    add_samples(w, &sums);
    add_blocks(w, &sums);
    add_sums(w, &sums);
    add_marks(w);
    add_pauses(w);
    add_sizes(w);
}
