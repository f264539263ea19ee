/* SPDX-License-Identifier: MIT */
#include "in/folded.h"

#include "base/lines.h"

#include <string.h>

/* Splits a line into its frames and the number after them. */
static bool split(
    struct wndl_bytes line, struct wndl_bytes *frames, uint64_t *number)
{
    line = wndl_line_trimmed(line);
    const uint8_t *space =
        line.size == 0 ? NULL : memrchr(line.data, ' ', line.size);
    if (space == NULL)
        return false;
    size_t size = (size_t)(space - line.data);
    *frames = wndl_line_trimmed((struct wndl_bytes){line.data, size});
    return frames->size != 0 &&
           wndl_line_number(
               (struct wndl_bytes){space + 1, line.size - size - 1}, number);
}

bool wndl_folded_is(struct wndl_bytes line)
{
    struct wndl_bytes frames;
    uint64_t number;
    return split(line, &frames, &number);
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

enum wndl_status wndl_folded_read(struct wndl_callgraph *g,
    struct wndl_bytes file, struct wndl_damage *damage, struct wndl_error *err)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    struct wndl_lines lines = wndl_lines_of(file);
    struct wndl_graph_stack stack;
    struct wndl_bytes line, frames;
    uint64_t number;
    uint32_t event;
    enum wndl_status status =
        wndl_graph_event(g, "Samples", "how often it was seen", &event, err);
    wndl_graph_stack_init(&stack, g);
    while (status == WNDL_OK && wndl_lines_next(&lines, &line)) {
        if (split(line, &frames, &number)) {
            costs[event] = number;
            status = !push_frames(&stack, frames)
                         ? wndl_graph_fail(WNDL_NOMEM, 0, err)
                         : wndl_graph_stack_add(
                               &stack, costs, number, lines.number, err);
        } else if (wndl_line_trimmed(line).size != 0) {
            wndl_damage_add(damage, lines.number, "no stack and a number");
        }
    }
    wndl_graph_stack_free(&stack);
    return status;
}
