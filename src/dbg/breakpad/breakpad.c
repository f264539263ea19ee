/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "dbg/breakpad/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_NAME = 64 << 10, /* longer names are cut off */
    MOST = 4 << 20,          /* lines, and ranges, of a function */
    REVISION = 40,           /* digits of a revision's number */
};

/* ---- texts */

/*
 * "PATH" of "hg:HOST/REPOSITORY:PATH:REVISION", which may also begin with
 * "git:"; for other names, the whole name.
 */
static struct wndl_bytes shorten(struct wndl_bytes name)
{
    size_t colons[4];
    size_t count = 0;
    for (size_t i = 0; i < name.size && count < 4; i++)
        if (name.data[i] == ':')
            colons[count++] = i;
    if (count != 3 || colons[1] - colons[0] == 1 ||
        colons[2] - colons[1] == 1 || name.size - colons[2] != REVISION + 1)
        return name;
    struct wndl_bytes kind = {name.data, colons[0]};
    if (!wndl_bytes_is(kind, "hg") && !wndl_bytes_is(kind, "git"))
        return name;
    for (size_t i = colons[2] + 1; i < name.size; i++)
        if (wndl_bp_digit(name.data[i]) > 15)
            return name;
    return wndl_bytes_slice(name, colons[1] + 1, colons[2] - colons[1] - 1);
}

/* A copy of `text`, which is at offset `at`, made once. False: no memory. */
static bool copy_text(struct wndl_breakpad *b, uint64_t at,
    struct wndl_bytes text, struct wndl_bytes *kept)
{
    if (text.size > LONGEST_NAME)
        text.size = LONGEST_NAME;
    *kept = (struct wndl_bytes){(const uint8_t *)"", 0};
    if (text.size == 0)
        return true;
    /* A NUL ends the text, as it does for readers of C strings. */
    text.size = strnlen((const char *)text.data, text.size);
    uint64_t *known = wndl_map_put(&b->texts, at);
    if (known == NULL)
        return false;
    if (*known == 0)
        *known = (uintptr_t)wndl_arena_copy(&b->arena, text.data, text.size);
    *kept = (struct wndl_bytes){(const uint8_t *)(uintptr_t)*known, text.size};
    return kept->data != NULL;
}

static uint64_t find_text(const struct wndl_vec *list, uint32_t id)
{
    size_t low = 0;
    size_t high = list->len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct wndl_bp_text *text = wndl_vec_at(list, mid);
        if (text->id == id)
            return text->at;
        if (text->id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return UINT64_MAX;
}

static bool text_of(struct wndl_breakpad *b, const struct wndl_vec *list,
    uint32_t id, struct wndl_bytes *kept)
{
    uint64_t at = find_text(list, id);
    if (at == UINT64_MAX)
        return copy_text(b, 0, (struct wndl_bytes){0}, kept);
    struct wndl_bytes text = wndl_bp_rest(wndl_bp_line_at(b->in.text, at));
    return copy_text(b, at, list == &b->files ? shorten(text) : text, kept);
}

/* The name of a FUNC or PUBLIC record, and where that starts. */
static bool name_of(struct wndl_breakpad *b, uint64_t at,
    struct wndl_bytes *name, uint64_t *start)
{
    struct wndl_bp_fields fields = wndl_bp_line_at(b->in.text, at);
    struct wndl_bp_head head = {0, 0};
    enum wndl_bp_kind kind = wndl_bp_take_kind(&fields);
    (void)wndl_bp_take_head(&fields, kind, &head);
    *start = head.start;
    uint64_t name_at = (uint64_t)(fields.at - b->in.text.data);
    return copy_text(b, name_at, wndl_bp_rest(fields), name);
}

/* ---- the records of a function */

/*
 * Adds a range of the last call. False when memory is out. A range of size 0
 * covers nothing.
 */
static bool add_range(struct wndl_bp_body *body,
    const struct wndl_bp_call *call, uint64_t start, uint64_t size)
{
    uint64_t end;
    if (size == 0 || __builtin_add_overflow(start, size, &end) ||
        call->depth >= WNDL_BP_DEEPEST || body->ranges.len == MOST)
        return true;
    struct wndl_bp_range *range = wndl_vec_push(&body->ranges);
    if (range == NULL)
        return false;
    *range = (struct wndl_bp_range){
        start, end, call->depth, (uint32_t)body->calls.len - 1};
    if (body->depths <= call->depth)
        body->depths = call->depth + 1;
    return true;
}

/* depth, call line, call file, origin, then start and size of each range */
static bool add_inline(
    struct wndl_bp_body *body, struct wndl_bp_fields fields, bool *sound)
{
    struct wndl_bp_call call = {0};
    uint64_t start;
    uint64_t size;
    *sound = wndl_bp_take_decimal(&fields, &call.depth) &&
             wndl_bp_take_decimal(&fields, &call.line) &&
             wndl_bp_take_decimal(&fields, &call.file) &&
             wndl_bp_take_decimal(&fields, &call.origin) &&
             fields.at != fields.end;
    for (bool first = true; *sound && fields.at != fields.end; first = false) {
        *sound = wndl_bp_take_hex(&fields, &start) &&
                 wndl_bp_take_hex(&fields, &size);
        if (!*sound || body->calls.len == MOST)
            return true;
        if (first) {
            struct wndl_bp_call *slot = wndl_vec_push(&body->calls);
            if (slot == NULL)
                return false;
            call.first = start;
            *slot = call;
        }
        if (!add_range(body, &call, start, size))
            return false;
    }
    return true;
}

static bool add_line(
    struct wndl_bp_body *body, struct wndl_bp_fields fields, bool *sound)
{
    struct wndl_bp_line line = {0};
    uint64_t size;
    *sound = wndl_bp_take_hex(&fields, &line.start) &&
             wndl_bp_take_hex(&fields, &size) &&
             wndl_bp_take_decimal(&fields, &line.line) &&
             wndl_bp_take_decimal(&fields, &line.file) &&
             !__builtin_add_overflow(line.start, size, &line.end);
    if (!*sound || size == 0 || body->lines.len == MOST)
        return true;
    struct wndl_bp_line *slot = wndl_vec_push(&body->lines);
    if (slot != NULL)
        *slot = line;
    return slot != NULL;
}

static bool ends_function(enum wndl_bp_kind kind)
{
    return kind == WNDL_BP_FUNC || kind == WNDL_BP_PUBLIC ||
           kind == WNDL_BP_STACK || kind == WNDL_BP_MODULE;
}

static bool count_damage(struct wndl_breakpad *b, uint64_t at)
{
    uint64_t *counted = wndl_map_put(&b->damaged, b->body.at);
    if (counted == NULL)
        return false;
    if (*counted == 0)
        wndl_bp_damage(b, at, "a line that is no record");
    *counted = 1;
    return true;
}

/* The bytes around a read page that the kernel usually maps. */
enum { LOOK = 64 * 1024 };

static bool read_body(struct wndl_breakpad *b, uint64_t func)
{
    struct wndl_bytes text = b->in.text;
    struct wndl_bp_body *body = &b->body;
    body->at = func;
    body->lines.len = body->calls.len = body->ranges.len = 0;
    body->depths = body->sorted = 0;
    uint64_t next = func;
    (void)wndl_bp_take_line(text, &next);
    while (next < text.size) {
        uint64_t at = next;
        struct wndl_bp_fields fields = wndl_bp_take_line(text, &next);
        enum wndl_bp_kind kind = wndl_bp_take_kind(&fields);
        bool sound = true;
        bool kept = true;
        if (ends_function(kind)) {
            wndl_bp_release_pages_after(b, at - func + LOOK);
            return true;
        }
        if (kind == WNDL_BP_INLINE)
            kept = add_inline(body, fields, &sound);
        else if (kind == WNDL_BP_LINE && fields.at != fields.end)
            kept = add_line(body, fields, &sound);
        if (!kept || (!sound && !count_damage(b, at)))
            return false;
    }
    wndl_bp_release_pages_after(b, text.size - func);
    return true;
}

static int compare_lines(const void *left, const void *right)
{
    const struct wndl_bp_line *a = left;
    const struct wndl_bp_line *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_bp_range *a = left;
    const struct wndl_bp_range *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Puts ranges of one depth together. False when memory is out. */
static bool sort_by_depth(struct wndl_bp_body *body)
{
    const struct wndl_bp_range *from = body->ranges.data;
    size_t count = body->ranges.len;
    size_t sum = 0;
    if (!wndl_vec_reserve(&body->scratch, count))
        return false;
    memset(body->ends, 0, body->depths * sizeof body->ends[0]);
    for (size_t i = 0; i < count; i++)
        body->ends[from[i].depth]++;
    for (uint32_t depth = 0; depth < body->depths; depth++) {
        size_t start = sum;
        sum += body->ends[depth];
        body->ends[depth] = start;
    }
    struct wndl_bp_range *to = body->scratch.data;
    for (size_t i = 0; i < count; i++)
        to[body->ends[from[i].depth]++] = from[i];
    struct wndl_vec ranges = body->scratch;
    ranges.len = count;
    body->scratch = body->ranges;
    body->ranges = ranges;
    return true;
}

static bool load_body(struct wndl_breakpad *b, uint64_t func)
{
    if (b->body.at == func)
        return true;
    if (!read_body(b, func) || !sort_by_depth(&b->body)) {
        b->body.at = UINT64_MAX;
        return false;
    }
    wndl_bp_sort(&b->body.lines, compare_lines);
    return true;
}

/* ---- one address */

/*
 * In a sorted list of elements that begin with their start, the last one up to
 * `rva`; NULL when there is none.
 */
static const void *last_up_to(const struct wndl_vec *list, uint64_t rva)
{
    size_t at = wndl_search_up_to(list->data, list->element, list->len, rva);
    return at == 0 ? NULL : wndl_vec_at(list, at - 1);
}

static const struct wndl_bp_func *func_at(
    const struct wndl_breakpad *b, uint64_t rva, uint64_t *below)
{
    const struct wndl_bp_func *last = last_up_to(&b->funcs, rva);
    *below = last == NULL ? 0 : last->start;
    return last != NULL && rva < last->end ? last : NULL;
}

/*
 * No record says where the image ends: the last public symbol reaches to the
 * end of its page, or of the last function.
 */
static bool is_past_end(const struct wndl_breakpad *b, uint64_t rva)
{
    enum { PAGE = 4096 };
    const struct wndl_bp_public *last =
        wndl_vec_at(&b->publics, b->publics.len - 1);
    uint64_t end = last->start | (PAGE - 1);
    if (b->funcs.len != 0) {
        const struct wndl_bp_func *func =
            wndl_vec_at(&b->funcs, b->funcs.len - 1);
        end = func->end > end ? func->end : end;
    }
    return rva > end;
}

/* The last PUBLIC record up to `rva`, unless a function starts after it. */
static const struct wndl_bp_public *public_at(
    const struct wndl_breakpad *b, uint64_t rva, uint64_t func)
{
    const struct wndl_bp_public *last = last_up_to(&b->publics, rva);
    if (last == NULL || last->start < func || is_past_end(b, rva))
        return NULL;
    return last;
}

static const struct wndl_bp_line *line_at(
    const struct wndl_bp_body *body, uint64_t rva)
{
    const struct wndl_bp_line *last = last_up_to(&body->lines, rva);
    return last != NULL && rva < last->end ? last : NULL;
}

/*
 * The ranges of a depth, which are sorted at the first request; those of
 * earlier depths must be sorted before.
 */
static struct wndl_vec ranges_of(struct wndl_bp_body *body, uint32_t depth)
{
    size_t first = depth == 0 ? 0 : body->ends[depth - 1];
    struct wndl_vec ranges = body->ranges;
    ranges.data = wndl_vec_at(&body->ranges, first);
    ranges.len = body->ends[depth] - first;
    if (body->sorted == depth) {
        wndl_bp_sort(&ranges, compare_ranges);
        body->sorted++;
    }
    return ranges;
}

/* The call of a depth that has `rva`, or NULL. */
static const struct wndl_bp_call *call_at(
    struct wndl_bp_body *body, uint32_t depth, uint64_t rva)
{
    const struct wndl_vec ranges = ranges_of(body, depth);
    const struct wndl_bp_range *last = last_up_to(&ranges, rva);
    return last != NULL && rva < last->end
               ? wndl_vec_at(&body->calls, last->call)
               : NULL;
}

static struct wndl_breakpad_frame *add_frame(
    struct wndl_breakpad *b, uint32_t file, uint32_t line, bool has_line)
{
    struct wndl_breakpad_frame *frame = wndl_vec_push(&b->frames);
    if (frame == NULL)
        return NULL;
    frame->file = (struct wndl_bytes){(const uint8_t *)"", 0};
    frame->line = has_line ? line : 0;
    if (has_line && !text_of(b, &b->files, file, &frame->file))
        return NULL;
    return frame;
}

/*
 * Adds the frames of inlined calls, innermost first, then that of the function.
 */
static bool add_frames(struct wndl_breakpad *b, uint64_t rva, uint64_t func)
{
    const struct wndl_bp_call *chain[WNDL_BP_DEEPEST];
    uint32_t count = 0;
    const struct wndl_bp_line *line = line_at(&b->body, rva);
    uint32_t at_file = line == NULL ? 0 : line->file;
    uint32_t at_line = line == NULL ? 0 : line->line;
    bool is_known = line != NULL;
    struct wndl_breakpad_frame *frame;
    while (count < b->body.depths &&
           (chain[count] = call_at(&b->body, count, rva)) != NULL)
        count++;
    while (count-- > 0) {
        frame = add_frame(b, at_file, at_line, is_known);
        if (frame == NULL ||
            !text_of(b, &b->origins, chain[count]->origin, &frame->name))
            return false;
        frame->inlined = true;
        frame->start = chain[count]->first;
        at_file = chain[count]->file;
        at_line = chain[count]->line;
        is_known = true;
    }
    frame = add_frame(b, at_file, at_line, is_known);
    return frame != NULL && name_of(b, func, &frame->name, &frame->start);
}

enum wndl_status wndl_breakpad_lookup(struct wndl_breakpad *breakpad,
    uint64_t rva, struct wndl_breakpad_frames *frames)
{
    uint64_t below;
    struct wndl_breakpad *b = breakpad;
    const struct wndl_bp_func *func = func_at(b, rva, &below);
    const struct wndl_bp_public *public = NULL;
    *frames = (struct wndl_breakpad_frames){0};
    b->frames.len = 0;
    if (func == NULL)
    public = public_at(b, rva, below);
    if (func == NULL && public == NULL)
        return WNDL_NOT_FOUND;
    if (func != NULL) {
        if (!load_body(b, func->at) || !add_frames(b, rva, func->at))
            return WNDL_NOMEM;
    } else {
        struct wndl_breakpad_frame *frame = add_frame(b, 0, 0, false);
        if (frame == NULL ||
            !name_of(b, public->at, &frame->name, &frame->start))
            return WNDL_NOMEM;
    }
    *frames = (struct wndl_breakpad_frames){b->frames.data, b->frames.len};
    return WNDL_OK;
}

/* ---- all functions */

typedef enum wndl_status visit_function(
    void *context, const struct wndl_breakpad_function *function);

/* Gives the frames for the record at `at`. */
static enum wndl_status give(struct wndl_breakpad *b, uint64_t at,
    struct wndl_breakpad_function function, visit_function *visit,
    void *context)
{
    uint64_t start;
    if (!name_of(b, at, &function.name, &start))
        return WNDL_NOMEM;
    return visit(context, &function);
}

enum wndl_status wndl_breakpad_visit_functions(
    struct wndl_breakpad *b, visit_function *visit, void *context)
{
    enum wndl_status status = WNDL_OK;
    const struct wndl_bp_func *func = b->funcs.data;
    const struct wndl_bp_public *label = b->publics.data;
    for (size_t i = 0; i < b->funcs.len && status == WNDL_OK; i++, func++) {
        const struct wndl_breakpad_function function = {
            .rva = func->start, .size = func->end - func->start};
        status = give(b, func->at, function, visit, context);
    }
    for (size_t i = 0; i < b->publics.len && status == WNDL_OK; i++, label++) {
        const struct wndl_breakpad_function function = {.rva = label->start};
        status = give(b, label->at, function, visit, context);
    }
    return status;
}
