/* SPDX-License-Identifier: MIT */
#include "out/dmd_json.h"

#include "base/json.h"
#include "out/core/sink.h"

#include <inttypes.h>
#include <math.h>

struct writer {
    const struct wndl_heap_list *list;
    const struct wndl_heap_contents *contents; /* NULL: not in scan mode */
    struct wndl_sink sink;
};

static void write_id(struct writer *w, uint32_t number)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
    int shift = 30;
    while (shift > 0 && number >> shift == 0)
        shift -= 5;
    wndl_buf_byte(&w->sink.text, '"');
    for (; shift >= 0; shift -= 5)
        wndl_buf_byte(&w->sink.text, (uint8_t)digits[number >> shift & 31]);
    wndl_buf_byte(&w->sink.text, '"');
}

static void start_row(struct writer *w, bool *first)
{
    wndl_sink_flush(&w->sink);
    wndl_buf_text(&w->sink.text, *first ? "\n  " : ",\n  ");
    *first = false;
}

/* The number of all blocks, of which a part was sampled. */
static int64_t number_of(const struct wndl_heap_blocks *blocks)
{
    return llround((double)blocks->count * blocks->weight);
}

static void write_reports(struct writer *w, const struct wndl_heap_blocks *b)
{
    for (unsigned i = WNDL_HEAP_REPORTED; i < WNDL_HEAP_STACKS; i++) {
        if (b->stacks[i] == 0)
            continue;
        wndl_buf_text(
            &w->sink.text, i == WNDL_HEAP_REPORTED ? ", \"reps\": [" : ", ");
        write_id(w, b->stacks[i]);
    }
    if (b->stacks[WNDL_HEAP_REPORTED] != 0)
        wndl_buf_byte(&w->sink.text, ']');
}

static void write_blocks(struct writer *w)
{
    bool first = true;
    for (size_t i = 0; i < w->list->blocks.len && !w->sink.failed; i++) {
        const struct wndl_heap_blocks *b = wndl_vec_at(&w->list->blocks, i);
        int64_t number = number_of(b);
        if (number <= 0)
            continue;
        start_row(w, &first);
        wndl_buf_printf(&w->sink.text, "{\"req\": %" PRIu64, b->requested);
        if (b->slop != 0)
            wndl_buf_printf(&w->sink.text, ", \"slop\": %" PRIu64, b->slop);
        if (b->stacks[WNDL_HEAP_ALLOCATED] != 0) {
            wndl_buf_text(&w->sink.text, ", \"alloc\": ");
            write_id(w, b->stacks[WNDL_HEAP_ALLOCATED]);
        }
        write_reports(w, b);
        if (number != 1)
            wndl_buf_printf(&w->sink.text, ", \"num\": %" PRId64, number);
        wndl_buf_byte(&w->sink.text, '}');
    }
}

/* ---- blocks with contents */

/* Where the words of the next block are: in parts, which need not end with a
 * word. */
struct position {
    const struct wndl_vec *parts;
    size_t part, at;
};

/* False: there is none. */
static bool next_byte(struct position *p, uint8_t *byte)
{
    const struct wndl_bytes *parts = p->parts->data;
    while (p->part < p->parts->len && p->at == parts[p->part].size) {
        p->part++;
        p->at = 0;
    }
    if (p->part == p->parts->len)
        return false;
    *byte = parts[p->part].data[p->at++];
    return true;
}

static bool next_word(struct position *p, uint64_t *word)
{
    uint8_t byte;
    *word = 0;
    for (unsigned i = 0; i < sizeof *word; i++) {
        if (!next_byte(p, &byte))
            return false;
        *word |= (uint64_t)byte << 8 * i;
    }
    return true;
}

static void write_words(
    struct writer *w, const struct wndl_heap_content *block, struct position *p)
{
    uint64_t word;
    uint32_t count = 0;
    while (count < block->words && next_word(p, &word)) {
        wndl_buf_printf(&w->sink.text, "%s\"%" PRIx64 "\"",
            count == 0 ? ", \"contents\": [" : ", ", word);
        if (++count % 1024 == 0)
            wndl_sink_flush(&w->sink);
    }
    if (count != 0)
        wndl_buf_byte(&w->sink.text, ']');
}

static void write_contents(struct writer *w)
{
    const struct wndl_heap_content *blocks = w->contents->blocks.data;
    struct position p = {.parts = &w->contents->parts};
    bool first = true;
    for (size_t i = 0; i < w->contents->blocks.len && !w->sink.failed; i++) {
        start_row(w, &first);
        wndl_buf_printf(&w->sink.text,
            "{\"addr\": \"%" PRIx64 "\", \"req\": %" PRIu64, blocks[i].address,
            blocks[i].requested);
        if (blocks[i].slop != 0)
            wndl_buf_printf(
                &w->sink.text, ", \"slop\": %" PRIu64, blocks[i].slop);
        if (blocks[i].leaf != 0) {
            wndl_buf_text(&w->sink.text, ", \"alloc\": ");
            write_id(w, blocks[i].leaf);
        }
        write_words(w, &blocks[i], &p);
        wndl_buf_byte(&w->sink.text, '}');
    }
}

/* ---- stacks */

static void write_trace(struct writer *w, uint32_t leaf)
{
    write_id(w, leaf);
    wndl_buf_text(&w->sink.text, ": [");
    for (uint32_t at = leaf; at != 0;) {
        const struct wndl_heap_frame *frame = wndl_heap_frame_at(w->list, at);
        wndl_buf_text(&w->sink.text, at == leaf ? "" : ", ");
        write_id(w, frame->text);
        at = frame->caller;
    }
    wndl_buf_byte(&w->sink.text, ']');
}

/* Writes those frames in which a block was allocated or reported. */
static void write_traces(struct writer *w, const bool *is_leaf)
{
    bool first = true;
    for (uint32_t i = 1; i < w->list->frames.len && !w->sink.failed; i++) {
        if (!is_leaf[i])
            continue;
        start_row(w, &first);
        write_trace(w, i);
    }
}

static void write_frames(struct writer *w)
{
    bool first = true;
    for (uint32_t i = 0;
         i < wndl_intern_count(&w->list->strings) && !w->sink.failed; i++) {
        start_row(w, &first);
        write_id(w, i);
        wndl_buf_text(&w->sink.text, ": \"#00: ");
        wndl_json_escaped(&w->sink.text, wndl_intern_get(&w->list->strings, i));
        wndl_buf_byte(&w->sink.text, '"');
    }
}

static const char *mode_name(const struct writer *w)
{
    const enum wndl_heap_mode mode = w->list->mode;
    return w->contents != NULL                  ? "scan"
           : mode == WNDL_HEAP_MODE_CUMULATIVE  ? "cumulative"
           : mode == WNDL_HEAP_MODE_DARK_MATTER ? "dark-matter"
                                                : "live";
}

static void mark_leaves(const struct writer *w, bool *is_leaf)
{
    for (size_t i = 0; i < w->list->blocks.len; i++) {
        const struct wndl_heap_blocks *b = wndl_vec_at(&w->list->blocks, i);
        for (unsigned k = 0; k < WNDL_HEAP_STACKS; k++)
            is_leaf[b->stacks[k]] = true;
    }
    if (w->contents == NULL)
        return;
    const struct wndl_heap_content *blocks = w->contents->blocks.data;
    for (size_t i = 0; i < w->contents->blocks.len; i++)
        is_leaf[blocks[i].leaf] = true;
}

static void write_file(struct writer *w, const bool *is_leaf)
{
    wndl_buf_printf(&w->sink.text,
        "{\n \"version\": 5,\n"
        " \"invocation\": {\"dmdEnvVar\": null, \"mode\": \"%s\"},\n"
        " \"blockList\": [",
        mode_name(w));
    if (w->contents != NULL)
        write_contents(w);
    else
        write_blocks(w);
    wndl_buf_text(&w->sink.text, "\n ],\n \"traceTable\": {");
    write_traces(w, is_leaf);
    wndl_buf_text(&w->sink.text, "\n },\n \"frameTable\": {");
    write_frames(w);
    wndl_buf_text(&w->sink.text, "\n }\n}\n");
}

bool wndl_dmd_json_write(FILE *out, const struct wndl_heap_list *list,
    bool zipped, struct wndl_mem *mem)
{
    return wndl_dmd_json_write_scan(out, list, NULL, zipped, mem);
}

bool wndl_dmd_json_write_scan(FILE *out, const struct wndl_heap_list *list,
    const struct wndl_heap_contents *contents, bool zipped,
    struct wndl_mem *mem)
{
    struct writer w = {.list = list, .contents = contents};
    struct wndl_arena arena;
    wndl_arena_init(&arena, mem);
    wndl_sink_open(&w.sink, out, zipped, mem);
    bool *is_leaf =
        wndl_arena_calloc(&arena, list->frames.len, sizeof *is_leaf);
    if (is_leaf != NULL) {
        mark_leaves(&w, is_leaf);
        write_file(&w, is_leaf);
    }
    bool whole = wndl_sink_close(&w.sink) && is_leaf != NULL;
    wndl_arena_free(&arena);
    return whole;
}
