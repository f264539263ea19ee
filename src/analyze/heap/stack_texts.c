/* SPDX-License-Identifier: MIT */
#include "analyze/heap/stack_texts.h"

#include "base/buf.h"

#include <inttypes.h>
#include <string.h>

enum { NOTES_SHIFT = 10, NOTES = 1 << NOTES_SHIFT };

/* For `count` nodes or frames. NULL when memory is out. */
static uint32_t **make_notes(struct wndl_stack_texts *stacks, size_t count)
{
    return wndl_arena_calloc(
        &stacks->arena, (count >> NOTES_SHIFT) + 1, sizeof(uint32_t *));
}

/* The slot of the node or frame. NULL when memory is out. */
static uint32_t *note_of(
    struct wndl_stack_texts *stacks, uint32_t **notes, uint32_t index)
{
    uint32_t **thousand = &notes[index >> NOTES_SHIFT];
    if (*thousand == NULL)
        *thousand = wndl_arena_calloc(&stacks->arena, NOTES, sizeof **thousand);
    return *thousand == NULL ? NULL : *thousand + index % NOTES;
}

bool wndl_stack_texts_init(struct wndl_stack_texts *stacks,
    struct wndl_heap_list *list, const struct wndl_symbolized *s)
{
    *stacks = (struct wndl_stack_texts){.list = list, .s = s};
    wndl_arena_init(&stacks->arena, list->arena.mem);
    wndl_vec_init(&stacks->texts, &stacks->arena, sizeof(uint32_t));
    wndl_vec_init(&stacks->path, &stacks->arena, sizeof(uint32_t));
    stacks->texts_of_frames = make_notes(stacks, s->profile->frames.len);
    if (stacks->texts_of_frames == NULL)
        return false;
    for (size_t i = 0; i < WNDL_HEAP_RESTS; i++) {
        stacks->frames_of_nodes[i] = make_notes(stacks, s->profile->nodes.len);
        if (stacks->frames_of_nodes[i] == NULL)
            return false;
    }
    return true;
}

void wndl_stack_texts_free(struct wndl_stack_texts *stacks)
{
    wndl_arena_free(&stacks->arena);
}

/* "(PATH + 0xOFF)", where the code is when no line is known. */
static void add_module_place(const struct wndl_symbolized *s,
    const struct wndl_function *function, uint32_t frame, struct wndl_buf *text)
{
    const struct wndl_frame_key *key = wndl_vec_at(&s->profile->frames, frame);
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, function->module);
    struct wndl_bytes path = wndl_intern_get(&s->strings, module->path);
    uint64_t address = key->address;
    if (key->exact == WNDL_EXACT_NOT && address != 0) /* a return address */
        address--;
    wndl_buf_text(text, " (");
    wndl_buf_add(text, path.data, path.size);
    wndl_buf_printf(text, " + 0x%" PRIx64 ")", address);
}

static void frame_text(const struct wndl_symbolized *s,
    const struct wndl_location *location, uint32_t frame, struct wndl_buf *text)
{
    const struct wndl_function *function =
        wndl_vec_at(&s->functions, location->function);
    struct wndl_bytes name = wndl_intern_get(&s->strings, function->name);
    struct wndl_bytes file = wndl_intern_get(&s->strings, location->file);
    wndl_buf_clear(text);
    if (function->unnamed)
        wndl_buf_text(text, "???");
    else
        wndl_buf_add(text, name.data, name.size);
    if (file.size == 0) {
        add_module_place(s, function, frame, text);
    } else {
        wndl_buf_text(text, " (");
        wndl_buf_add(text, file.data, file.size);
        wndl_buf_printf(text, ":%" PRIu32 ")", location->line);
    }
    if (location->inlined)
        wndl_buf_text(text, " [inlined]");
}

static bool add_text(
    struct wndl_heap_list *list, uint32_t caller, const char *text, uint32_t *f)
{
    return wndl_heap_list_frame(list, caller,
        (struct wndl_bytes){(const uint8_t *)text, strlen(text)}, f);
}

/* Adds the texts of all the frame's locations, the outermost first. */
static bool add_texts(
    struct wndl_stack_texts *stacks, uint32_t frame, uint32_t *begin)
{
    const struct wndl_symbolized *s = stacks->s;
    const struct wndl_span *span = wndl_vec_at(&s->spans, frame);
    const size_t first = stacks->texts.len;
    struct wndl_buf text;
    wndl_buf_init(&text, stacks->arena.mem);
    bool added = first < UINT32_MAX;
    for (uint32_t i = span->count; i-- > 0 && added;) {
        uint32_t *id = wndl_vec_push(&stacks->texts);
        frame_text(s, wndl_symbolized_location(s, span, i), frame, &text);
        added = !text.failed && id != NULL &&
                wndl_intern_add(&stacks->list->strings,
                    (struct wndl_bytes){text.data, text.size}, id);
    }
    wndl_buf_free(&text);
    *begin = (uint32_t)first + 1;
    return added;
}

/* The node's locations below *frame, the outermost first. */
static bool add_node(
    struct wndl_stack_texts *stacks, uint32_t node, uint32_t *frame)
{
    const struct wndl_symbolized *s = stacks->s;
    const struct wndl_node *from = wndl_vec_at(&s->profile->nodes, node);
    const struct wndl_span *span = wndl_vec_at(&s->spans, from->frame);
    uint32_t *begin = note_of(stacks, stacks->texts_of_frames, from->frame);
    bool added =
        begin != NULL && (*begin != 0 || add_texts(stacks, from->frame, begin));
    for (uint32_t i = 0; i < span->count && added; i++) {
        const uint32_t *id = wndl_vec_at(&stacks->texts, *begin - 1 + i);
        added = wndl_heap_list_frame_of(stacks->list, *frame, *id, frame);
    }
    return added;
}

static enum wndl_stack_rest rest_of(uint8_t end)
{
    return end == WNDL_WALK_COMPLETE || end == WNDL_WALK_FP_ROOT
               ? WNDL_HEAP_REST_NONE
           : end == WNDL_WALK_TRUNCATED ? WNDL_HEAP_REST_TRUNCATED
                                        : WNDL_HEAP_REST_LOST;
}

static bool add_rest(
    struct wndl_stack_texts *stacks, enum wndl_stack_rest rest, uint32_t *frame)
{
    *frame = 0;
    if (rest == WNDL_HEAP_REST_NONE)
        return true;
    return add_text(stacks->list, 0,
        rest == WNDL_HEAP_REST_TRUNCATED ? "(truncated)" : "(lost)", frame);
}

static uint32_t parent_of(const struct wndl_stack_texts *stacks, uint32_t node)
{
    const struct wndl_node *n = wndl_vec_at(&stacks->s->profile->nodes, node);
    return n->parent;
}

/* Up to a node that has its frame, then down again. */
bool wndl_stack_texts_of(
    struct wndl_stack_texts *stacks, uint32_t node, uint8_t end, uint32_t *leaf)
{
    enum wndl_stack_rest rest = rest_of(end);
    uint32_t *frame = NULL;
    if (node == 0)
        return add_text(stacks->list, 0, "(no stack)", leaf);
    stacks->path.len = 0;
    for (; node != 0; node = parent_of(stacks, node)) {
        frame = note_of(stacks, stacks->frames_of_nodes[rest], node);
        if (frame == NULL)
            return false;
        if (*frame != 0)
            break;
        uint32_t *step = wndl_vec_push(&stacks->path);
        if (step == NULL)
            return false;
        *step = node;
    }
    if (node != 0)
        *leaf = *frame;
    else if (!add_rest(stacks, rest, leaf))
        return false;
    for (size_t i = stacks->path.len; i-- > 0;) {
        uint32_t step = *(const uint32_t *)wndl_vec_at(&stacks->path, i);
        if (!add_node(stacks, step, leaf))
            return false;
        *note_of(stacks, stacks->frames_of_nodes[rest], step) = *leaf;
    }
    return true;
}
