/* SPDX-License-Identifier: MIT */
#include "out/pprof.h"

#include "base/intern.h"
#include "base/protobuf.h"
#include "base/utf8.h"
#include "model/certainty.h"
#include "model/pprof_fields.h"
#include "out/core/sink.h"

#include <string.h>

enum value { VALUE_SAMPLES, VALUE_CPU, VALUE_BLOCKED, VALUE_WAITING, VALUES };

/* The costs of one thread in one place. */
struct group {
    uint32_t thread, node;
    uint8_t label; /* enum wndl_label */
    uint64_t values[VALUES];
};

/*
 * A string's number is its id in the symbolized's strings; ours come after
 * those. Numbers of locations are 1 + frame, and after all frames labels;
 * those of functions in the same way.
 */
struct writer {
    const struct wndl_exported *e;
    const struct wndl_symbolized *s;
    const struct wndl_profile *p;
    struct wndl_arena arena;
    struct wndl_intern ours;
    struct wndl_sink sink;
    struct wndl_buf message, inner;
    uint64_t *starts; /* of images, in a made-up address space */
    uint64_t *limits;
    bool failed;
};

/* ---- strings */

static uint64_t string_id(struct writer *w, struct wndl_bytes text)
{
    uint32_t id = 0;
    w->failed = w->failed || !wndl_intern_add(&w->ours, text, &id);
    return id == 0 ? 0 : wndl_intern_count(&w->s->strings) + id - 1;
}

static uint64_t text_id(struct writer *w, const char *text)
{
    return string_id(
        w, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

static void write_strings_of(
    struct writer *w, const struct wndl_intern *strings, uint32_t first)
{
    for (uint32_t i = first; i < wndl_intern_count(strings); i++) {
        wndl_buf_clear(&w->inner);
        wndl_utf8_plain(&w->inner, wndl_intern_get(strings, i));
        wndl_protobuf_bytes(
            &w->sink.text, WNDL_PPROF_PROFILE_STRING, &w->inner);
        wndl_sink_flush(&w->sink);
    }
}

/* ---- parts that do not depend on samples */

/* Writes the collected message as a field of the profile. */
static void put_message(struct writer *w, unsigned field)
{
    wndl_protobuf_bytes(&w->sink.text, field, &w->message);
    wndl_buf_clear(&w->message);
    wndl_sink_flush(&w->sink);
}

static void put_type(
    struct writer *w, unsigned field, const char *type, const char *unit)
{
    wndl_protobuf_number(&w->message, WNDL_PPROF_TYPE_TYPE, text_id(w, type));
    wndl_protobuf_number(&w->message, WNDL_PPROF_TYPE_UNIT, text_id(w, unit));
    put_message(w, field);
}

static uint64_t page_up(uint64_t size)
{
    enum { PAGE = 4096 };
    return (size / PAGE + 1) * PAGE;
}

/*
 * Recordings have places in images, the format has addresses. So images are
 * laid out one after the other in a made-up address space. An image with
 * impossible addresses is at 0.
 */
static bool lay_out_images(struct writer *w)
{
    enum { FIRST = 1 << 16 };
    const uint64_t most = (uint64_t)1 << 40;
    size_t count = w->p->images.len;
    w->starts = wndl_arena_calloc(&w->arena, count + 1, sizeof *w->starts);
    w->limits = wndl_arena_calloc(&w->arena, count + 1, sizeof *w->limits);
    if (w->starts == NULL || w->limits == NULL)
        return false;
    for (size_t i = 0; i < w->p->frames.len; i++) {
        const struct wndl_frame_key *frame = wndl_vec_at(&w->p->frames, i);
        if (frame->image < count && frame->address > w->limits[frame->image])
            w->limits[frame->image] = frame->address;
    }
    uint64_t start = FIRST;
    for (size_t i = 0; i < count; i++) {
        bool fits = w->limits[i] < most;
        w->starts[i] = fits ? start : 0;
        start += fits ? page_up(w->limits[i]) : 0;
        w->limits[i] = fits ? start : UINT64_MAX;
    }
    return true;
}

static uint64_t build_id(struct writer *w, struct wndl_bytes id)
{
    wndl_buf_clear(&w->inner);
    for (size_t i = 0; i < id.size; i++)
        wndl_buf_printf(&w->inner, "%02x", id.data[i]);
    w->failed = w->failed || w->inner.failed;
    return string_id(w, (struct wndl_bytes){w->inner.data, w->inner.size});
}

static void write_mapping(struct writer *w, size_t image)
{
    const struct wndl_image *from = wndl_vec_at(&w->p->images, image);
    const struct wndl_module *module = wndl_vec_at(&w->s->modules, image);
    bool lines = module->state == WNDL_SYMBOLS_LINES;
    struct wndl_buf *m = &w->message;
    uint64_t id = build_id(w, from->build_id);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_ID, image + 1);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_START, w->starts[image]);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_LIMIT, w->limits[image]);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_FILE, module->path);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_BUILD_ID, id);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_HAS_FUNCTIONS, true);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_HAS_FILES, lines);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_HAS_LINES, lines);
    wndl_protobuf_number(m, WNDL_PPROF_MAPPING_HAS_INLINES, lines);
    put_message(w, WNDL_PPROF_PROFILE_MAPPING);
}

/* The program's own image comes first, since pprof names the profile by it. */
static size_t main_image(const struct wndl_profile *p)
{
    const struct wndl_process *process = p->processes.data;
    for (size_t i = 0; i < p->images.len && p->processes.len != 0; i++) {
        const struct wndl_image *image = wndl_vec_at(&p->images, i);
        if (wndl_bytes_equal(image->path, process->executable))
            return i;
    }
    return 0;
}

static void write_mappings(struct writer *w)
{
    size_t first = main_image(w->p);
    if (first < w->p->images.len)
        write_mapping(w, first);
    for (size_t i = 0; i < w->p->images.len; i++) {
        if (i != first)
            write_mapping(w, i);
    }
}

static void write_function(
    struct writer *w, size_t id, const struct wndl_function *function)
{
    struct wndl_buf *m = &w->message;
    wndl_protobuf_number(m, WNDL_PPROF_FUNCTION_ID, id);
    wndl_protobuf_number(m, WNDL_PPROF_FUNCTION_NAME, function->name);
    wndl_protobuf_number(m, WNDL_PPROF_FUNCTION_SYSTEM_NAME, function->name);
    wndl_protobuf_number(m, WNDL_PPROF_FUNCTION_FILE, function->file);
    wndl_protobuf_number(m, WNDL_PPROF_FUNCTION_LINE, function->line);
    put_message(w, WNDL_PPROF_PROFILE_FUNCTION);
}

static void put_line(struct writer *w, uint64_t function, uint64_t line)
{
    wndl_buf_clear(&w->inner);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LINE_FUNCTION, function);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LINE_LINE, line);
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_LOCATION_LINE, &w->inner);
}

/* Inlined functions are lines of their location, the innermost first. */
static void write_location(struct writer *w, uint32_t frame)
{
    const struct wndl_frame_key *key = wndl_vec_at(&w->p->frames, frame);
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, frame);
    bool mapped = key->image < w->p->images.len;
    uint64_t address = wndl_exported_address(key);
    wndl_protobuf_number(
        &w->message, WNDL_PPROF_LOCATION_ID, (uint64_t)frame + 1);
    if (mapped)
        wndl_protobuf_number(
            &w->message, WNDL_PPROF_LOCATION_MAPPING, (uint64_t)key->image + 1);
    wndl_protobuf_number(&w->message, WNDL_PPROF_LOCATION_ADDRESS,
        mapped ? w->starts[key->image] + address : address);
    for (uint32_t i = 0; i < span->count; i++) {
        const struct wndl_location *l = wndl_symbolized_location(w->s, span, i);
        put_line(w, (uint64_t)l->function + 1, l->line);
    }
    put_message(w, WNDL_PPROF_PROFILE_LOCATION);
}

static void write_labels(struct writer *w)
{
    for (unsigned i = WNDL_LABEL_NONE + 1; i < WNDL_LABELS; i++) {
        uint64_t name = text_id(w, wndl_label_text(i));
        uint64_t function = w->s->functions.len + i;
        wndl_protobuf_number(&w->message, WNDL_PPROF_FUNCTION_ID, function);
        wndl_protobuf_number(&w->message, WNDL_PPROF_FUNCTION_NAME, name);
        wndl_protobuf_number(
            &w->message, WNDL_PPROF_FUNCTION_SYSTEM_NAME, name);
        put_message(w, WNDL_PPROF_PROFILE_FUNCTION);
        wndl_protobuf_number(
            &w->message, WNDL_PPROF_LOCATION_ID, w->p->frames.len + i);
        put_line(w, function, 0);
        put_message(w, WNDL_PPROF_PROFILE_LOCATION);
    }
}

static void write_places(struct writer *w)
{
    write_mappings(w);
    for (size_t i = 0; i < w->s->functions.len; i++)
        write_function(w, i + 1, wndl_vec_at(&w->s->functions, i));
    for (size_t i = 0; i < w->p->frames.len; i++)
        write_location(w, (uint32_t)i);
    write_labels(w);
}

/* ---- samples */

/* Writes a stack, the leaf first; the label stands for a missing root. */
static void put_stack(struct writer *w, uint32_t node, unsigned label)
{
    wndl_buf_clear(&w->inner);
    while (node != 0) {
        const struct wndl_node *at = wndl_vec_at(&w->p->nodes, node);
        wndl_buf_uleb(&w->inner, (uint64_t)at->frame + 1);
        node = at->parent;
    }
    if (label != WNDL_LABEL_NONE)
        wndl_buf_uleb(&w->inner, w->p->frames.len + label);
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_SAMPLE_LOCATION, &w->inner);
    wndl_buf_clear(&w->inner);
}

static void put_label_string(struct writer *w, uint64_t key, uint64_t string)
{
    wndl_buf_clear(&w->inner);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LABEL_KEY, key);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LABEL_STRING, string);
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_SAMPLE_LABEL, &w->inner);
}

static void put_label_number(struct writer *w, const char *key, uint64_t number)
{
    uint64_t name = text_id(w, key);
    wndl_buf_clear(&w->inner);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LABEL_KEY, name);
    wndl_protobuf_number(&w->inner, WNDL_PPROF_LABEL_NUMBER, number);
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_SAMPLE_LABEL, &w->inner);
}

/* The format has no place for it in a frame. */
static void put_certainty(struct writer *w, uint32_t node)
{
    const enum wndl_certainty certainty = wndl_certainty_of_stack(w->p, node);
    if (certainty == WNDL_CERTAIN)
        return;
    uint64_t name = text_id(w, wndl_certainty_name(certainty));
    put_label_string(w, text_id(w, "certainty"), name);
}

static void put_process(struct writer *w, uint32_t index)
{
    const struct wndl_process *process = wndl_vec_at(&w->p->processes, index);
    uint64_t name = string_id(w, wndl_exported_program(w->p, index));
    put_label_string(w, text_id(w, "process"), name);
    put_label_number(w, "pid", process->pid);
}

static void put_thread(struct writer *w, uint32_t index)
{
    const struct wndl_thread *thread = wndl_vec_at(&w->p->threads, index);
    uint64_t name = string_id(w, thread->name);
    put_label_string(w, text_id(w, "thread"), name);
    put_label_number(w, "tid", thread->tid);
    put_process(w, thread->process);
}

static struct group *group_of(struct wndl_vec *groups, struct wndl_map *index,
    const struct wndl_cost_item *item)
{
    uint8_t label = (uint8_t)wndl_cost_item_label(item);
    uint64_t key = (uint64_t)item->thread << 36 | (uint64_t)item->node << 4;
    uint64_t *slot = wndl_map_put(index, key | label);
    if (slot == NULL)
        return NULL;
    if (*slot != 0)
        return wndl_vec_at(groups, *slot - 1);
    struct group *group = wndl_vec_push(groups);
    if (group == NULL)
        return NULL;
    *group = (struct group){
        .thread = item->thread, .node = item->node, .label = label};
    *slot = groups->len;
    return group;
}

/*
 * Sums all costs of a thread in the same place. Sums are in the order in which
 * places first occurred.
 */
static bool group_costs(struct writer *w, struct wndl_vec *groups)
{
    struct wndl_map index;
    struct wndl_cost_item item;
    size_t at = 0;
    wndl_vec_init(groups, &w->arena, sizeof(struct group));
    wndl_map_init(&index, &w->arena);
    while (wndl_costs_next(w->p, WNDL_TIME_WALL, &at, &item)) {
        bool ran = at <= w->p->samples.len;
        struct group *group = group_of(groups, &index, &item);
        if (group == NULL)
            return false;
        group->values[VALUE_SAMPLES] += ran;
        group->values[ran            ? VALUE_CPU
                      : item.waiting ? VALUE_WAITING
                                     : VALUE_BLOCKED] += item.cost.time;
    }
    return true;
}

static void write_group(struct writer *w, const struct group *group)
{
    const uint64_t *v = group->values;
    put_stack(w, group->node, group->label);
    for (unsigned i = 0; i < VALUES; i++)
        wndl_buf_uleb(&w->inner, v[i]);
    wndl_buf_uleb(
        &w->inner, v[VALUE_CPU] + v[VALUE_BLOCKED] + v[VALUE_WAITING]);
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_SAMPLE_VALUE, &w->inner);
    put_thread(w, group->thread);
    put_certainty(w, group->node);
    put_message(w, WNDL_PPROF_PROFILE_SAMPLE);
}

static void write_times(struct writer *w)
{
    static const char *const shown[] = {
        [WNDL_TIME_CPU] = "cpu",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
    };
    put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, "samples", "count");
    put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, "blocked", "nanoseconds");
    put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, "waiting", "nanoseconds");
    put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
    put_type(w, WNDL_PPROF_PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    wndl_protobuf_number(
        &w->sink.text, WNDL_PPROF_PROFILE_PERIOD, w->p->interval);
    wndl_protobuf_number(&w->sink.text, WNDL_PPROF_PROFILE_DEFAULT_TYPE,
        text_id(w, shown[w->e->time]));
    struct wndl_vec groups;
    w->failed = w->failed || !group_costs(w, &groups);
    for (size_t i = 0; !w->failed && i < groups.len; i++)
        write_group(w, wndl_vec_at(&groups, i));
}

/* ---- heaps */

static const char *const heap_types[WNDL_HEAP_SETS][2] = {
    [WNDL_HEAP_SET_LIVE] = {"inuse_objects", "inuse_space"},
    [WNDL_HEAP_SET_PEAK] = {"peak_objects", "peak_space"},
    [WNDL_HEAP_SET_ALL] = {"alloc_objects", "alloc_space"},
    [WNDL_HEAP_SET_TEMPORARY] = {"temporary_objects", "temporary_space"},
};

static void write_sum(
    struct writer *w, const struct wndl_stack_sum *sum, uint32_t process)
{
    uint64_t any = 0;
    put_stack(w, sum->node, sum->label);
    for (unsigned i = 0; i < WNDL_HEAP_SETS; i++) {
        if (!wndl_exported_has_set(w->e, i))
            continue;
        uint64_t blocks = wndl_exported_round(sum->blocks[i]);
        wndl_buf_uleb(&w->inner, blocks);
        wndl_buf_uleb(&w->inner, wndl_exported_round(sum->bytes[i]));
        any |= blocks;
    }
    wndl_protobuf_bytes(&w->message, WNDL_PPROF_SAMPLE_VALUE, &w->inner);
    put_process(w, process);
    put_certainty(w, sum->node);
    if (any == 0)
        wndl_buf_clear(&w->message);
    else
        put_message(w, WNDL_PPROF_PROFILE_SAMPLE);
}

static void write_heap(struct writer *w, const struct wndl_process_heap *heap)
{
    struct wndl_vec sums;
    w->failed = w->failed || !wndl_exported_sum(&sums, heap, &w->arena);
    for (size_t i = 0; !w->failed && i < sums.len; i++)
        write_sum(w, wndl_vec_at(&sums, i), heap->process);
}

static void write_heaps(struct writer *w)
{
    for (unsigned i = 0; i < WNDL_HEAP_SETS; i++) {
        if (!wndl_exported_has_set(w->e, i))
            continue;
        put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, heap_types[i][0], "count");
        put_type(w, WNDL_PPROF_PROFILE_SAMPLE_TYPE, heap_types[i][1], "bytes");
    }
    put_type(w, WNDL_PPROF_PROFILE_PERIOD_TYPE, "space", "bytes");
    const char *shown = heap_types[w->e->set][!w->e->by_blocks];
    wndl_protobuf_number(
        &w->sink.text, WNDL_PPROF_PROFILE_DEFAULT_TYPE, text_id(w, shown));
    for (size_t i = 0; i < w->p->heaps.len && !w->failed; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        if (wndl_exported_has(w->e, heap))
            write_heap(w, heap);
    }
}

/* ---- all of it */

static void write_head(struct writer *w)
{
    struct wndl_buf *command = &w->inner;
    wndl_buf_clear(command);
    for (size_t i = 0; i < w->p->arguments.len; i++) {
        const struct wndl_bytes *word = wndl_vec_at(&w->p->arguments, i);
        wndl_buf_text(command, i == 0 ? "" : " ");
        wndl_buf_add(command, word->data, word->size);
    }
    uint64_t id = string_id(w, (struct wndl_bytes){command->data,
                                   command->failed ? 0 : command->size});
    wndl_protobuf_number(
        &w->sink.text, WNDL_PPROF_PROFILE_TIME, w->p->realtime);
    wndl_protobuf_number(
        &w->sink.text, WNDL_PPROF_PROFILE_DURATION, w->p->duration);
    wndl_protobuf_number(&w->sink.text, WNDL_PPROF_PROFILE_COMMENT, id);
}

static void write_profile(struct writer *w)
{
    write_head(w);
    if (w->e->of_heap)
        write_heaps(w);
    else
        write_times(w);
    write_places(w);
    write_strings_of(w, &w->s->strings, 0);
    write_strings_of(w, &w->ours, 1);
}

bool wndl_pprof_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem)
{
    struct writer w = {.e = e, .s = e->symbolized, .p = e->symbolized->profile};
    wndl_arena_init(&w.arena, mem);
    wndl_buf_init(&w.message, mem);
    wndl_buf_init(&w.inner, mem);
    wndl_sink_open(&w.sink, out, true, mem);
    bool whole = wndl_intern_init(&w.ours, &w.arena) && lay_out_images(&w);
    if (whole)
        write_profile(&w);
    whole = wndl_sink_close(&w.sink) && whole && !w.failed &&
            !w.message.failed && !w.inner.failed;
    wndl_buf_free(&w.message);
    wndl_buf_free(&w.inner);
    wndl_arena_free(&w.arena);
    return whole;
}
