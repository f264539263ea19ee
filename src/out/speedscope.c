/* SPDX-License-Identifier: MIT */
#include "out/speedscope.h"

#include "base/json.h"
#include "model/certainty.h"
#include "model/timeline.h"
#include "out/core/sink.h"

#include <inttypes.h>

/*
 * Frames of the file are functions, after them labels, and after those once
 * more the functions that some frame guessed: the format has no other place for
 * that. The text for a frame of the recording in a stack, "1,2,", is made once
 * for each.
 */
struct writer {
    const struct wndl_exported *e;
    const struct wndl_symbolized *s;
    const struct wndl_profile *p;
    struct wndl_arena arena;
    struct wndl_sink sink;
    struct wndl_buf frame_texts;
    size_t *text_starts;     /* by frame, and one more */
    size_t *guessed_at;      /* by function: its guessed frame's number, or 0 */
    struct wndl_vec guessed; /* uint32_t: functions, by that number */
    struct wndl_vec stack;   /* uint32_t: frames, leaf first */
    struct wndl_buf weights;
    uint64_t total;
    size_t profiles;
    size_t shown; /* the profile that is */
    bool failed;
};

/* ---- frames */

/* The number of the frame of the file for a guessed frame of the function. */
static size_t guessed_frame(struct writer *w, uint32_t function)
{
    if (w->guessed_at[function] == 0) {
        uint32_t *slot = wndl_vec_push(&w->guessed);
        w->failed = w->failed || slot == NULL;
        if (slot == NULL)
            return 0;
        *slot = function;
        w->guessed_at[function] =
            w->s->functions.len + WNDL_LABELS - 2 + w->guessed.len;
    }
    return w->guessed_at[function];
}

static size_t frame_of(struct writer *w, size_t frame, uint32_t function)
{
    const struct wndl_frame_key *key = wndl_vec_at(&w->p->frames, frame);
    return wndl_certainty_of_how(key->how) == WNDL_GUESSED
               ? guessed_frame(w, function)
               : function;
}

static bool make_frame_texts(struct writer *w)
{
    size_t count = w->p->frames.len;
    wndl_vec_init(&w->guessed, &w->arena, sizeof(uint32_t));
    w->guessed_at = wndl_arena_calloc(
        &w->arena, w->s->functions.len + 1, sizeof *w->guessed_at);
    w->text_starts =
        wndl_arena_calloc(&w->arena, count + 1, sizeof *w->text_starts);
    if (w->text_starts == NULL || w->guessed_at == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct wndl_span *span = wndl_vec_at(&w->s->spans, i);
        for (uint32_t k = span->count; k-- > 0;) {
            const struct wndl_location *location =
                wndl_symbolized_location(w->s, span, k);
            wndl_buf_decimal(
                &w->frame_texts, frame_of(w, i, location->function));
            wndl_buf_byte(&w->frame_texts, ',');
        }
        w->text_starts[i + 1] = w->frame_texts.size;
    }
    return !w->frame_texts.failed && !w->failed;
}

/* Writes the frame of a function; `mark` stands before its name. */
static void write_frame(
    struct writer *w, const struct wndl_function *f, const char *mark)
{
    struct wndl_buf *to = &w->sink.text;
    wndl_buf_printf(to, "{\"name\":\"%s", mark);
    wndl_json_escaped(to, wndl_intern_get(&w->s->strings, f->name));
    wndl_buf_byte(to, '"');
    if (f->file != 0) {
        wndl_buf_text(to, ",\"file\":");
        wndl_json_string(to, wndl_intern_get(&w->s->strings, f->file));
    }
    if (f->line != 0)
        wndl_buf_printf(to, ",\"line\":%" PRIu32, f->line);
    wndl_buf_byte(to, '}');
    wndl_sink_flush(&w->sink);
}

static void write_frames(struct writer *w)
{
    for (size_t i = 0; i < w->s->functions.len; i++) {
        write_frame(w, wndl_vec_at(&w->s->functions, i), "");
        wndl_buf_text(&w->sink.text, ",\n");
    }
    for (unsigned i = WNDL_LABEL_NONE + 1; i < WNDL_LABELS; i++) {
        wndl_buf_text(&w->sink.text, "{\"name\":");
        wndl_json_text(&w->sink.text, wndl_label_text(i));
        wndl_buf_text(&w->sink.text, i + 1 < WNDL_LABELS ? "},\n" : "}");
    }
    const uint32_t *guessed = w->guessed.data;
    for (size_t i = 0; i < w->guessed.len; i++) {
        wndl_buf_text(&w->sink.text, ",\n");
        write_frame(w, wndl_vec_at(&w->s->functions, guessed[i]), "~");
    }
}

/* ---- profiles */

static void open_profile(struct writer *w, const char *unit)
{
    wndl_buf_text(&w->sink.text, w->profiles++ == 0 ? "\n" : ",\n");
    wndl_buf_printf(&w->sink.text,
        "{\"type\":\"sampled\",\"unit\":\"%s\",\"name\":\"", unit);
    w->total = 0;
    wndl_buf_clear(&w->weights);
}

static void put_process(struct writer *w, uint32_t index)
{
    const struct wndl_process *process = wndl_vec_at(&w->p->processes, index);
    wndl_json_escaped(&w->sink.text, wndl_exported_program(w->p, index));
    wndl_buf_printf(&w->sink.text, " [%" PRIu32 "]", process->pid);
}

/* Root first; the label stands for a missing root. */
static void put_stack(struct writer *w, uint32_t node, unsigned label)
{
    struct wndl_buf *to = &w->sink.text;
    w->stack.len = 0;
    for (; node != 0;
         node = ((const struct wndl_node *)wndl_vec_at(&w->p->nodes, node))
                    ->parent) {
        const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
        uint32_t *slot = wndl_vec_push(&w->stack);
        w->failed = w->failed || slot == NULL;
        if (slot != NULL)
            *slot = at->frame;
    }
    wndl_buf_text(to, w->weights.size == 0 ? "[" : ",\n[");
    if (label != WNDL_LABEL_NONE) {
        wndl_buf_decimal(to, w->s->functions.len + label - 1);
        wndl_buf_byte(to, ',');
    }
    const uint32_t *frames = w->stack.data;
    for (size_t i = w->stack.len; i-- > 0;) {
        size_t start = w->text_starts[frames[i]];
        wndl_buf_add(to, w->frame_texts.data + start,
            w->text_starts[frames[i] + 1] - start);
    }
    if (!to->failed)
        to->size--; /* the last comma */
    wndl_buf_byte(to, ']');
    wndl_sink_flush(&w->sink);
}

static void put_weight(struct writer *w, uint64_t weight)
{
    if (w->weights.size != 0)
        wndl_buf_byte(&w->weights, ',');
    wndl_buf_decimal(&w->weights, weight);
    w->total += weight;
    w->failed = w->failed || w->weights.failed;
}

static void close_profile(struct writer *w)
{
    struct wndl_buf *to = &w->sink.text;
    wndl_buf_text(to, "],\n\"weights\":[");
    wndl_buf_add(to, w->weights.data, w->weights.size);
    wndl_buf_printf(
        to, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", w->total);
    wndl_sink_flush(&w->sink);
}

/* Equal stacks in a row become one sample. */
static void write_thread(
    struct writer *w, const struct wndl_moment *moments, size_t count)
{
    const struct wndl_thread *thread =
        wndl_vec_at(&w->p->threads, moments->thread);
    open_profile(w, "nanoseconds");
    put_process(w, thread->process);
    wndl_buf_byte(&w->sink.text, ' ');
    wndl_json_escaped(&w->sink.text, thread->name);
    wndl_buf_printf(&w->sink.text, " [%" PRIu32 "]", thread->tid);
    wndl_buf_text(&w->sink.text, "\",\n\"samples\":[");
    for (size_t i = 0; i < count && !w->failed;) {
        const struct wndl_moment *m = &moments[i];
        uint64_t spent = 0;
        for (; i < count && moments[i].node == m->node &&
               moments[i].label == m->label;
             i++)
            spent += moments[i].spent;
        put_stack(w, m->node, m->label);
        put_weight(w, spent);
    }
    close_profile(w);
}

static void write_threads(struct writer *w)
{
    struct wndl_timeline line;
    w->failed = !wndl_timeline_make(&line, w->p, w->e->time, &w->arena);
    size_t most = 0;
    for (size_t t = 0; t < w->p->threads.len && !w->failed; t++) {
        size_t count = line.starts[t + 1] - line.starts[t];
        if (count == 0)
            continue;
        w->shown = count > most ? w->profiles : w->shown;
        most = count > most ? count : most;
        write_thread(w, &line.moments[line.starts[t]], count);
    }
}

/* ---- heaps */

static const char *const measures[WNDL_HEAP_SETS] = {
    [WNDL_HEAP_SET_LIVE] = "live",
    [WNDL_HEAP_SET_PEAK] = "live at the peak",
    [WNDL_HEAP_SET_ALL] = "allocated",
    [WNDL_HEAP_SET_TEMPORARY] = "temporary",
};

static void write_measure(struct writer *w, const struct wndl_vec *sums,
    uint32_t process, unsigned which)
{
    bool blocks = w->e->by_blocks;
    if (which == w->e->set && w->shown == SIZE_MAX)
        w->shown = w->profiles;
    open_profile(w, blocks ? "none" : "bytes");
    put_process(w, process);
    wndl_buf_printf(&w->sink.text, ": %s %s\",\n\"samples\":[",
        blocks ? "blocks" : "bytes", measures[which]);
    for (size_t i = 0; i < sums->len && !w->failed; i++) {
        const struct wndl_stack_sum *sum = wndl_vec_at(sums, i);
        uint64_t value = wndl_exported_round(
            blocks ? sum->blocks[which] : sum->bytes[which]);
        if (value == 0)
            continue;
        put_stack(w, sum->node, sum->label);
        put_weight(w, value);
    }
    close_profile(w);
}

static void write_heaps(struct writer *w)
{
    w->shown = SIZE_MAX;
    for (size_t i = 0; i < w->p->heaps.len && !w->failed; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        struct wndl_vec sums;
        if (!wndl_exported_has(w->e, heap))
            continue;
        w->failed = !wndl_exported_sum(&sums, heap, &w->arena);
        for (unsigned k = 0; k < WNDL_HEAP_SETS && !w->failed; k++) {
            if (wndl_exported_has_set(w->e, k))
                write_measure(w, &sums, heap->process, k);
        }
    }
    w->shown = w->shown == SIZE_MAX ? 0 : w->shown;
}

/* ---- all of it */

static void write_file(struct writer *w)
{
    struct wndl_buf *to = &w->sink.text;
    wndl_buf_text(to,
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
        "\n\"exporter\":\"windlass\",\n\"name\":\"");
    for (size_t i = 0; i < w->p->arguments.len; i++) {
        const struct wndl_bytes *word = wndl_vec_at(&w->p->arguments, i);
        wndl_buf_text(to, i == 0 ? "" : " ");
        wndl_json_escaped(to, *word);
    }
    wndl_buf_text(to, "\",\n\"shared\":{\"frames\":[\n");
    write_frames(w);
    wndl_buf_text(to, "]},\n\"profiles\":[");
    if (w->e->of_heap)
        write_heaps(w);
    else
        write_threads(w);
    wndl_buf_printf(to, "],\n\"activeProfileIndex\":%zu}\n", w->shown);
}

bool wndl_speedscope_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem)
{
    struct writer w = {.e = e, .s = e->symbolized, .p = e->symbolized->profile};
    wndl_arena_init(&w.arena, mem);
    wndl_buf_init(&w.frame_texts, mem);
    wndl_buf_init(&w.weights, mem);
    wndl_vec_init(&w.stack, &w.arena, sizeof(uint32_t));
    wndl_sink_open(&w.sink, out, e->zipped, mem);
    bool whole = make_frame_texts(&w);
    if (whole)
        write_file(&w);
    whole = wndl_sink_close(&w.sink) && whole && !w.failed;
    wndl_buf_free(&w.frame_texts);
    wndl_buf_free(&w.weights);
    wndl_arena_free(&w.arena);
    return whole;
}
