/* SPDX-License-Identifier: MIT */
/* firefox_tables: libraries, stacks, frames, functions and their files. */
#include "base/json.h"
#include "model/certainty.h"
#include "out/firefox/firefox.h"

#include <string.h>

enum { CATEGORY_OTHER = 0, CATEGORY_NATIVE = 1, CATEGORY_GUESSED = 2 };

/* ---- stacks */

static bool need_stack(struct wndl_firefox *w, unsigned label, uint32_t node)
{
    if (w->stacks[label] == NULL)
        w->stacks[label] = wndl_arena_calloc(
            &w->arena, w->p->nodes.len + 1, sizeof *w->stacks[label]);
    if (w->stacks[label] == NULL)
        return false;
    w->stacks[label][node] = 1;
    return true;
}

static bool need_costs(struct wndl_firefox *w)
{
    struct wndl_cost_item item;
    size_t at = 0;
    while (wndl_costs_next(w->p, w->e->time, &at, &item)) {
        if (!need_stack(w, wndl_cost_item_label(&item), item.node))
            return false;
    }
    return true;
}

static bool need_allocated(struct wndl_firefox *w)
{
    for (size_t i = 0; i < w->p->heaps.len; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        for (size_t k = 0; k < heap->counts.len; k++) {
            const struct wndl_alloc_counts *counts =
                wndl_vec_at(&heap->counts, k);
            const struct wndl_alloc_site *site =
                wndl_vec_at(&heap->sites, counts->site);
            if (!need_stack(w, wndl_exported_label(site), site->node))
                return false;
        }
    }
    return true;
}

static uint32_t locations_of(const struct wndl_firefox *w, uint32_t node)
{
    const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, at->frame);
    return span->count;
}

/* Callers are needed too; parents have smaller numbers. */
static void number_stacks(struct wndl_firefox *w, unsigned label)
{
    uint32_t *stacks = w->stacks[label];
    for (uint32_t node = (uint32_t)w->p->nodes.len; node-- > 1;) {
        const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
        stacks[at->parent] |= stacks[node];
    }
    if (label != WNDL_LABEL_NONE)
        stacks[0] = ++w->stack_rows;
    else
        stacks[0] = 0;
    for (uint32_t node = 1; node < w->p->nodes.len; node++) {
        if (stacks[node] == 0)
            continue;
        w->stack_rows += locations_of(w, node);
        stacks[node] = w->stack_rows;
    }
}

bool wndl_firefox_collect_stacks(struct wndl_firefox *w)
{
    if (!need_costs(w) || !need_allocated(w))
        return false;
    for (unsigned label = 0; label < WNDL_LABELS; label++) {
        if (w->stacks[label] != NULL)
            number_stacks(w, label);
    }
    return true;
}

/* A row of the stack table. */
struct row {
    uint64_t frame;
    uint32_t offset;
};

typedef void row_writer(
    struct wndl_firefox_column *column, const struct row *row);

static void write_frame_of(
    struct wndl_firefox_column *column, const struct row *row)
{
    wndl_firefox_number(column, row->frame);
}

static void write_offset_of(
    struct wndl_firefox_column *column, const struct row *row)
{
    wndl_firefox_number(column, row->offset);
}

/* The rows of a node, the outermost of its locations first. */
static void write_node(struct wndl_firefox_column *column, uint32_t node,
    const uint32_t *stacks, row_writer *write)
{
    const struct wndl_firefox *w = column->w;
    const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, at->frame);
    uint32_t parent = stacks[at->parent];
    uint32_t first = stacks[node] - span->count + 1;
    for (uint32_t depth = 0; depth < span->count; depth++) {
        const struct row row = {
            .frame = (uint64_t)span->first + depth,
            .offset = depth != 0    ? 1
                      : parent == 0 ? 0
                                    : first - parent,
        };
        write(column, &row);
    }
}

static void write_stack_column(
    struct wndl_firefox *w, const char *name, row_writer *write)
{
    struct wndl_firefox_column column = wndl_firefox_open(w, name);
    for (unsigned label = 0; label < WNDL_LABELS; label++) {
        const uint32_t *stacks = w->stacks[label];
        if (stacks == NULL)
            continue;
        const struct row root = {
            .frame = w->s->frame_locations.len + label - 1};
        if (label != WNDL_LABEL_NONE)
            write(&column, &root);
        for (uint32_t node = 1; node < w->p->nodes.len; node++) {
            if (stacks[node] != 0)
                write_node(&column, node, stacks, write);
        }
    }
    wndl_firefox_close(&column);
}

static void write_stacks(struct wndl_firefox *w)
{
    wndl_buf_text(&w->sink.text, "\"stackTable\":{");
    write_stack_column(w, "frame", write_frame_of);
    write_stack_column(w, "prefixOffset", write_offset_of);
    wndl_firefox_length(w, w->stack_rows);
}

/* ---- frames */

/* The frame of a row; the labels come after the last one. */
struct frame {
    const struct wndl_frame_key *key;
    const struct wndl_location *location;
    uint32_t depth;
};

static struct frame frame_at(
    const struct wndl_firefox *w, const uint32_t *frames, size_t row)
{
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, frames[row]);
    uint32_t depth = (uint32_t)(row - span->first);
    return (struct frame){
        .key = wndl_vec_at(&w->p->frames, frames[row]),
        .location =
            wndl_symbolized_location(w->s, span, span->count - 1 - depth),
        .depth = depth,
    };
}

typedef void frame_writer(
    struct wndl_firefox_column *column, const struct frame *frame);

static void write_address(
    struct wndl_firefox_column *column, const struct frame *frame)
{
    if (frame->key->image == WNDL_NO_INDEX)
        wndl_firefox_text(column, "-1");
    else
        wndl_firefox_number(column, wndl_exported_address(frame->key));
}

static void write_depth(
    struct wndl_firefox_column *column, const struct frame *frame)
{
    wndl_firefox_number(column, frame->depth);
}

static void write_function(
    struct wndl_firefox_column *column, const struct frame *frame)
{
    wndl_firefox_number(column, frame->location->function);
}

static void write_line(
    struct wndl_firefox_column *column, const struct frame *frame)
{
    if (frame->location->line == 0)
        wndl_firefox_text(column, "null");
    else
        wndl_firefox_number(column, frame->location->line);
}

static void write_category(
    struct wndl_firefox_column *column, const struct frame *frame)
{
    const enum wndl_certainty certainty =
        wndl_certainty_of_how(frame->key->how);
    wndl_firefox_number(
        column, certainty == WNDL_GUESSED ? CATEGORY_GUESSED : CATEGORY_NATIVE);
}

static const struct {
    const char *name;
    frame_writer *write;
    const char *of_label; /* NULL: its function */
} frame_columns[] = {
    {"address", write_address, "-1"},
    {"inlineDepth", write_depth, "0"},
    {"category", write_category, "0"},
    {"func", write_function, NULL},
    {"line", write_line, "null"},
};

static void write_frames(struct wndl_firefox *w)
{
    size_t rows = w->s->frame_locations.len;
    size_t count = rows + WNDL_LABELS - 1;
    const uint32_t *frames = wndl_exported_frames(w->s, &w->arena);
    w->failed = w->failed || frames == NULL;
    wndl_buf_text(&w->sink.text, ",\n\"frameTable\":{");
    for (size_t i = 0; i < sizeof frame_columns / sizeof frame_columns[0];
         i++) {
        struct wndl_firefox_column column =
            wndl_firefox_open(w, frame_columns[i].name);
        for (size_t row = 0; frames != NULL && row < rows; row++) {
            const struct frame frame = frame_at(w, frames, row);
            frame_columns[i].write(&column, &frame);
        }
        for (unsigned label = 1; label < WNDL_LABELS; label++) {
            if (frame_columns[i].of_label != NULL)
                wndl_firefox_text(&column, frame_columns[i].of_label);
            else
                wndl_firefox_number(&column, w->s->functions.len + label - 1);
        }
        wndl_firefox_close(&column);
    }
    wndl_firefox_repeat(w, "subcategory", count, "0");
    wndl_firefox_repeat(w, "nativeSymbol", count, "null");
    wndl_firefox_repeat(w, "innerWindowID", count, "null");
    wndl_firefox_repeat(w, "column", count, "null");
    wndl_firefox_repeat(w, "originalLocation", count, "null");
    wndl_firefox_length(w, count);
}

/* ---- functions and their files */

static void write_resource(
    struct wndl_firefox_column *column, const struct wndl_function *function)
{
    if (function->module < column->w->p->images.len)
        wndl_firefox_number(column, function->module);
    else
        wndl_firefox_text(column, "-1");
}

static void write_functions(struct wndl_firefox *w, const uint32_t *sources)
{
    const struct wndl_function *functions = w->s->functions.data;
    size_t count = w->s->functions.len, all = count + WNDL_LABELS - 1;
    wndl_buf_text(&w->sink.text, ",\n\"funcTable\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "name");
    for (size_t i = 0; i < count; i++)
        wndl_firefox_number(&c, functions[i].name);
    for (unsigned label = 1; label < WNDL_LABELS; label++) {
        const char *text = wndl_label_text(label);
        wndl_firefox_number(
            &c, wndl_firefox_string(w,
                    (struct wndl_bytes){(const uint8_t *)text, strlen(text)}));
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "resource");
    for (size_t i = 0; i < count; i++)
        write_resource(&c, &functions[i]);
    for (size_t i = count; i < all; i++)
        wndl_firefox_text(&c, "-1");
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "source");
    for (size_t i = 0; i < all; i++) {
        if (i >= count || functions[i].file == 0)
            wndl_firefox_text(&c, "null");
        else
            wndl_firefox_number(&c, sources[functions[i].file] - 1);
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "lineNumber");
    for (size_t i = 0; i < all; i++) {
        if (i >= count || functions[i].line == 0)
            wndl_firefox_text(&c, "null");
        else
            wndl_firefox_number(&c, functions[i].line);
    }
    wndl_firefox_close(&c);
    wndl_firefox_repeat(w, "columnNumber", all, "null");
    wndl_firefox_repeat(w, "originalLocation", all, "null");
    wndl_firefox_repeat(w, "isJS", all, "false");
    wndl_firefox_repeat(w, "relevantForJS", all, "false");
    wndl_firefox_length(w, all);
}

/* Each file once, in the order of functions; sources[string] is its row + 1. */
static void write_sources(struct wndl_firefox *w, uint32_t *sources)
{
    const struct wndl_function *functions = w->s->functions.data;
    uint32_t count = 0;
    wndl_buf_text(&w->sink.text, ",\n\"sources\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "filename");
    for (size_t i = 0; i < w->s->functions.len; i++) {
        uint32_t file = functions[i].file;
        if (file == 0 || sources[file] != 0)
            continue;
        sources[file] = ++count;
        wndl_firefox_number(&c, file);
    }
    wndl_firefox_close(&c);
    wndl_firefox_repeat(w, "id", count, "null");
    wndl_firefox_repeat(w, "startLine", count, "1");
    wndl_firefox_repeat(w, "startColumn", count, "1");
    wndl_firefox_repeat(w, "sourceMapURL", count, "null");
    wndl_firefox_repeat(w, "content", count, "null");
    wndl_firefox_length(w, count);
}

/* ---- libraries */

/* A resource for each image, of the same number as its library. */
static void write_resources(struct wndl_firefox *w)
{
    size_t count = w->p->images.len;
    wndl_buf_text(&w->sink.text, ",\n\"resourceTable\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "lib");
    for (size_t i = 0; i < count; i++)
        wndl_firefox_number(&c, i);
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "name");
    for (size_t i = 0; i < count; i++) {
        const struct wndl_module *module = wndl_vec_at(&w->s->modules, i);
        wndl_firefox_number(&c, module->name);
    }
    wndl_firefox_close(&c);
    wndl_firefox_repeat(w, "host", count, "null");
    wndl_firefox_repeat(w, "type", count, "1");
    wndl_firefox_length(w, count);
}

void wndl_firefox_write_tables(struct wndl_firefox *w)
{
    uint32_t *sources = wndl_arena_calloc(&w->arena,
        wndl_intern_count(&w->s->strings) + (size_t)1, sizeof *sources);
    w->failed = w->failed || sources == NULL;
    if (w->failed)
        return;
    write_stacks(w);
    write_frames(w);
    write_sources(w, sources);
    write_functions(w, sources);
    write_resources(w);
    wndl_buf_text(&w->sink.text,
        ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
        "\"functionSize\":[],\"length\":0},\n"
        "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],"
        "\"length\":0},\n");
}

/*
 * The first 16 bytes of a build-id as a GUID, whose first three fields are
 * little-endian there, and an age of 0.
 */
static void put_breakpad_id(struct wndl_buf *to, struct wndl_bytes id)
{
    static const uint8_t order[] = {
        3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < sizeof order; i++)
        wndl_buf_printf(to, "%02X", order[i] < id.size ? id.data[order[i]] : 0);
    wndl_buf_byte(to, '0');
}

static void write_lib(struct wndl_firefox *w, size_t i)
{
    struct wndl_buf *to = &w->sink.text;
    const struct wndl_image *image = wndl_vec_at(&w->p->images, i);
    const struct wndl_bytes name = wndl_path_name(image->path);
    wndl_buf_text(to, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
    wndl_json_string(to, name);
    wndl_buf_text(to, ",\"path\":");
    wndl_json_string(to, image->path);
    wndl_buf_text(to, ",\"debugName\":");
    wndl_json_string(to, name);
    wndl_buf_text(to, ",\"debugPath\":");
    wndl_json_string(to, image->path);
    wndl_buf_text(to, ",\"arch\":null,\"breakpadId\":\"");
    put_breakpad_id(to, image->build_id);
    wndl_buf_text(to,
        image->build_id.size == 0 ? "\",\"codeId\":null" : "\",\"codeId\":\"");
    for (size_t k = 0; k < image->build_id.size; k++)
        wndl_buf_printf(to, "%02x", image->build_id.data[k]);
    wndl_buf_text(to, image->build_id.size == 0 ? "}" : "\"}");
    wndl_sink_flush(&w->sink);
}

void wndl_firefox_write_libs(struct wndl_firefox *w)
{
    wndl_buf_text(&w->sink.text, "\"libs\":[");
    for (size_t i = 0; i < w->p->images.len; i++)
        write_lib(w, i);
    wndl_buf_text(&w->sink.text, "],\n");
}
