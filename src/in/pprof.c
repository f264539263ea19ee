/* SPDX-License-Identifier: MIT */
#include "in/pprof.h"

#include "in/core/gunzip.h"
#include "in/pprof_inflate.h"
#include "model/pprof_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Limits above those of any real profile. A file that exceeds them is damaged,
 * and is refused before it costs time or memory.
 */
enum { MOST_LINES = 255, MOST_FRAMES = 1 << 16 };

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct field {
    uint64_t number;
    uint8_t type;
    uint64_t value; /* of a number */
    struct wndl_bytes bytes;
};

struct mapping {
    uint64_t start, offset, file;
};

struct function {
    uint64_t name, file;
};

struct line {
    uint64_t function, line;
};

struct location {
    uint64_t mapping, address;
    uint32_t first, count;        /* of lines, innermost first */
    uint32_t first_place, places; /* 0 places: not looked up yet */
};

struct reader {
    struct wndl_graph_stack stack;
    struct wndl_damage *damage;
    struct wndl_bytes file; /* the profile, of perhaps several */
    const uint8_t *origin;  /* of offsets: the first profile's start */
    struct wndl_arena arena;
    struct wndl_vec strings;   /* struct wndl_bytes */
    struct wndl_vec types;     /* struct wndl_bytes: messages */
    struct wndl_vec mappings;  /* struct mapping */
    struct wndl_vec functions; /* struct function */
    struct wndl_vec locations; /* struct location */
    struct wndl_vec lines;     /* struct line */
    struct wndl_vec places;    /* uint32_t: of locations */
    struct wndl_vec ids;       /* uint64_t: locations of a sample */
    struct wndl_vec values;    /* uint64_t: of a sample */
    struct wndl_map mapping_of, function_of, location_of; /* id -> index + 1 */
    uint32_t events[WNDL_CALLGRAPH_EVENTS];               /* by type */
    size_t counted; /* the type that counts; types.len: none does */
};

/* ---- protobuf */

static bool take_field(struct wndl_cursor *c, struct field *field)
{
    uint64_t key = wndl_cursor_uleb(c);
    *field = (struct field){.number = key >> 3, .type = key & 7};
    switch (field->type) {
    case VARINT:
        field->value = wndl_cursor_uleb(c);
        break;
    case FIXED64:
        field->value = wndl_cursor_u64(c);
        break;
    case FIXED32:
        field->value = wndl_cursor_u32(c);
        break;
    case BYTES:
        field->bytes.size = wndl_cursor_uleb(c);
        field->bytes.data = wndl_cursor_take(c, field->bytes.size);
        break;
    default:
        wndl_cursor_fail(c);
    }
    return !c->failed && field->number != 0;
}

/* Reads the next field of a message; false at its end, and if it is damaged. */
static bool next_field(struct wndl_cursor *c, struct field *field)
{
    if (c->failed || c->next == c->end)
        return false;
    if (take_field(c, field))
        return true;
    wndl_cursor_fail(c);
    return false;
}

/* Adds one number, or a packed list of them. */
static bool add_numbers(
    struct wndl_vec *to, const struct field *field, struct wndl_cursor *c)
{
    struct wndl_cursor packed = wndl_cursor_at(field->bytes, 0, false);
    bool alone = field->type != BYTES;
    while (alone || packed.next != packed.end) {
        uint64_t *slot = wndl_vec_push(to);
        if (slot == NULL)
            return false;
        *slot = alone ? field->value : wndl_cursor_uleb(&packed);
        if (alone)
            break;
    }
    if (packed.failed)
        wndl_cursor_fail(c);
    return true;
}

static void damaged(struct reader *r, const uint8_t *where, const char *what)
{
    wndl_damage_add(r->damage, (uint64_t)(where - r->origin), what);
}

/* ---- messages that samples refer to */

/*
 * Adds an element under its id, and replaces an earlier one. False when memory
 * is out.
 */
static bool add_as(
    struct wndl_map *map, uint64_t id, struct wndl_vec *to, const void *element)
{
    uint64_t *slot = wndl_map_put(map, id);
    void *fresh = wndl_vec_push(to);
    if (slot == NULL || fresh == NULL)
        return false;
    memcpy(fresh, element, to->element);
    *slot = to->len;
    return true;
}

/* The element of an id; NULL if there is none. */
static void *find(
    const struct wndl_map *map, uint64_t id, const struct wndl_vec *in)
{
    const uint64_t *slot = wndl_map_get(map, id);
    return slot == NULL || *slot == 0 ? NULL : wndl_vec_at(in, *slot - 1);
}

static bool add_mapping(struct reader *r, struct wndl_cursor *c)
{
    struct mapping m = {0};
    struct field f;
    uint64_t id = 0;
    while (next_field(c, &f)) {
        if (f.number == WNDL_PPROF_MAPPING_ID)
            id = f.value;
        else if (f.number == WNDL_PPROF_MAPPING_START)
            m.start = f.value;
        else if (f.number == WNDL_PPROF_MAPPING_OFFSET)
            m.offset = f.value;
        else if (f.number == WNDL_PPROF_MAPPING_FILE)
            m.file = f.value;
    }
    return c->failed || add_as(&r->mapping_of, id, &r->mappings, &m);
}

static bool add_function(struct reader *r, struct wndl_cursor *c)
{
    struct function function = {0};
    struct field f;
    uint64_t id = 0;
    while (next_field(c, &f)) {
        if (f.number == WNDL_PPROF_FUNCTION_ID)
            id = f.value;
        else if (f.number == WNDL_PPROF_FUNCTION_NAME)
            function.name = f.value;
        else if (f.number == WNDL_PPROF_FUNCTION_FILE)
            function.file = f.value;
    }
    return c->failed || add_as(&r->function_of, id, &r->functions, &function);
}

static bool add_line(
    struct reader *r, struct wndl_cursor *outer, struct wndl_bytes message)
{
    struct wndl_cursor c = wndl_cursor_at(message, 0, false);
    struct field f;
    struct line *line = wndl_vec_push(&r->lines);
    while (line != NULL && next_field(&c, &f)) {
        if (f.number == WNDL_PPROF_LINE_FUNCTION)
            line->function = f.value;
        else if (f.number == WNDL_PPROF_LINE_LINE)
            line->line = f.value;
    }
    if (c.failed)
        wndl_cursor_fail(outer);
    return line != NULL;
}

static bool add_location(struct reader *r, struct wndl_cursor *c)
{
    struct location location = {.first = (uint32_t)r->lines.len};
    struct field f;
    uint64_t id = 0;
    while (next_field(c, &f)) {
        if (f.number == WNDL_PPROF_LOCATION_ID)
            id = f.value;
        else if (f.number == WNDL_PPROF_LOCATION_MAPPING)
            location.mapping = f.value;
        else if (f.number == WNDL_PPROF_LOCATION_ADDRESS)
            location.address = f.value;
        else if (f.number == WNDL_PPROF_LOCATION_LINE &&
                 !add_line(r, c, f.bytes))
            return false;
    }
    location.count = (uint32_t)(r->lines.len - location.first);
    if (location.count > MOST_LINES)
        wndl_cursor_fail(c);
    return c->failed || add_as(&r->location_of, id, &r->locations, &location);
}

static bool add_bytes(struct wndl_vec *to, struct wndl_bytes bytes)
{
    struct wndl_bytes *slot = wndl_vec_push(to);
    if (slot != NULL)
        *slot = bytes;
    return slot != NULL;
}

/* False when memory is out. */
static bool add_message(struct reader *r, const struct field *f)
{
    struct wndl_cursor c = wndl_cursor_at(f->bytes, 0, false);
    bool added = true;
    if (f->type != BYTES)
        return true;
    if (f->number == WNDL_PPROF_PROFILE_SAMPLE_TYPE)
        added = add_bytes(&r->types, f->bytes);
    else if (f->number == WNDL_PPROF_PROFILE_MAPPING)
        added = add_mapping(r, &c);
    else if (f->number == WNDL_PPROF_PROFILE_LOCATION)
        added = add_location(r, &c);
    else if (f->number == WNDL_PPROF_PROFILE_FUNCTION)
        added = add_function(r, &c);
    else if (f->number == WNDL_PPROF_PROFILE_STRING)
        added = add_bytes(&r->strings, f->bytes);
    if (c.failed)
        damaged(r, f->bytes.data, "a damaged message");
    return added;
}

/*
 * Reads all messages but the samples, which may come before those that they
 * refer to.
 */
static bool add_messages(struct reader *r)
{
    struct wndl_cursor c = wndl_cursor_at(r->file, 0, false);
    struct field f;
    const uint8_t *at = c.next;
    for (; next_field(&c, &f); at = c.next) {
        if (!add_message(r, &f))
            return false;
    }
    if (c.failed)
        damaged(r, at, "the rest cannot be read");
    return true;
}

/* ---- the types of samples */

static struct wndl_bytes text_of(const struct reader *r, uint64_t index)
{
    if (index >= r->strings.len)
        return (struct wndl_bytes){0};
    return *(const struct wndl_bytes *)wndl_vec_at(&r->strings, index);
}

static enum wndl_status add_event(
    struct reader *r, size_t index, struct wndl_error *err)
{
    const struct wndl_bytes *message = wndl_vec_at(&r->types, index);
    struct wndl_cursor c = wndl_cursor_at(*message, 0, false);
    struct wndl_bytes type = {0}, unit = {0};
    struct field f;
    while (next_field(&c, &f)) {
        if (f.number == WNDL_PPROF_TYPE_TYPE)
            type = text_of(r, f.value);
        else if (f.number == WNDL_PPROF_TYPE_UNIT)
            unit = text_of(r, f.value);
    }
    if (c.failed)
        damaged(r, message->data, "a damaged message");
    if (wndl_bytes_is(unit, "count") && r->counted == r->types.len)
        r->counted = index;
    char text[64];
    snprintf(text, sizeof text, "%.*s",
        unit.size < sizeof text ? (int)unit.size : (int)sizeof text - 1,
        (const char *)unit.data);
    return wndl_graph_event_of(r->stack.g, type, text, &r->events[index], err);
}

static enum wndl_status add_events(struct reader *r, struct wndl_error *err)
{
    enum wndl_status status = WNDL_OK;
    r->counted = r->types.len;
    if (r->types.len == 0)
        return wndl_fail(
            err, WNDL_MALFORMED, "nothing says what its samples count");
    if (r->types.len > WNDL_CALLGRAPH_EVENTS)
        return wndl_fail(err, WNDL_LIMIT, "more than %d kinds of costs",
            WNDL_CALLGRAPH_EVENTS);
    for (size_t i = 0; i < r->types.len && status == WNDL_OK; i++)
        status = add_event(r, i, err);
    return status;
}

/* ---- places */

static bool push_place(struct reader *r, struct location *location,
    const struct wndl_graph_frame *frame)
{
    uint32_t *slot = wndl_vec_push(&r->places);
    location->places++;
    return slot != NULL && wndl_graph_place_of(r->stack.g, frame, slot);
}

static struct wndl_bytes last_part(struct wndl_bytes path)
{
    const uint8_t *slash =
        path.size == 0 ? NULL : memrchr(path.data, '/', path.size);
    size_t start = slash == NULL ? 0 : (size_t)(slash - path.data) + 1;
    return start == path.size
               ? path
               : (struct wndl_bytes){path.data + start, path.size - start};
}

/* Names code without a name: "app+0x1234", or its address alone. */
static bool push_unnamed(struct reader *r, struct location *location,
    const struct mapping *m, struct wndl_bytes object)
{
    struct wndl_buf name;
    struct wndl_bytes file = last_part(object);
    wndl_buf_init(&name, r->arena.mem);
    wndl_buf_add(&name, file.data, file.size);
    wndl_buf_printf(&name, "%s0x%" PRIx64, file.size == 0 ? "" : "+",
        m == NULL ? location->address
                  : location->address - m->start + m->offset);
    const struct wndl_graph_frame frame = {
        .name = {name.data, name.size}, .object = object};
    bool pushed = !name.failed && push_place(r, location, &frame);
    wndl_buf_free(&name);
    return pushed;
}

static bool push_line(struct reader *r, struct location *location,
    const struct line *line, struct wndl_bytes object)
{
    const struct function *function =
        find(&r->function_of, line->function, &r->functions);
    struct wndl_graph_frame frame = {.object = object,
        .line = line->line <= UINT32_MAX ? (uint32_t)line->line : 0};
    if (function != NULL) {
        frame.name = text_of(r, function->name);
        frame.file = text_of(r, function->file);
    }
    return push_place(r, location, &frame);
}

static bool find_places(struct reader *r, struct location *location)
{
    const struct mapping *m =
        find(&r->mapping_of, location->mapping, &r->mappings);
    struct wndl_bytes object = {0};
    if (m != NULL)
        object = text_of(r, m->file);
    location->first_place = (uint32_t)r->places.len;
    if (location->count == 0)
        return push_unnamed(r, location, m, object);
    for (uint32_t i = 0; i < location->count; i++) {
        if (!push_line(r, location, wndl_vec_at(&r->lines, location->first + i),
                object))
            return false;
    }
    return true;
}

/* ---- samples */

static bool push_location(struct reader *r, struct location *location)
{
    if (location->places == 0 && !find_places(r, location))
        return false;
    for (uint32_t i = 0; i < location->places; i++) {
        uint32_t *slot = wndl_vec_push(&r->stack.places);
        if (slot == NULL)
            return false;
        *slot = *(const uint32_t *)wndl_vec_at(
            &r->places, location->first_place + i);
    }
    return true;
}

/* Why the profile is damaged, or NULL. */
static const char *why_damaged(const struct reader *r)
{
    const uint64_t *values = r->values.data;
    const uint64_t *ids = r->ids.data;
    if (r->values.len != r->types.len)
        return "a sample of another number of values";
    for (size_t i = 0; i < r->values.len; i++) {
        if (values[i] > INT64_MAX)
            return "a sample of a negative value";
    }
    size_t frames = 0;
    for (size_t i = 0; i < r->ids.len; i++) {
        const struct location *location =
            find(&r->location_of, ids[i], &r->locations);
        if (location == NULL)
            return "a sample at a location that does not exist";
        frames += 1 + (size_t)location->count;
    }
    return frames > MOST_FRAMES ? "a stack of too many frames" : NULL;
}

static enum wndl_status add_costs(
    struct reader *r, uint64_t where, struct wndl_error *err)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    const uint64_t *values = r->values.data;
    for (size_t i = 0; i < r->values.len; i++)
        costs[r->events[i]] += values[i];
    uint64_t count = r->counted < r->values.len ? values[r->counted] : 1;
    wndl_graph_stack_reverse(&r->stack);
    enum wndl_status status =
        wndl_graph_stack_add(&r->stack, costs, count, 0, err);
    return status != WNDL_LIMIT
               ? status
               : wndl_fail_at(err, status, "profile", where,
                     "the sum of its costs does not fit 64 bits");
}

static enum wndl_status add_stack(
    struct reader *r, uint64_t where, struct wndl_error *err)
{
    static const struct wndl_graph_frame none = {
        .name = {(const uint8_t *)"[no stack]", 10}};
    const uint64_t *ids = r->ids.data;
    bool pushed = r->ids.len != 0 || wndl_graph_stack_push(&r->stack, &none);
    for (size_t i = 0; i < r->ids.len && pushed; i++)
        pushed = push_location(r, find(&r->location_of, ids[i], &r->locations));
    return pushed ? add_costs(r, where, err)
                  : wndl_graph_fail(WNDL_NOMEM, 0, err);
}

static enum wndl_status read_sample(
    struct reader *r, struct wndl_bytes message, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(message, 0, false);
    struct field f;
    r->ids.len = r->values.len = 0;
    while (next_field(&c, &f)) {
        bool added = f.number == WNDL_PPROF_SAMPLE_LOCATION
                         ? add_numbers(&r->ids, &f, &c)
                     : f.number == WNDL_PPROF_SAMPLE_VALUE
                         ? add_numbers(&r->values, &f, &c)
                         : true;
        if (!added)
            return wndl_graph_fail(WNDL_NOMEM, 0, err);
    }
    const char *why = c.failed ? "a damaged message" : why_damaged(r);
    if (why == NULL)
        return add_stack(r, (uint64_t)(message.data - r->origin), err);
    damaged(r, message.data, why);
    return WNDL_OK;
}

static enum wndl_status read_samples(struct reader *r, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(r->file, 0, false);
    struct field f;
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && next_field(&c, &f)) {
        if (f.number == WNDL_PPROF_PROFILE_SAMPLE && f.type == BYTES)
            status = read_sample(r, f.bytes, err);
    }
    return status;
}

/* ---- the file */

/* Every writer begins with the types of samples: two numbers each. */
bool wndl_pprof_is(struct wndl_bytes file)
{
    struct wndl_cursor c = wndl_cursor_at(file, 0, false);
    struct field type, f;
    if (wndl_gunzip_is_gzip(file))
        return true;
    if (!next_field(&c, &type) ||
        type.number != WNDL_PPROF_PROFILE_SAMPLE_TYPE || type.type != BYTES)
        return false;
    c = wndl_cursor_at(type.bytes, 0, false);
    while (next_field(&c, &f)) {
        if (f.type != VARINT || f.number > WNDL_PPROF_TYPE_UNIT)
            return false;
    }
    return !c.failed && type.bytes.size != 0;
}

static void init_vectors(struct reader *r, struct wndl_mem *mem)
{
    wndl_arena_init(&r->arena, mem);
    wndl_vec_init(&r->strings, &r->arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&r->types, &r->arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&r->mappings, &r->arena, sizeof(struct mapping));
    wndl_vec_init(&r->functions, &r->arena, sizeof(struct function));
    wndl_vec_init(&r->locations, &r->arena, sizeof(struct location));
    wndl_vec_init(&r->lines, &r->arena, sizeof(struct line));
    wndl_vec_init(&r->places, &r->arena, sizeof(uint32_t));
    wndl_vec_init(&r->ids, &r->arena, sizeof(uint64_t));
    wndl_vec_init(&r->values, &r->arena, sizeof(uint64_t));
    wndl_map_init(&r->mapping_of, &r->arena);
    wndl_map_init(&r->function_of, &r->arena);
    wndl_map_init(&r->location_of, &r->arena);
}

static enum wndl_status read_one(struct wndl_callgraph *g,
    struct wndl_bytes file, const uint8_t *origin, struct wndl_damage *damage,
    struct wndl_error *err)
{
    struct reader r = {.damage = damage, .file = file, .origin = origin};
    wndl_graph_stack_init(&r.stack, g);
    init_vectors(&r, g->arena.mem);
    enum wndl_status status = add_messages(&r)
                                  ? add_events(&r, err)
                                  : wndl_graph_fail(WNDL_NOMEM, 0, err);
    if (status == WNDL_OK)
        status = read_samples(&r, err);
    wndl_arena_free(&r.arena);
    wndl_graph_stack_free(&r.stack);
    return status;
}

/*
 * The size of the first of several profiles. The next one begins where types of
 * samples come after strings, and its own strings begin with the empty one, as
 * those of each profile do.
 */
static size_t size_of_first(struct wndl_bytes file)
{
    struct wndl_cursor c = wndl_cursor_at(file, 0, false);
    struct field f;
    const uint8_t *next = NULL;
    bool strings = false;
    for (const uint8_t *at = c.next; next_field(&c, &f); at = c.next) {
        if (f.number == WNDL_PPROF_PROFILE_SAMPLE_TYPE && strings &&
            next == NULL)
            next = at;
        if (f.number != WNDL_PPROF_PROFILE_STRING || f.type != BYTES)
            continue;
        if (next != NULL && f.bytes.size == 0)
            return (size_t)(next - file.data);
        strings = true;
        next = NULL;
    }
    return file.size;
}

static enum wndl_status read_plain(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    const uint8_t *origin = file.data;
    for (;;) {
        const struct wndl_bytes first = {file.data, size_of_first(file)};
        const enum wndl_status status = read_one(g, first, origin, damage, err);
        if (status != WNDL_OK || first.size == file.size)
            return status;
        file.data += first.size;
        file.size -= first.size;
    }
}

enum wndl_status wndl_pprof_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct wndl_buf plain;
    if (!wndl_gunzip_is_gzip(file))
        return read_plain(g, file, damage, err);
    wndl_buf_init(&plain, g->arena.mem);
    enum wndl_status status = wndl_pprof_inflate(file, &plain, err);
    if (status == WNDL_OK)
        status = read_plain(
            g, (struct wndl_bytes){plain.data, plain.size}, damage, err);
    wndl_buf_free(&plain);
    return status;
}
