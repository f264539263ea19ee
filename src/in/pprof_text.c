/* SPDX-License-Identifier: MIT */
#include "in/pprof_text.h"

#include "base/buf.h"
#include "base/lines.h"
#include "base/text.h"
#include "in/frame_text/images.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NUMBERS = 4 };

/* The kinds of profiles, by how they begin. */
static const struct kind {
    const char *start;
    const char *separators; /* after each number of a stack */
    const char *events[MOST_NUMBERS];
    const char *units[MOST_NUMBERS];
    size_t counted; /* the number of stacks is this one */
} kinds[] = {
    {"heap profile: ", ":[:]",
        {"inuse_objects", "inuse_space", "alloc_objects", "alloc_space"},
        {"count", "bytes", "count", "bytes"}, 0},
    {"goroutine profile: ", "", {"goroutine"}, {"count"}, 0},
    {"threadcreate profile: ", "", {"threadcreate"}, {"count"}, 0},
    {"--- contention", " ", {"delay", "contentions"}, {"cycles", "count"}, 1},
    {"--- mutex", " ", {"delay", "contentions"}, {"cycles", "count"}, 1},
};

struct reader {
    struct wndl_graph_stack stack;
    struct wndl_lines lines;
    struct wndl_frame_images images;
    struct wndl_damage *damage;
    const struct kind *kind; /* NULL before the first */
    uint32_t events[MOST_NUMBERS];
    uint64_t numbers[MOST_NUMBERS]; /* of the current stack */
    struct wndl_bytes addresses;    /* the same */
    uint64_t line;                  /* the same: where it is; 0: none */
};

static const struct kind *kind_of(struct wndl_bytes line)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (wndl_bytes_start_with(line, kinds[i].start))
            return &kinds[i];
    return NULL;
}

bool wndl_pprof_text_is(struct wndl_bytes line)
{
    return kind_of(line) != NULL;
}

static struct wndl_bytes after(struct wndl_bytes text, size_t size)
{
    return (struct wndl_bytes){text.data + size, text.size - size};
}

/* ---- frames */

static uint64_t take_address(struct wndl_bytes *text)
{
    uint64_t value = 0;
    size_t at = 0;
    for (; at < text->size; at++) {
        uint8_t c = text->data[at];
        uint8_t letter = (uint8_t)((c | 0x20) - 'a');
        uint8_t digit = (uint8_t)(c - '0');
        if (digit > 9 && letter > 5)
            break;
        value = value << 4 | (digit > 9 ? letter + 10u : digit);
    }
    *text = after(*text, at);
    return value;
}

/* Names code without a name: "app+0x1234", or its address alone. */
static bool push_address(struct reader *r, uint64_t address)
{
    const struct wndl_frame_image *image =
        wndl_frame_images_find(&r->images, address, 0);
    struct wndl_bytes object = {0};
    struct wndl_buf name;
    wndl_buf_init(&name, r->stack.arena.mem);
    if (image != NULL) {
        const uint8_t *slash = memrchr(image->path.data, '/', image->path.size);
        object = image->path;
        address += image->offset - image->start;
        struct wndl_bytes file =
            slash == NULL ? object
                          : after(object, (size_t)(slash - object.data) + 1);
        wndl_buf_add(&name, file.data, file.size);
        wndl_buf_byte(&name, '+');
    }
    wndl_buf_printf(&name, "0x%" PRIx64, address);
    const struct wndl_graph_frame frame = {
        .name = {name.data, name.size}, .object = object};
    bool pushed = !name.failed && wndl_graph_stack_push(&r->stack, &frame);
    wndl_buf_free(&name);
    return pushed;
}

/* The stack has only its addresses, or not even these. */
static bool push_addresses(struct reader *r)
{
    static const struct wndl_graph_frame none = {
        .name = {(const uint8_t *)"[no stack]", 10}};
    struct wndl_bytes left = wndl_line_trimmed(r->addresses);
    if (left.size == 0)
        return wndl_graph_stack_push(&r->stack, &none);
    while (wndl_bytes_start_with(left, "0x")) {
        left = after(left, 2);
        if (!push_address(r, take_address(&left)))
            return false;
        left = wndl_line_trimmed(left);
    }
    return true;
}

/* Up to the next tab; tabs align Go's columns. */
static struct wndl_bytes take_column(struct wndl_bytes *line)
{
    const uint8_t *tab =
        line->size == 0 ? NULL : memchr(line->data, '\t', line->size);
    struct wndl_bytes column = *line;
    if (tab != NULL)
        column.size = (size_t)(tab - line->data);
    *line = after(*line, column.size);
    while (line->size != 0 && line->data[0] == '\t')
        *line = after(*line, 1);
    return column;
}

/* "file:line" */
static void set_place(struct wndl_graph_frame *frame, struct wndl_bytes place)
{
    const uint8_t *colon =
        place.size == 0 ? NULL : memrchr(place.data, ':', place.size);
    uint64_t line = 0;
    if (colon == NULL)
        return;
    frame->file = (struct wndl_bytes){place.data, (size_t)(colon - place.data)};
    if (wndl_line_number(after(place, frame->file.size + 1), &line) &&
        line <= UINT32_MAX)
        frame->line = (uint32_t)line;
}

/* "#	0xADDRESS	name+0xOFF	file:line"; other comments pass. */
static bool push_named(struct reader *r, struct wndl_bytes line)
{
    if (r->line == 0 || !wndl_bytes_start_with(line, "#\t0x"))
        return true;
    line = after(line, 2);
    (void)take_column(&line);
    struct wndl_graph_frame frame = {.name = take_column(&line)};
    const uint8_t *plus = frame.name.size == 0
                              ? NULL
                              : memrchr(frame.name.data, '+', frame.name.size);
    if (plus != NULL && plus != frame.name.data)
        frame.name.size = (size_t)(plus - frame.name.data);
    set_place(&frame, wndl_line_trimmed(line));
    return wndl_graph_stack_push(&r->stack, &frame);
}

/* ---- stacks */

/* Adds the current stack, which then is none. */
static enum wndl_status end_stack(struct reader *r, struct wndl_error *err)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    if (r->line == 0)
        return WNDL_OK;
    if (r->stack.places.len == 0 && !push_addresses(r))
        return wndl_graph_fail(WNDL_NOMEM, 0, err);
    for (size_t i = 0; i < MOST_NUMBERS && r->kind->events[i] != NULL; i++)
        costs[r->events[i]] += r->numbers[i];
    uint64_t line = r->line;
    r->line = 0;
    wndl_graph_stack_reverse(&r->stack);
    return wndl_graph_stack_add(
        &r->stack, costs, r->numbers[r->kind->counted], line, err);
}

static enum wndl_status begin_profile(
    struct reader *r, const struct kind *kind, struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    r->kind = kind;
    for (size_t i = 0;
         i < MOST_NUMBERS && kind->events[i] != NULL && status == WNDL_OK; i++)
        status = wndl_graph_event(
            r->stack.g, kind->events[i], kind->units[i], &r->events[i], err);
    return status;
}

/* A number, and the separator after it, with blanks around both. */
static bool take_number(
    struct wndl_bytes *text, uint8_t separator, uint64_t *value)
{
    size_t size = 0;
    *text = wndl_line_trimmed(*text);
    while (size < text->size && (uint8_t)(text->data[size] - '0') <= 9)
        size++;
    if (!wndl_line_number((struct wndl_bytes){text->data, size}, value))
        return false;
    *text = after(*text, size);
    if (separator == ' ' || separator == '\0')
        return true;
    *text = wndl_line_trimmed(*text);
    bool follows = text->size != 0 && text->data[0] == separator;
    if (follows)
        *text = after(*text, 1);
    return follows;
}

/* "1: 48 [2: 96] @ 0x1 0x2" in the kind's form. */
static bool begin_stack(struct reader *r, struct wndl_bytes line)
{
    const char *separators = r->kind == NULL ? "" : r->kind->separators;
    for (size_t i = 0;
         i < MOST_NUMBERS && r->kind != NULL && r->kind->events[i] != NULL;
         i++) {
        uint8_t separator = (uint8_t)*separators;
        if (!take_number(&line, separator, &r->numbers[i]))
            return false;
        separators += separator != '\0';
    }
    line = wndl_line_trimmed(line);
    if (r->kind == NULL || line.size == 0 || line.data[0] != '@')
        return false;
    r->addresses = after(line, 1);
    r->line = r->lines.number;
    return true;
}

/* "cycles/second=1000" and other facts about the profile. */
static bool is_setting(const struct reader *r, struct wndl_bytes line)
{
    return r->kind != NULL && memchr(line.data, '=', line.size) != NULL &&
           memchr(line.data, '@', line.size) == NULL;
}

/* Whether the table of mappings begins: no stacks follow. */
static bool is_end_of_stacks(struct wndl_bytes line)
{
    return wndl_bytes_start_with(line, "MAPPED_LIBRARIES:") ||
           wndl_bytes_start_with(line, "--- Memory map:");
}

static enum wndl_status read_line(
    struct reader *r, struct wndl_bytes line, struct wndl_error *err)
{
    line = wndl_line_trimmed(line);
    if (line.size == 0)
        return WNDL_OK;
    if (line.data[0] == '#')
        return push_named(r, line) ? WNDL_OK
                                   : wndl_graph_fail(WNDL_NOMEM, 0, err);
    enum wndl_status status = end_stack(r, err);
    const struct kind *kind = kind_of(line);
    if (status != WNDL_OK)
        return status;
    if (kind != NULL)
        return begin_profile(r, kind, err);
    if (!begin_stack(r, line) && !is_setting(r, line))
        wndl_damage_add(r->damage, r->lines.number, "no stack of a profile");
    return WNDL_OK;
}

static enum wndl_status read_lines(struct reader *r, struct wndl_error *err)
{
    struct wndl_bytes line;
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && wndl_lines_next(&r->lines, &line)) {
        if (is_end_of_stacks(line))
            break;
        status = read_line(r, line, err);
    }
    return status == WNDL_OK ? end_stack(r, err) : status;
}

enum wndl_status wndl_pprof_text_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct reader r = {.lines = wndl_lines_of(file), .damage = damage};
    wndl_graph_stack_init(&r.stack, g);
    wndl_frame_images_init(&r.images, g->arena.mem);
    enum wndl_status status = wndl_frame_images_read(&r.images, file)
                                  ? read_lines(&r, err)
                                  : wndl_graph_fail(WNDL_NOMEM, 0, err);
    wndl_frame_images_free(&r.images);
    wndl_graph_stack_free(&r.stack);
    return status;
}
