/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/stack_filter.h"

#include "analyze/heap/alloc_fn.h"

#include <string.h>

static bool text_contains(struct wndl_bytes text, const char *what)
{
    return memmem(text.data, text.size, what, strlen(what)) != NULL;
}

static const char *text_of_filter(const char *filter, bool *negated)
{
    *negated = filter[0] == '!';
    return filter + (filter[0] == '!' || filter[0] == '\\');
}

/* The filters whose text the string has, as bits. */
static uint32_t held_by_text(
    const struct wndl_heap_grouping *how, struct wndl_bytes text)
{
    uint32_t held = 0;
    bool negated;
    for (size_t i = 0; how->filters[i] != NULL; i++) {
        const char *what = text_of_filter(how->filters[i], &negated);
        held |= (uint32_t)text_contains(text, what) << i;
    }
    return held;
}

static bool look_at_strings(struct wndl_stack_filter *w)
{
    const struct wndl_intern *strings = &w->list->strings;
    for (uint32_t i = (uint32_t)w->strings.len; i < wndl_intern_count(strings);
         i++) {
        struct wndl_heap_string *slot = wndl_vec_push(&w->strings);
        if (slot == NULL)
            return false;
        struct wndl_bytes text = wndl_intern_get(strings, i);
        slot->held = held_by_text(w->how, text);
        slot->alloc_fn = w->how->ignore_alloc_fns && wndl_heap_alloc_fn(text);
    }
    return true;
}

static const struct wndl_heap_string *string_of(
    const struct wndl_stack_filter *w, const struct wndl_heap_frame *frame)
{
    return wndl_vec_at(&w->strings, frame->text);
}

static uint32_t held_by_frame(const struct wndl_stack_filter *w, uint32_t frame)
{
    return *(const uint32_t *)wndl_vec_at(&w->held, frame);
}

/* Adds the frames that the list got since the last call. */
static bool catch_up(struct wndl_stack_filter *w)
{
    if (w->held.len == w->list->frames.len)
        return true;
    if (!look_at_strings(w))
        return false;
    while (w->held.len < w->list->frames.len) {
        uint32_t i = (uint32_t)w->held.len;
        const struct wndl_heap_frame *f = wndl_heap_frame_at(w->list, i);
        uint32_t *slot = wndl_vec_push(&w->held);
        if (slot == NULL)
            return false;
        *slot =
            i == 0 ? 0 : string_of(w, f)->held | held_by_frame(w, f->caller);
    }
    return true;
}

bool wndl_stack_filter_passes(struct wndl_stack_filter *filter,
    const uint32_t *leaves, size_t count, bool *passes)
{
    uint32_t held = 0;
    *passes = true;
    if (!catch_up(filter))
        return false;
    for (size_t i = 0; i < count; i++)
        held |= held_by_frame(filter, leaves[i]);
    for (size_t i = 0; filter->how->filters[i] != NULL; i++) {
        bool negated;
        (void)text_of_filter(filter->how->filters[i], &negated);
        *passes = *passes && (held >> i & 1) != negated;
    }
    return true;
}

bool wndl_stack_filter_init(struct wndl_stack_filter *filter,
    const struct wndl_heap_list *list, const struct wndl_heap_grouping *how,
    struct wndl_mem *mem)
{
    *filter = (struct wndl_stack_filter){.list = list, .how = how};
    wndl_arena_init(&filter->arena, mem);
    wndl_vec_init(&filter->ids, &filter->arena, sizeof(uint32_t));
    wndl_vec_init(
        &filter->strings, &filter->arena, sizeof(struct wndl_heap_string));
    wndl_vec_init(&filter->held, &filter->arena, sizeof(uint32_t));
    wndl_map_init(&filter->shown_as, &filter->arena);
    return wndl_intern_init(&filter->stacks, &filter->arena);
}

void wndl_stack_filter_free(struct wndl_stack_filter *filter)
{
    wndl_arena_free(&filter->arena);
}

static uint32_t without_alloc_fns(
    const struct wndl_stack_filter *w, uint32_t leaf)
{
    uint32_t at = leaf;
    while (at != 0) {
        const struct wndl_heap_frame *f = wndl_heap_frame_at(w->list, at);
        if (!string_of(w, f)->alloc_fn)
            return at;
        at = f->caller;
    }
    return leaf;
}

static bool number_texts(
    struct wndl_stack_filter *w, uint32_t leaf, uint32_t *number)
{
    w->ids.len = 0;
    for (uint64_t i = 0; i < w->how->max_frames && leaf != 0; i++) {
        const struct wndl_heap_frame *f = wndl_heap_frame_at(w->list, leaf);
        uint32_t *id = wndl_vec_push(&w->ids);
        if (id == NULL)
            return false;
        *id = f->text;
        leaf = f->caller;
    }
    struct wndl_bytes texts = {w->ids.data, w->ids.len * sizeof(uint32_t)};
    return wndl_intern_add(&w->stacks, texts, number);
}

bool wndl_stack_filter_stack(struct wndl_stack_filter *filter, uint32_t leaf,
    uint32_t *number, struct wndl_heap_stack *stack)
{
    if (!catch_up(filter))
        return false;
    uint32_t top = without_alloc_fns(filter, leaf);
    *number = 0;
    *stack = (struct wndl_heap_stack){top, 0};
    if (leaf == 0)
        return true;
    uint64_t *known = wndl_map_put(&filter->shown_as, top);
    if (known == NULL)
        return false;
    if (*known == 0) {
        if (!number_texts(filter, top, number))
            return false;
        *known = *number;
    }
    *number = (uint32_t)*known;
    struct wndl_bytes texts = wndl_intern_get(&filter->stacks, *number);
    stack->count = (uint32_t)(texts.size / sizeof(uint32_t));
    return true;
}
