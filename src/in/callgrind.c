/* SPDX-License-Identifier: MIT */
#include "in/callgrind.h"

#include "base/lines.h"

#include <string.h>

enum space { OBJECTS, FILES, FUNCTIONS, SPACES };

enum { POSITIONS = 3 };

struct reader {
    struct wndl_callgraph *g;
    struct wndl_damage *damage;
    struct wndl_arena arena;
    struct wndl_lines lines;
    struct wndl_map names[SPACES]; /* number -> id of its text + 1 */
    uint32_t events
        [WNDL_CALLGRAPH_EVENTS]; /* by column: index of the graph's event */
    unsigned event_count;
    /*
     * The index of the line number among the positions; position_count if there
     * is none.
     */
    unsigned position_count, line_position;
    uint64_t positions[POSITIONS + 1];   /* of the previous line */
    uint32_t object, file, line_file;    /* ids */
    uint32_t called_object, called_file; /* ids; NONE: as the caller's */
    uint32_t function, callee;           /* NONE: not known yet */
    uint64_t count;                      /* of the next call */
    uint64_t callee_line;
    bool calling; /* the next costs are a call's */
};

enum { NONE = 0xffffffff };

static bool damaged(struct reader *r, const char *what)
{
    wndl_damage_add(r->damage, r->lines.number, what);
    return true;
}

/* ---- words */

static bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

/* Takes the next word, and the spaces after it. False at the end. */
static bool take_word(struct wndl_bytes *line, struct wndl_bytes *word)
{
    *line = wndl_line_trimmed(*line);
    size_t size = 0;
    while (size < line->size && line->data[size] != ' ' &&
           line->data[size] != '\t')
        size++;
    *word = (struct wndl_bytes){line->data, size};
    line->data += size;
    line->size -= size;
    return size != 0;
}

static bool hex_number(struct wndl_bytes text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t letter = (uint8_t)((text.data[i] | 0x20) - 'a');
        if (*value >> 60 != 0 || (!is_digit(text.data[i]) && letter > 5))
            return false;
        *value =
            *value << 4 | (uint64_t)(is_digit(text.data[i]) ? text.data[i] - '0'
                                                            : letter + 10);
    }
    return text.size != 0;
}

static bool number(struct wndl_bytes text, uint64_t *value)
{
    if (text.size > 2 && text.data[0] == '0' && text.data[1] == 'x')
        return hex_number(
            (struct wndl_bytes){text.data + 2, text.size - 2}, value);
    return wndl_line_number(text, value);
}

/* A position; it may be relative to the previous one. */
static bool position(struct wndl_bytes text, uint64_t before, uint64_t *value)
{
    if (wndl_bytes_is(text, "*")) {
        *value = before;
        return true;
    }
    if (text.size < 2 || (text.data[0] != '+' && text.data[0] != '-'))
        return number(text, value);
    uint64_t step;
    if (!number((struct wndl_bytes){text.data + 1, text.size - 1}, &step))
        return false;
    *value = text.data[0] == '+' ? before + step : before - step;
    return true;
}

static bool take_positions(const struct reader *r, struct wndl_bytes *line,
    uint64_t positions[POSITIONS + 1])
{
    for (unsigned i = 0; i < r->position_count; i++) {
        struct wndl_bytes word;
        if (!take_word(line, &word) ||
            !position(word, r->positions[i], &positions[i]))
            return false;
    }
    return true;
}

/* ---- names: "(1) name" defines one, "(1)" refers to it */

/* Takes the number in brackets off the start of a text. */
static bool take_number(struct wndl_bytes *text, uint64_t *value)
{
    const uint8_t *end =
        text->size == 0 ? NULL : memchr(text->data, ')', text->size);
    if (end == NULL || text->data[0] != '(')
        return false;
    size_t size = (size_t)(end - text->data);
    if (!wndl_line_number((struct wndl_bytes){text->data + 1, size - 1}, value))
        return false;
    *text =
        wndl_line_trimmed((struct wndl_bytes){end + 1, text->size - size - 1});
    return true;
}

static bool intern(struct reader *r, struct wndl_bytes name, uint32_t *id)
{
    if (wndl_bytes_is(name, "???"))
        name.size = 0;
    return wndl_intern_add(&r->g->strings, name, id);
}

/* False when memory is out. A number that was not defined has no name. */
static bool find_name(
    struct reader *r, enum space space, struct wndl_bytes text, uint32_t *id)
{
    uint64_t key;
    text = wndl_line_trimmed(text);
    if (!take_number(&text, &key))
        return intern(r, text, id);
    uint64_t *known = wndl_map_put(&r->names[space], key);
    if (known == NULL)
        return false;
    if (text.size != 0) {
        if (!intern(r, text, id))
            return false;
        *known = (uint64_t)*id + 1;
    }
    if (*known == 0)
        damaged(r, "a number without a name");
    *id = *known == 0 ? 0 : (uint32_t)(*known - 1);
    return true;
}

static bool is_root(const struct reader *r, uint32_t name)
{
    return r->file == 0 && r->object == 0 &&
           wndl_bytes_is(
               wndl_intern_get(&r->g->strings, name), WNDL_CALLGRAPH_ROOT);
}

static bool enter_function(struct reader *r, struct wndl_bytes text)
{
    struct wndl_callgraph_function f = {.file = r->file, .object = r->object};
    if (!find_name(r, FUNCTIONS, text, &f.name))
        return false;
    r->line_file = r->file;
    r->function = 0;
    return is_root(r, f.name) || wndl_callgraph_function(r->g, f, &r->function);
}

static bool name_callee(struct reader *r, struct wndl_bytes text)
{
    struct wndl_callgraph_function f = {
        .file = r->called_file == NONE ? r->file : r->called_file,
        .object = r->called_object == NONE ? r->object : r->called_object,
    };
    return find_name(r, FUNCTIONS, text, &f.name) &&
           wndl_callgraph_function(r->g, f, &r->callee);
}

static bool enter_file(struct reader *r, struct wndl_bytes text)
{
    bool found = find_name(r, FILES, text, &r->file);
    r->line_file = r->file;
    return found;
}

/* ---- costs */

static bool take_costs(const struct reader *r, struct wndl_bytes line,
    uint64_t costs[WNDL_CALLGRAPH_EVENTS])
{
    struct wndl_bytes word;
    for (unsigned i = 0; take_word(&line, &word); i++) {
        uint64_t cost;
        if (i == r->event_count || !number(word, &cost) ||
            __builtin_add_overflow(
                costs[r->events[i]], cost, &costs[r->events[i]]))
            return false;
    }
    return true;
}

static enum wndl_status add_call(
    struct reader *r, uint32_t place, const uint64_t *costs)
{
    struct wndl_callgraph_function *callee =
        wndl_callgraph_function_at(r->g, r->callee);
    const struct wndl_callgraph_call call = {
        .place = place, .callee = r->callee, .count = r->count};
    if (callee->line == 0 && r->callee_line <= UINT32_MAX)
        callee->line = (uint32_t)r->callee_line;
    return wndl_callgraph_add_call(r->g, &call, costs);
}

static enum wndl_status add_costs(struct reader *r, const uint64_t *costs)
{
    uint64_t line = r->positions[r->line_position];
    struct wndl_callgraph_place p = {
        .function = r->function,
        .file = r->line_file,
        .line = line > UINT32_MAX ? 0 : (uint32_t)line,
    };
    uint32_t place;
    if (!wndl_callgraph_place(r->g, p, &place))
        return WNDL_NOMEM;
    return r->calling ? add_call(r, place, costs)
                      : wndl_callgraph_add_self(r->g, place, costs);
}

static void end_call(struct reader *r)
{
    r->calling = false;
    r->callee = r->called_file = r->called_object = NONE;
}

static enum wndl_status read_costs(
    struct reader *r, struct wndl_bytes line, struct wndl_error *err)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    uint64_t positions[POSITIONS + 1] = {0};
    enum wndl_status status = WNDL_OK;
    if (!take_positions(r, &line, positions)) {
        damaged(r, "no position");
    } else {
        memcpy(r->positions, positions, sizeof positions);
        if (!take_costs(r, line, costs))
            damaged(r, "no costs of the kinds in 'events:'");
        else if (r->function == NONE || (r->calling && r->callee == NONE))
            damaged(r, "costs without a function");
        else
            status = add_costs(r, costs);
    }
    end_call(r);
    return wndl_graph_fail(status, r->lines.number, err);
}

/* "calls=COUNT POSITION...", whose costs are in the next line. */
static bool read_calls(struct reader *r, struct wndl_bytes text)
{
    struct wndl_bytes word;
    uint64_t positions[POSITIONS + 1] = {0};
    if (r->calling || !take_word(&text, &word) || !number(word, &r->count))
        damaged(r, "no number of calls");
    r->callee_line =
        take_positions(r, &text, positions) ? positions[r->line_position] : 0;
    r->calling = true;
    return true;
}

/* ---- lines */

/* Whether the line begins with `key`; sets the part after it. */
static bool has_key(
    struct wndl_bytes line, const char *key, struct wndl_bytes *rest)
{
    size_t size = strlen(key);
    if (line.size < size || memcmp(line.data, key, size) != 0)
        return false;
    *rest = (struct wndl_bytes){line.data + size, line.size - size};
    return true;
}

bool wndl_callgrind_is(struct wndl_bytes line)
{
    struct wndl_bytes rest;
    return has_key(line, "events:", &rest) && wndl_line_trimmed(rest).size != 0;
}

static enum wndl_status read_events(
    struct reader *r, struct wndl_bytes text, struct wndl_error *err)
{
    struct wndl_bytes word;
    enum wndl_status status = WNDL_OK;
    r->event_count = 0;
    while (status == WNDL_OK && take_word(&text, &word)) {
        if (r->event_count == WNDL_CALLGRAPH_EVENTS)
            return wndl_fail(err, WNDL_LIMIT, "more than %d kinds of costs",
                WNDL_CALLGRAPH_EVENTS);
        status = wndl_graph_event_of(
            r->g, word, NULL, &r->events[r->event_count++], err);
    }
    return status;
}

static void read_positions(struct reader *r, struct wndl_bytes text)
{
    struct wndl_bytes word;
    unsigned count = 0;
    r->line_position = POSITIONS;
    while (count < POSITIONS && take_word(&text, &word)) {
        if (wndl_bytes_is(word, "line"))
            r->line_position = count;
        count++;
    }
    if (take_word(&text, &word) || count == 0)
        damaged(r, "positions of no known kinds");
    r->position_count = count;
    if (r->line_position == POSITIONS)
        r->line_position = count;
    memset(r->positions, 0, sizeof r->positions);
}

/* Lines that begin with a name's key. False when memory is out. */
static bool read_name(struct reader *r, struct wndl_bytes line, bool *is_name)
{
    struct wndl_bytes text;
    *is_name = true;
    if (has_key(line, "fn=", &text))
        return enter_function(r, text);
    if (has_key(line, "cfn=", &text))
        return name_callee(r, text);
    if (has_key(line, "fl=", &text))
        return enter_file(r, text);
    if (has_key(line, "fi=", &text) || has_key(line, "fe=", &text))
        return find_name(r, FILES, text, &r->line_file);
    if (has_key(line, "cfi=", &text) || has_key(line, "cfl=", &text))
        return find_name(r, FILES, text, &r->called_file);
    if (has_key(line, "ob=", &text))
        return find_name(r, OBJECTS, text, &r->object);
    if (has_key(line, "cob=", &text))
        return find_name(r, OBJECTS, text, &r->called_object);
    if (has_key(line, "calls=", &text))
        return read_calls(r, text);
    *is_name = false;
    return true;
}

/* Lines of Callgrind that a call graph has no use for. */
static bool is_passed_over(struct wndl_bytes line)
{
    static const char *const keys[] = {
        "jump=", "jcnd=", "version:", "creator:", "target:", "cmd:", "pid:",
        "thread:", "part:", "desc:", "event:", "summary:", "totals:", "#"};
    struct wndl_bytes rest;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (has_key(line, keys[i], &rest))
            return true;
    }
    return wndl_line_trimmed(line).size == 0;
}

/* Jumps may define names for later lines. */
static bool read_jump(struct reader *r, struct wndl_bytes line, bool *is_jump)
{
    struct wndl_bytes text;
    uint32_t id;
    *is_jump = true;
    if (has_key(line, "jfi=", &text))
        return find_name(r, FILES, text, &id);
    if (has_key(line, "jfn=", &text))
        return find_name(r, FUNCTIONS, text, &id);
    *is_jump = false;
    return true;
}

static bool is_costs(struct wndl_bytes line)
{
    return line.size != 0 && (is_digit(line.data[0]) || line.data[0] == '+' ||
                                 line.data[0] == '-' || line.data[0] == '*');
}

static enum wndl_status read_line(
    struct reader *r, struct wndl_bytes line, struct wndl_error *err)
{
    struct wndl_bytes text;
    bool done;
    if (is_costs(line))
        return read_costs(r, line, err);
    if (has_key(line, "events:", &text))
        return read_events(r, text, err);
    if (!read_name(r, line, &done) || (!done && !read_jump(r, line, &done)))
        return wndl_graph_fail(WNDL_NOMEM, 0, err);
    if (!done && has_key(line, "positions:", &text))
        read_positions(r, text);
    else if (!done && !is_passed_over(line))
        damaged(r, "not a line of a callgrind file");
    return WNDL_OK;
}

enum wndl_status wndl_callgrind_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct reader r = {.g = g,
        .damage = damage,
        .lines = wndl_lines_of(file),
        .position_count = 1,
        .called_object = NONE,
        .called_file = NONE,
        .function = NONE,
        .callee = NONE};
    struct wndl_bytes line;
    enum wndl_status status = WNDL_OK;
    wndl_arena_init(&r.arena, g->arena.mem);
    for (int i = 0; i < SPACES; i++)
        wndl_map_init(&r.names[i], &r.arena);
    while (status == WNDL_OK && wndl_lines_next(&r.lines, &line))
        status = read_line(&r, line, err);
    if (status == WNDL_OK && r.event_count == 0)
        status =
            wndl_fail(err, WNDL_MALFORMED, "no line 'events:' names its costs");
    wndl_arena_free(&r.arena);
    return status;
}
