/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/code.h"

#include "analyze/annotate/instructions.h"
#include "analyze/names/extents.h"
#include "model/frame_key.h"
#include "symbolize/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 1 << 18 };

struct reading {
    struct wndl_annotation *of;
    struct wndl_annotated *a;
    const struct wndl_function *function;
    const char *path; /* of the binary */
    struct wndl_extents extents;
    struct wndl_symbolizer *symbols; /* NULL: not open */
    struct wndl_instructions instructions;
    struct wndl_arena arena;
    struct wndl_vec ranges; /* struct wndl_symbol_range, ascending */
};

static struct wndl_symbolized *names_of(const struct reading *r)
{
    return r->of->symbolized;
}

/* The caller has to know of what another run might read. */
static void note_lack(const struct reading *r, const struct wndl_error *err)
{
    struct wndl_error *lack = &names_of(r)->lack;
    if (lack->status != WNDL_OK || !wndl_error_is_lack(err))
        return;
    *lack = *err;
    if (lack->file[0] == '\0')
        wndl_error_set_file(lack, r->path);
}

/* ---- which code */

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_function(const struct reading *r, uint32_t frame)
{
    const struct wndl_symbolized *s = names_of(r);
    const struct wndl_span *span = wndl_vec_at(&s->spans, frame);
    for (uint32_t i = 0; i < span->count; i++) {
        if (wndl_symbolized_location(s, span, i)->function == r->a->function)
            return true;
    }
    return false;
}

/* The recorded addresses in the function, ascending. */
static bool list_addresses(const struct reading *r, struct wndl_vec *addresses)
{
    const struct wndl_vec *frames = &names_of(r)->profile->frames;
    for (uint32_t i = 0; i < frames->len; i++) {
        const struct wndl_frame_key *key = wndl_vec_at(frames, i);
        if (key->image != r->function->module || !has_function(r, i))
            continue;
        uint64_t *address = wndl_vec_push(addresses);
        if (address == NULL)
            return false;
        *address = wndl_frame_key_byte(key);
    }
    if (addresses->len > 1)
        qsort(addresses->data, addresses->len, sizeof(uint64_t),
            compare_addresses);
    return true;
}

static wndl_svma svma_of(const struct reading *r, uint64_t rva)
{
    return wndl_svma_of_rva(
        (wndl_rva){rva}, wndl_object_image_base(r->extents.object));
}

/* [start, end) of the code around an address: by its rules, or its symbol. */
static bool find_extent(
    const struct reading *r, uint64_t rva, uint64_t *start, uint64_t *end)
{
    wndl_rva first, after;
    struct wndl_symbol symbol;
    if (wndl_extents_range(&r->extents, (wndl_rva){rva}, &first, &after)) {
        *start = first.v;
        *end = after.v;
        return true;
    }
    if (wndl_object_find_function(
            r->extents.object, svma_of(r, rva), &symbol, NULL) != WNDL_OK)
        return false;
    *start = rva - (svma_of(r, rva).v - symbol.addr.v);
    *end = *start + symbol.size;
    return *end > rva;
}

static bool list_ranges(struct reading *r)
{
    struct wndl_vec addresses;
    uint64_t done = 0, start, end;
    wndl_vec_init(&addresses, &r->arena, sizeof(uint64_t));
    if (!list_addresses(r, &addresses))
        return false;
    const uint64_t *all = addresses.data;
    for (size_t i = 0; i < addresses.len; i++) {
        if (all[i] < done || !find_extent(r, all[i], &start, &end))
            continue;
        struct wndl_symbol_range *range = wndl_vec_push(&r->ranges);
        if (range == NULL)
            return false;
        range->rva = start > done ? start : done;
        range->size = end - range->rva;
        done = end;
    }
    return true;
}

/* ---- instructions */

static struct wndl_bytes bytes_of(
    const struct reading *r, const struct wndl_symbol_range *range)
{
    const struct wndl_object *object = r->extents.object;
    const uint64_t at = svma_of(r, range->rva).v;
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        const struct wndl_segment segment = wndl_object_segment(object, i);
        const uint64_t into = at - segment.addr.v;
        if (at < segment.addr.v || into >= segment.file_size)
            continue;
        const uint64_t left = segment.file_size - into;
        return wndl_bytes_slice(r->extents.file.bytes,
            segment.file_offset + into,
            range->size < left ? range->size : left);
    }
    return (struct wndl_bytes){0};
}

/*
 * Adds " <memcpy@plt>" after a call or jump to another function. False when
 * memory is out.
 */
static bool add_target(const struct reading *r,
    const struct wndl_symbol_range *range, struct wndl_instruction *one)
{
    struct wndl_symbols answer;
    const uint64_t rva = one->target - svma_of(r, 0).v;
    const size_t used = strlen(one->text);
    if (!one->has_target || rva - range->rva < range->size)
        return true;
    enum wndl_status status =
        wndl_symbolizer_lookup(r->symbols, rva, &answer, NULL);
    if (status == WNDL_OK && answer.count != 0 &&
        answer.frames[answer.count - 1].function[0] != '\0')
        snprintf(one->text + used, sizeof one->text - used, " <%s>",
            answer.frames[answer.count - 1].function);
    return status != WNDL_NOMEM;
}

static bool add_instruction(
    struct reading *r, uint64_t rva, const struct wndl_instruction *one)
{
    struct wndl_annotated_code *code = wndl_vec_push(&r->a->code);
    const char *text =
        wndl_arena_copy(&r->of->arena, one->text, strlen(one->text));
    if (code == NULL || text == NULL)
        return false;
    code->rva = rva;
    code->size = one->size;
    code->text = text;
    return true;
}

static bool decode_range(
    struct reading *r, const struct wndl_symbol_range *range)
{
    struct wndl_bytes bytes = bytes_of(r, range);
    uint64_t rva = range->rva;
    while (bytes.size > 0 && r->a->code.len < MOST_INSTRUCTIONS) {
        struct wndl_instruction one;
        wndl_instructions_decode(
            &r->instructions, bytes, svma_of(r, rva).v, &one);
        if (!add_target(r, range, &one) || !add_instruction(r, rva, &one))
            return false;
        rva += one.size;
        bytes = wndl_bytes_slice(bytes, one.size, bytes.size - one.size);
    }
    return true;
}

/* ---- the lines of instructions */

struct feed {
    const struct wndl_vec *code;
    size_t next;
};

static bool next_address(void *context, uint64_t *rva)
{
    struct feed *feed = context;
    if (feed->next == feed->code->len)
        return false;
    const struct wndl_annotated_code *code =
        wndl_vec_at(feed->code, feed->next++);
    *rva = code->rva;
    return true;
}

/* The innermost frame in the annotated function; count if there is none. */
static size_t own_frame(
    const struct reading *r, const struct wndl_symbols *answer)
{
    const struct wndl_bytes name =
        wndl_intern_get(&names_of(r)->strings, r->function->name);
    size_t i = 0;
    for (; i < answer->count; i++) {
        const char *function = answer->frames[i].function;
        const struct wndl_bytes plain = {
            (const uint8_t *)function, wndl_name_without_clone(function)};
        if (wndl_bytes_equal(plain, name))
            break;
    }
    return i;
}

static bool set_lines(struct reading *r, const struct wndl_symbols *answer,
    size_t own, struct wndl_annotated_code *code)
{
    const struct wndl_symbol_frame *inner = &answer->frames[0];
    const struct wndl_bytes name = {(const uint8_t *)inner->function,
        wndl_name_without_clone(inner->function)};
    code->line = inner->line;
    code->own_line = answer->frames[own].line;
    code->inlined = own != 0;
    return wndl_intern_add(&names_of(r)->strings, name, &code->function) &&
           wndl_symbolized_text(names_of(r), inner->file, &code->file) &&
           wndl_symbolized_text(
               names_of(r), answer->frames[own].file, &code->own_file);
}

/* Sets *kept to whether it is code of the function. */
static bool name_instruction(struct reading *r,
    const struct wndl_symbols *answer, struct wndl_annotated_code *code,
    bool *kept)
{
    code->function = r->function->name;
    *kept = r->function->unnamed;
    if (*kept)
        return true;
    size_t own = own_frame(r, answer);
    *kept = own < answer->count;
    return !*kept || set_lines(r, answer, own, code);
}

/* Keeps the instructions that are code of the function. */
static bool name_code(struct reading *r)
{
    struct wndl_vec *code = &r->a->code;
    struct feed feed = {code, 0};
    struct wndl_symbol_stream *stream;
    struct wndl_symbols answer;
    enum wndl_status status = WNDL_OK;
    size_t done = 0, kept = 0;
    uint64_t rva;
    if (wndl_symbol_stream_open(
            r->symbols, next_address, &feed, &stream, NULL) != WNDL_OK)
        return false;
    while (status == WNDL_OK) {
        status = wndl_symbol_stream_next(stream, &rva, &answer, NULL);
        if (status != WNDL_OK)
            break;
        struct wndl_annotated_code one =
            *(struct wndl_annotated_code *)wndl_vec_at(code, done++);
        bool is_code;
        if (!name_instruction(r, &answer, &one, &is_code))
            status = WNDL_NOMEM;
        else if (is_code)
            *(struct wndl_annotated_code *)wndl_vec_at(code, kept++) = one;
    }
    wndl_symbol_stream_close(stream);
    code->len = kept;
    return status == WNDL_NOT_FOUND;
}

/* ---- the whole */

static enum wndl_status open_symbols(struct reading *r,
    const struct wndl_annotate_code *how, struct wndl_error *err)
{
    const struct wndl_image *image =
        wndl_vec_at(&names_of(r)->profile->images, r->function->module);
    const struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = how->sources->debug_dirs,
        .debuginfod = how->sources->debuginfod,
        .cache = how->sources->cache,
        .build_id = image->build_id.size == 0 ? NULL : image->build_id.data,
        .build_id_size = image->build_id.size,
    };
    enum wndl_status status = wndl_symbolizer_open_with(
        r->of->arena.mem, r->path, &options, &r->symbols, err);
    if (status != WNDL_OK)
        r->symbols = NULL;
    return status;
}

static void close_symbols(struct reading *r)
{
    struct wndl_symbolizer_info info;
    if (r->symbols == NULL)
        return;
    wndl_symbolizer_get_info(r->symbols, &info);
    note_lack(r, &info.first_missing);
    note_lack(r, &info.first_damage);
    wndl_symbolizer_close(r->symbols);
}

/* The reason why there is no code; NULL: there is some. */
static const char *open_binary(
    struct reading *r, const struct wndl_annotate_code *how)
{
    const struct wndl_symbolized *s = names_of(r);
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, r->function->module);
    struct wndl_error err = {0};
    r->path = wndl_intern_text(&s->strings, module->path);
    if (r->function->module >= s->profile->images.len || r->path[0] != '/')
        return "the code was in no file";
    if (open_symbols(r, how, &err) != WNDL_OK) {
        note_lack(r, &err);
        return module->state <= WNDL_SYMBOLS_EXPORTED
                   ? "the binary cannot be read"
                   : wndl_symbols_state_text(module->state);
    }
    if (wndl_extents_try(&r->extents, r->path, r->of->arena.mem, &err) !=
        WNDL_OK) {
        note_lack(r, &err);
        return "the binary cannot be read";
    }
    r->a->image_base = wndl_object_image_base(r->extents.object).v;
    return wndl_instructions_init(&r->instructions,
               wndl_object_machine(r->extents.object), how->intel)
               ? NULL
               : "it is code of another kind of processor";
}

static bool read_code(struct reading *r)
{
    if (!list_ranges(r))
        return false;
    const struct wndl_symbol_range *ranges = r->ranges.data;
    for (size_t i = 0; i < r->ranges.len; i++) {
        if (!decode_range(r, &ranges[i]))
            return false;
    }
    const bool is_cut = r->a->code.len == MOST_INSTRUCTIONS;
    if (!name_code(r))
        return false;
    if (is_cut)
        r->a->code_problem = "the rest is left out: more than 262,144";
    else if (r->a->code.len == 0)
        r->a->code_problem = "neither rules nor symbols say where it begins";
    return true;
}

bool wndl_annotate_read_code(struct wndl_annotation *of,
    struct wndl_annotated *a, const struct wndl_annotate_code *how)
{
    struct reading r = {
        .of = of,
        .a = a,
        .function = wndl_vec_at(&of->symbolized->functions, a->function),
    };
    wndl_arena_init(&r.arena, of->arena.mem);
    wndl_vec_init(&r.ranges, &r.arena, sizeof(struct wndl_symbol_range));
    a->code_problem = open_binary(&r, how);
    bool read = a->code_problem != NULL || read_code(&r);
    wndl_extents_close(&r.extents);
    close_symbols(&r);
    wndl_arena_free(&r.arena);
    return read;
}
