/* SPDX-License-Identifier: MIT */
#include "in/folded.h"

#include "base/lines.h"

#include <string.h>

/* A number after a stack, in samples and thousandths of one. */
struct count {
    uint64_t samples;
    uint64_t thousandths;
    bool broken; /* "12.5" */
};

/* The digits after a '.', rounded; 1000 is possible. */
static bool read_thousandths(struct wndl_bytes digits, uint64_t *value)
{
    uint64_t scale = 100;
    *value = 0;
    for (size_t i = 0; i < digits.size; i++, scale /= 10) {
        uint8_t digit = (uint8_t)(digits.data[i] - '0');
        if (digit > 9)
            return false;
        *value += i < 3 ? digit * scale : i == 3 && digit >= 5;
    }
    return digits.size != 0;
}

static bool read_count(struct wndl_bytes text, struct count *count)
{
    const uint8_t *dot =
        text.size == 0 ? NULL : memchr(text.data, '.', text.size);
    struct wndl_bytes whole = text;
    *count = (struct count){.broken = dot != NULL};
    if (dot != NULL) {
        whole.size = (size_t)(dot - text.data);
        const struct wndl_bytes rest = {dot + 1, text.size - whole.size - 1};
        if (!read_thousandths(rest, &count->thousandths))
            return false;
    }
    return wndl_line_number(whole, &count->samples);
}

/* Splits a line into its frames and the number after them. */
static bool split(
    struct wndl_bytes line, struct wndl_bytes *frames, struct count *count)
{
    line = wndl_line_trimmed(line);
    const uint8_t *space =
        line.size == 0 ? NULL : memrchr(line.data, ' ', line.size);
    if (space == NULL)
        return false;
    size_t size = (size_t)(space - line.data);
    *frames = wndl_line_trimmed((struct wndl_bytes){line.data, size});
    return frames->size != 0 &&
           read_count(
               (struct wndl_bytes){space + 1, line.size - size - 1}, count);
}

bool wndl_folded_is(struct wndl_bytes line)
{
    struct wndl_bytes frames;
    struct count count;
    return split(line, &frames, &count);
}

static bool has_broken_counts(struct wndl_bytes file)
{
    struct wndl_lines lines = wndl_lines_of(file);
    struct wndl_bytes line, frames;
    struct count count;
    while (wndl_lines_next(&lines, &line))
        if (split(line, &frames, &count) && count.broken)
            return true;
    return false;
}

/* The cost of a line; false if it does not fit. */
static bool cost_of(const struct count *count, bool broken, uint64_t *cost)
{
    *cost = count->samples;
    return !broken ||
           (!__builtin_mul_overflow(*cost, (uint64_t)1000, cost) &&
               !__builtin_add_overflow(*cost, count->thousandths, cost));
}

static bool push_frames(
    struct wndl_graph_stack *stack, struct wndl_bytes frames)
{
    for (size_t start = 0; start <= frames.size;) {
        const uint8_t *end =
            memchr(frames.data + start, ';', frames.size - start);
        size_t size = end == NULL ? frames.size - start
                                  : (size_t)(end - frames.data) - start;
        const struct wndl_graph_frame frame = {
            .name = {frames.data + start, size}};
        if (!wndl_graph_stack_push(stack, &frame))
            return false;
        start += size + 1;
    }
    return true;
}

struct reader {
    struct wndl_graph_stack stack;
    struct wndl_lines lines;
    uint64_t costs[WNDL_CALLGRAPH_EVENTS];
    uint32_t event;
    bool broken; /* costs are in thousandths */
};

static enum wndl_status read_line(struct reader *r, struct wndl_bytes line,
    struct wndl_damage *damage, struct wndl_error *err)
{
    struct wndl_bytes frames;
    struct count count;
    if (!split(line, &frames, &count) ||
        !cost_of(&count, r->broken, &r->costs[r->event])) {
        if (wndl_line_trimmed(line).size != 0)
            wndl_damage_add(damage, r->lines.number, "no stack and a number");
        return WNDL_OK;
    }
    uint64_t stacks = count.samples + (count.thousandths != 0);
    return push_frames(&r->stack, frames)
               ? wndl_graph_stack_add(
                     &r->stack, r->costs, stacks, r->lines.number, err)
               : wndl_graph_fail(WNDL_NOMEM, 0, err);
}

enum wndl_status wndl_folded_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    struct reader r = {.lines = wndl_lines_of(file)};
    struct wndl_bytes line;
    r.broken = has_broken_counts(file);
    enum wndl_status status =
        r.broken ? wndl_graph_event(
                       g, "mSamples", "thousandths of a sample", &r.event, err)
                 : wndl_graph_event(
                       g, "Samples", "how often it was seen", &r.event, err);
    wndl_graph_stack_init(&r.stack, g);
    while (status == WNDL_OK && wndl_lines_next(&r.lines, &line))
        status = read_line(&r, line, damage, err);
    wndl_graph_stack_free(&r.stack);
    return status;
}
