/* SPDX-License-Identifier: MIT */
#include "out/dhat.h"

#include "base/json.h"
#include "out/core/sink.h"

#include <inttypes.h>
#include <math.h>

/*
 * Frame 0 is the root; then come all locations of all frames, in the order of
 * frame_locations, then labels, then processes. A stack is in the file once,
 * since readers refuse a second time. So frames stay distinct here although
 * they look the same.
 */
struct writer {
    const struct wndl_exported *e;
    const struct wndl_symbolized *s;
    const struct wndl_profile *p;
    struct wndl_arena arena;
    struct wndl_sink sink;
    size_t heaps; /* that count */
    const struct wndl_process_heap *first, *largest;
    bool any; /* stack was written */
    bool failed;
};

static uint64_t peak_of(const struct wndl_process_heap *heap, unsigned total)
{
    const struct wndl_heap_snapshot *kept =
        heap == NULL ? NULL : wndl_heap_kept(heap);
    return kept == NULL ? 0 : kept->totals[total];
}

static void choose_heaps(struct writer *w)
{
    for (size_t i = 0; i < w->p->heaps.len; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        if (!wndl_exported_has(w->e, heap))
            continue;
        if (w->heaps++ == 0)
            w->first = heap;
        if (w->largest == NULL ||
            peak_of(heap, WNDL_HEAP_TOTAL_PEAK_BYTES) >
                peak_of(w->largest, WNDL_HEAP_TOTAL_PEAK_BYTES))
            w->largest = heap;
    }
}

/* ---- stacks */

/* Leaf first; the label for a missing root, and the process, come last. */
static void put_stack(
    struct writer *w, const struct wndl_stack_sum *sum, uint32_t process)
{
    struct wndl_buf *to = &w->sink.text;
    size_t labels = w->s->frame_locations.len;
    const char *before = "\"fs\":[";
    for (uint32_t node = sum->node; node != 0;) {
        const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
        const struct wndl_span *span = wndl_vec_at(&w->s->spans, at->frame);
        for (uint32_t i = 0; i < span->count; i++) {
            wndl_buf_text(to, before);
            wndl_buf_decimal(to, (uint64_t)span->first + i + 1);
            before = ",";
        }
        node = at->parent;
    }
    if (sum->label != WNDL_LABEL_NONE) {
        wndl_buf_printf(to, "%s%zu", before, labels + sum->label);
        before = ",";
    }
    if (w->heaps > 1)
        wndl_buf_printf(to, "%s%zu", before, labels + WNDL_LABELS + process);
    wndl_buf_text(to, "]}");
}

static void put_pair(struct writer *w, const char *key,
    const struct wndl_stack_sum *sum, enum wndl_heap_set set)
{
    wndl_buf_printf(&w->sink.text, "\"%sb\":%" PRIu64 ",\"%sbk\":%" PRIu64 ",",
        key, wndl_exported_round(sum->bytes[set]), key,
        wndl_exported_round(sum->blocks[set]));
}

/* The stack's own maximum is not known: this is a lower bound. */
static void put_most(struct writer *w, const struct wndl_stack_sum *sum)
{
    const double *bytes = sum->bytes, *blocks = sum->blocks;
    wndl_buf_printf(&w->sink.text, "\"mb\":%" PRIu64 ",\"mbk\":%" PRIu64 ",",
        wndl_exported_round(
            fmax(bytes[WNDL_HEAP_SET_LIVE], bytes[WNDL_HEAP_SET_PEAK])),
        wndl_exported_round(
            fmax(blocks[WNDL_HEAP_SET_LIVE], blocks[WNDL_HEAP_SET_PEAK])));
}

static void write_sum(
    struct writer *w, const struct wndl_stack_sum *sum, uint32_t process)
{
    bool gone = w->e->has_freed;
    unsigned which = gone ? WNDL_HEAP_SET_ALL : WNDL_HEAP_SET_LIVE;
    if (wndl_exported_round(sum->blocks[which]) == 0)
        return;
    wndl_buf_text(&w->sink.text, w->any ? ",\n{" : "\n{");
    put_pair(w, "t", sum, which);
    if (gone) {
        wndl_buf_printf(&w->sink.text, "\"tl\":%" PRIu64 ",",
            wndl_exported_round(sum->lifetime));
        put_most(w, sum);
        put_pair(w, "g", sum, WNDL_HEAP_SET_PEAK);
        put_pair(w, "e", sum, WNDL_HEAP_SET_LIVE);
    }
    put_stack(w, sum, process);
    w->any = true;
    wndl_sink_flush(&w->sink);
}

static void write_stacks(struct writer *w)
{
    for (size_t i = 0; i < w->p->heaps.len && !w->failed; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        struct wndl_vec sums;
        if (!wndl_exported_has(w->e, heap))
            continue;
        w->failed = !wndl_exported_sum(&sums, heap, &w->arena);
        for (size_t k = 0; !w->failed && k < sums.len; k++)
            write_sum(w, wndl_vec_at(&sums, k), heap->process);
    }
}

/* ---- frames */

/* "0x1234: function (file:line)", or "(in module)". */
static void put_location(struct writer *w, const struct wndl_frame_key *frame,
    const struct wndl_location *location)
{
    struct wndl_buf *to = &w->sink.text;
    const struct wndl_intern *strings = &w->s->strings;
    const struct wndl_function *function =
        wndl_vec_at(&w->s->functions, location->function);
    const struct wndl_module *module =
        wndl_vec_at(&w->s->modules, function->module);
    wndl_buf_printf(to, ",\n\"0x%" PRIX64 ": ", wndl_exported_address(frame));
    wndl_json_escaped(to, wndl_intern_get(strings, function->name));
    wndl_buf_text(to, location->file != 0 ? " (" : " (in ");
    wndl_json_escaped(
        to, wndl_intern_get(
                strings, location->file != 0 ? location->file : module->path));
    if (location->line != 0)
        wndl_buf_printf(to, ":%" PRIu32, location->line);
    wndl_buf_text(to, ")\"");
    wndl_sink_flush(&w->sink);
}

static void put_process(struct writer *w, uint32_t index)
{
    const struct wndl_process *process = wndl_vec_at(&w->p->processes, index);
    wndl_json_escaped(&w->sink.text, wndl_exported_program(w->p, index));
    wndl_buf_printf(&w->sink.text, " [%" PRIu32 "]", process->pid);
}

static void write_frames(struct writer *w)
{
    const uint32_t *frames = wndl_exported_frames(w->s, &w->arena);
    w->failed = w->failed || frames == NULL;
    for (size_t i = 0; !w->failed && i < w->s->frame_locations.len; i++) {
        const uint32_t *at = wndl_vec_at(&w->s->frame_locations, i);
        put_location(w, wndl_vec_at(&w->p->frames, frames[i]),
            wndl_vec_at(&w->s->locations, *at));
    }
    for (unsigned i = WNDL_LABEL_NONE + 1; i < WNDL_LABELS; i++) {
        wndl_buf_text(&w->sink.text, ",\n");
        wndl_json_text(&w->sink.text, wndl_label_text(i));
    }
    for (uint32_t i = 0; w->heaps > 1 && i < w->p->processes.len; i++) {
        wndl_buf_text(&w->sink.text, ",\n\"");
        put_process(w, i);
        wndl_buf_byte(&w->sink.text, '"');
    }
}

/* ---- all of it */

static void write_head(struct writer *w)
{
    struct wndl_buf *to = &w->sink.text;
    bool gone = w->e->has_freed;
    const struct wndl_process *process =
        w->first == NULL ? NULL
                         : wndl_vec_at(&w->p->processes, w->first->process);
    wndl_buf_printf(to,
        "{\"dhatFileVersion\":2,\"mode\":\"%s\",\"verb\":\"%s\",\n"
        "\"bklt\":%s,\"bkacc\":false,\n\"tu\":\"ns\",\"Mtu\":\"ms\","
        "\"tuth\":10000,\n\"cmd\":\"",
        gone ? "heap" : "heap, live blocks",
        gone ? "Allocated" : "Live, allocated", gone ? "true" : "false");
    for (size_t i = 0; i < w->p->arguments.len; i++) {
        const struct wndl_bytes *word = wndl_vec_at(&w->p->arguments, i);
        wndl_buf_text(to, i == 0 ? "" : " ");
        wndl_json_escaped(to, *word);
    }
    uint64_t peak = peak_of(w->largest, WNDL_HEAP_TOTAL_PEAK_TIME);
    wndl_buf_printf(to,
        "\",\"pid\":%" PRIu32 ",\n\"tg\":%" PRIu64 ",\"te\":%" PRIu64
        ",\n\"pps\":[",
        process == NULL ? 0 : process->pid, peak,
        peak > w->p->duration ? peak : w->p->duration);
}

bool wndl_dhat_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem)
{
    struct writer w = {.e = e, .s = e->symbolized, .p = e->symbolized->profile};
    wndl_arena_init(&w.arena, mem);
    wndl_sink_open(&w.sink, out, e->zipped, mem);
    choose_heaps(&w);
    write_head(&w);
    write_stacks(&w);
    wndl_buf_text(&w.sink.text, "],\n\"ftbl\":[\n\"[root]\"");
    write_frames(&w);
    wndl_buf_text(&w.sink.text, "]}\n");
    bool whole = wndl_sink_close(&w.sink) && !w.failed;
    wndl_arena_free(&w.arena);
    return whole;
}
