/* SPDX-License-Identifier: MIT */
#include "in/perf_script.h"

#include "base/lines.h"
#include "base/text.h"

#include <string.h>

/* ---- words */

static bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

static bool is_hex(uint8_t c)
{
    return is_digit(c) || (uint8_t)((c | 0x20) - 'a') < 6;
}

/* Takes the next word off. False at the end. */
static bool take_word(struct wndl_bytes *line, struct wndl_bytes *word)
{
    *line = wndl_line_trimmed(*line);
    size_t size = 0;
    while (size < line->size && line->data[size] != ' ' &&
           line->data[size] != '\t')
        size++;
    *word = (struct wndl_bytes){line->data, size};
    *line = (struct wndl_bytes){line->data + size, line->size - size};
    return size != 0;
}

/* "12.345678:" */
static bool is_time(struct wndl_bytes word)
{
    size_t i = 0, dot;
    while (i < word.size && is_digit(word.data[i]))
        i++;
    dot = i;
    if (dot == 0 || dot == word.size || word.data[i++] != '.')
        return false;
    while (i < word.size && is_digit(word.data[i]))
        i++;
    return i > dot + 1 && i + 1 == word.size && word.data[i] == ':';
}

/* ---- samples */

struct sample {
    struct wndl_bytes event;
    uint64_t period;
    struct wndl_bytes rest; /* of the line: a frame, or nothing */
};

/*
 * Parses the part after the time: perhaps the period, the event with a colon,
 * the rest.
 */
static bool parse_event(struct wndl_bytes line, struct sample *sample)
{
    struct wndl_bytes word;
    sample->period = 1;
    if (!take_word(&line, &word))
        return false;
    if (wndl_line_number(word, &sample->period)) {
        if (!take_word(&line, &word))
            return false;
    } else {
        sample->period = 1;
    }
    if (word.size < 2 || word.data[word.size - 1] != ':')
        return false;
    sample->event = (struct wndl_bytes){word.data, word.size - 1};
    sample->rest = wndl_line_trimmed(line);
    return true;
}

static bool parse_sample(struct wndl_bytes line, struct sample *sample)
{
    struct wndl_bytes word;
    while (take_word(&line, &word)) {
        if (is_time(word))
            return parse_event(line, sample);
    }
    return false;
}

bool wndl_perf_script_is(struct wndl_bytes line)
{
    struct sample sample;
    return parse_sample(line, &sample);
}

/* ---- frames */

/* The place of the '(' that the text's last ')' closes; 0: none. */
static size_t find_open(struct wndl_bytes text)
{
    size_t open = 0;
    if (text.size == 0 || text.data[text.size - 1] != ')')
        return 0;
    for (size_t i = text.size; i-- > 0;) {
        open += text.data[i] == ')';
        open -= text.data[i] == '(';
        if (open == 0)
            return i;
    }
    return 0;
}

/* "+0x1f" at a name's end. */
static struct wndl_bytes without_offset(struct wndl_bytes name)
{
    size_t i = name.size;
    while (i > 0 && is_hex(name.data[i - 1]))
        i--;
    bool is_offset = i < name.size && i > 3 && name.data[i - 1] == 'x' &&
                     name.data[i - 2] == '0' && name.data[i - 3] == '+';
    return is_offset ? (struct wndl_bytes){name.data, i - 3} : name;
}

/* "ADDRESS name+0xOFF (object)"; an inlined one has "(inlined)". */
static bool parse_frame(struct wndl_bytes line, struct wndl_graph_frame *frame)
{
    struct wndl_bytes address;
    *frame = (struct wndl_graph_frame){0};
    if (!take_word(&line, &address))
        return false;
    for (size_t i = 0; i < address.size; i++) {
        if (!is_hex(address.data[i]))
            return false;
    }
    line = wndl_line_trimmed(line);
    size_t open = find_open(line);
    if (open == 0)
        return false;
    frame->object =
        (struct wndl_bytes){line.data + open + 1, line.size - open - 2};
    if (wndl_bytes_end_with(frame->object, " (deleted)"))
        frame->object.size -= strlen(" (deleted)");
    frame->name =
        without_offset(wndl_line_trimmed((struct wndl_bytes){line.data, open}));
    return frame->name.size != 0;
}

/* ---- all of it */

struct reader {
    struct wndl_graph_stack stack;
    struct wndl_damage *damage;
    struct wndl_lines lines;
    uint32_t samples; /* event */
    uint32_t event;   /* of the sample */
    uint64_t period;  /* of it */
    bool in_sample;   /* whose frames come now */
    /*
     * struct wndl_graph_frame: inlined ones, whose object is that of the frame
     * around them
     */
    struct wndl_vec held;
};

/* Pushes the frame, and before it those inlined into it. */
static bool push_frame(struct reader *r, const struct wndl_graph_frame *frame)
{
    struct wndl_graph_frame *held = r->held.data;
    for (size_t i = 0; i < r->held.len; i++) {
        held[i].object = frame->object;
        if (!wndl_graph_stack_push(&r->stack, &held[i]))
            return false;
    }
    r->held.len = 0;
    return wndl_graph_stack_push(&r->stack, frame);
}

static enum wndl_status end_sample(struct reader *r, struct wndl_error *err)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    static const struct wndl_graph_frame none = {
        .name = {(const uint8_t *)"[no stack]", 10}};
    if (!r->in_sample)
        return WNDL_OK;
    r->in_sample = false;
    r->held.len = 0;
    if (r->stack.places.len == 0 && !wndl_graph_stack_push(&r->stack, &none))
        return wndl_graph_fail(WNDL_NOMEM, 0, err);
    wndl_graph_stack_reverse(&r->stack);
    costs[r->event] = r->period;
    costs[r->samples] = 1;
    return wndl_graph_stack_add(&r->stack, costs, 1, r->lines.number, err);
}

static enum wndl_status take_frame(
    struct reader *r, struct wndl_bytes line, struct wndl_error *err)
{
    struct wndl_graph_frame frame;
    bool pushed = true;
    if (!r->in_sample) {
        wndl_damage_add(r->damage, r->lines.number, "no sample");
    } else if (!parse_frame(line, &frame)) {
        wndl_damage_add(r->damage, r->lines.number, "no frame");
    } else if (wndl_bytes_is(frame.object, "inlined")) {
        struct wndl_graph_frame *held = wndl_vec_push(&r->held);
        pushed = held != NULL;
        if (pushed)
            *held = frame;
    } else {
        pushed = push_frame(r, &frame);
    }
    return pushed ? WNDL_OK : wndl_graph_fail(WNDL_NOMEM, 0, err);
}

static enum wndl_status begin_sample(
    struct reader *r, const struct sample *sample, struct wndl_error *err)
{
    struct wndl_graph_frame frame;
    enum wndl_status status = end_sample(r, err);
    if (status == WNDL_OK)
        status = wndl_graph_event_of(
            r->stack.g, sample->event, NULL, &r->event, err);
    r->period = sample->period;
    r->in_sample = status == WNDL_OK;
    /* A tracepoint has its fields there. */
    if (status == WNDL_OK && parse_frame(sample->rest, &frame) &&
        !push_frame(r, &frame))
        return wndl_graph_fail(WNDL_NOMEM, 0, err);
    return status;
}

static enum wndl_status read_line(
    struct reader *r, struct wndl_bytes line, struct wndl_error *err)
{
    struct sample sample;
    if (wndl_line_trimmed(line).size == 0)
        return end_sample(r, err);
    if (line.data[0] == '#')
        return WNDL_OK;
    return parse_sample(line, &sample) ? begin_sample(r, &sample, err)
                                       : take_frame(r, line, err);
}

enum wndl_status wndl_perf_script_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct reader r = {.lines = wndl_lines_of(file), .damage = damage};
    struct wndl_bytes line;
    enum wndl_status status = wndl_graph_event(
        g, "Samples", "how often it was seen", &r.samples, err);
    wndl_graph_stack_init(&r.stack, g);
    wndl_vec_init(&r.held, &r.stack.arena, sizeof(struct wndl_graph_frame));
    while (status == WNDL_OK && wndl_lines_next(&r.lines, &line))
        status = read_line(&r, line, err);
    if (status == WNDL_OK)
        status = end_sample(&r, err);
    wndl_graph_stack_free(&r.stack);
    return status;
}
