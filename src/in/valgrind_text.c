/* SPDX-License-Identifier: MIT */
#include "in/valgrind_text.h"

#include "base/lines.h"
#include "base/text.h"

#include <string.h>

static struct wndl_bytes from(struct wndl_bytes s, size_t at)
{
    return (struct wndl_bytes){s.data + at, s.size - at};
}

/* "==4711== ", "--4711-- ", "==00:00:01.234 4711== ". */
static struct wndl_bytes without_prefix(struct wndl_bytes line)
{
    line = wndl_line_trimmed(line);
    if (!wndl_bytes_start_with(line, "==") &&
        !wndl_bytes_start_with(line, "--"))
        return line;
    for (size_t i = 2; i + 1 < line.size && i < 64; i++) {
        if (line.data[i] == line.data[0] && line.data[i + 1] == line.data[0])
            return wndl_line_trimmed(from(line, i + 2));
    }
    return line;
}

static bool is_hex(uint8_t c)
{
    return (uint8_t)(c - '0') < 10 || (uint8_t)((c | 0x20) - 'a') < 6;
}

/* The parts of "at 0x4C2FB55: text"; `first`: it was "at", not "by". */
struct frame_line {
    struct wndl_bytes address;
    struct wndl_bytes text;
    bool first;
};

static bool find_frame(struct wndl_bytes line, struct frame_line *frame)
{
    line = without_prefix(line);
    frame->first = wndl_bytes_start_with(line, "at 0x");
    if (!frame->first && !wndl_bytes_start_with(line, "by 0x"))
        return false;
    size_t i = 5;
    while (i < line.size && is_hex(line.data[i]))
        i++;
    if (i == 5 || !wndl_bytes_start_with(from(line, i), ": "))
        return false;
    frame->address = (struct wndl_bytes){line.data + 3, i - 3};
    frame->text = wndl_line_trimmed(from(line, i + 2));
    return frame->text.size != 0;
}

bool wndl_valgrind_text_is(struct wndl_bytes line)
{
    struct frame_line frame;
    return find_frame(line, &frame);
}

/* The " (" that the text's last ')' closes, or its size. */
static size_t find_place(struct wndl_bytes text)
{
    if (text.data[text.size - 1] != ')')
        return text.size;
    const uint8_t *in = memmem(text.data, text.size, " (in ", 5);
    if (in != NULL)
        return (size_t)(in - text.data);
    size_t open = 0;
    for (size_t i = text.size; i-- > 1;) {
        open += text.data[i] == ')';
        open -= text.data[i] == '(';
        if (open == 0)
            return text.data[i - 1] == ' ' ? i - 1 : text.size;
    }
    return text.size;
}

/* "file:line" as a frame's; false if it is something else. */
static bool take_line(struct wndl_bytes place, struct wndl_graph_frame *frame)
{
    const uint8_t *colon =
        place.size == 0 ? NULL : memrchr(place.data, ':', place.size);
    uint64_t line;
    if (colon == NULL || colon == place.data)
        return false;
    size_t size = (size_t)(colon - place.data);
    if (!wndl_line_number(from(place, size + 1), &line) || line > UINT32_MAX)
        return false;
    frame->file = (struct wndl_bytes){place.data, size};
    frame->line = (uint32_t)line;
    return true;
}

/*
 * "name (file:line)", "name (in object)", "name". Code without a name has its
 * address for one, as in Callgrind's files.
 */
static struct wndl_graph_frame parse(const struct frame_line *line)
{
    struct wndl_bytes text = line->text;
    size_t at = find_place(text);
    struct wndl_graph_frame frame = {.name = {text.data, at}};
    if (wndl_bytes_is(frame.name, "???"))
        frame.name = line->address;
    if (at == text.size)
        return frame;
    struct wndl_bytes place = {text.data + at + 2, text.size - at - 3};
    if (wndl_bytes_start_with(place, "in "))
        frame.object = from(place, 3);
    else if (!take_line(place, &frame))
        frame.name = text; /* the arguments of a function */
    return frame;
}

/* ---- whole stacks */

struct reader {
    struct wndl_graph_stack stack;
    struct wndl_lines lines;
    size_t most;             /* frames of any stack */
    struct wndl_bytes outer; /* name of the last frame */
    uint32_t event;
};

static size_t most_frames(struct wndl_bytes file)
{
    struct wndl_lines lines = wndl_lines_of(file);
    struct wndl_bytes line;
    struct frame_line frame;
    size_t frames = 0, most = 0;
    while (wndl_lines_next(&lines, &line)) {
        if (!find_frame(line, &frame))
            frames = 0;
        else
            frames = frame.first ? 1 : frames + 1;
        most = frames > most ? frames : most;
    }
    return most;
}

static bool is_start(struct wndl_bytes name)
{
    static const char *const starts[] = {"main", "(below main)", "_start",
        "start_thread", "thread_start", "clone", "clone3", "__libc_start_main",
        "__libc_start_main@@GLIBC_2.34"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (wndl_bytes_is(name, starts[i]))
            return true;
    }
    return false;
}

static enum wndl_status end_stack(struct reader *r, struct wndl_error *err)
{
    static const uint8_t truncated[] = "[truncated]";
    const struct wndl_graph_frame label = {
        .name = {truncated, sizeof truncated - 1}};
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    if (r->stack.places.len == 0)
        return WNDL_OK;
    if (r->stack.places.len == r->most && !is_start(r->outer) &&
        !wndl_graph_stack_push(&r->stack, &label))
        return wndl_graph_fail(WNDL_NOMEM, 0, err);
    wndl_graph_stack_reverse(&r->stack);
    costs[r->event] = 1;
    return wndl_graph_stack_add(&r->stack, costs, 1, r->lines.number, err);
}

static enum wndl_status read_line(struct reader *r, struct wndl_bytes line,
    struct wndl_damage *damage, struct wndl_error *err)
{
    struct frame_line found;
    bool is_frame = find_frame(line, &found);
    if (!is_frame || found.first) {
        enum wndl_status status = end_stack(r, err);
        if (status != WNDL_OK || !is_frame)
            return status;
    } else if (r->stack.places.len == 0) {
        wndl_damage_add(damage, r->lines.number, "a stack without its start");
        return WNDL_OK;
    }
    const struct wndl_graph_frame frame = parse(&found);
    r->outer = frame.name;
    return wndl_graph_stack_push(&r->stack, &frame)
               ? WNDL_OK
               : wndl_graph_fail(WNDL_NOMEM, 0, err);
}

enum wndl_status wndl_valgrind_text_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct reader r = {.lines = wndl_lines_of(file), .most = most_frames(file)};
    struct wndl_bytes line;
    enum wndl_status status =
        wndl_graph_event(g, "Stacks", "stacks of a text", &r.event, err);
    wndl_graph_stack_init(&r.stack, g);
    while (status == WNDL_OK && wndl_lines_next(&r.lines, &line))
        status = read_line(&r, line, damage, err);
    if (status == WNDL_OK)
        status = end_stack(&r, err);
    wndl_graph_stack_free(&r.stack);
    return status;
}
