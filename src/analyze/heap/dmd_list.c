/* SPDX-License-Identifier: MIT */
#include "analyze/heap/dmd_list.h"

#include "base/buf.h"

#include <string.h>

/* Whether it is one line: other texts would add line ends. */
static bool is_one_line(struct wndl_bytes text)
{
    return text.data != NULL && memchr(text.data, '\n', text.size) == NULL;
}

static bool collect_piece(void *context, struct wndl_bytes piece)
{
    struct wndl_buf *all = context;
    wndl_buf_add(all, piece.data, piece.size);
    return !all->failed;
}

/* A line for each frame, empty for those that cannot be one. */
static void write_lines(const struct wndl_dmd_file *dmd, struct wndl_buf *out)
{
    for (size_t i = 0; i < dmd->frames.len; i++) {
        const struct wndl_bytes *text = wndl_vec_at(&dmd->frames, i);
        if (is_one_line(*text))
            wndl_buf_add(out, text->data, text->size);
        wndl_buf_byte(out, '\n');
    }
}

/* The same lines, with names. */
static bool take_lines(struct wndl_dmd_file *dmd, struct wndl_bytes lines)
{
    const uint8_t *end = lines.data + lines.size;
    for (size_t i = 0; i < dmd->frames.len && lines.data != end; i++) {
        const uint8_t *stop =
            memchr(lines.data, '\n', (size_t)(end - lines.data));
        if (stop == NULL)
            break;
        size_t size = (size_t)(stop - lines.data);
        struct wndl_bytes *text = wndl_vec_at(&dmd->frames, i);
        bool changed =
            is_one_line(*text) &&
            (text->size != size || memcmp(text->data, lines.data, size) != 0);
        char *copy =
            changed ? wndl_arena_copy(&dmd->arena, lines.data, size) : NULL;
        if (changed && copy == NULL)
            return false;
        if (changed)
            *text = (struct wndl_bytes){(const uint8_t *)copy, size};
        lines.data = stop + 1;
    }
    return true;
}

enum wndl_status wndl_dmd_name_frames(
    struct wndl_dmd_file *dmd, struct wndl_fix *fix)
{
    struct wndl_buf before, after;
    struct wndl_fix_sink sink = {&after, collect_piece};
    wndl_buf_init(&before, dmd->arena.mem);
    wndl_buf_init(&after, dmd->arena.mem);
    write_lines(dmd, &before);
    struct wndl_bytes text = {before.data, before.size};
    bool named = !before.failed && text.size != 0 &&
                 wndl_fix_text(fix, text, &sink) == WNDL_OK;
    text = (struct wndl_bytes){after.data, after.size};
    if (named)
        named = take_lines(dmd, text);
    bool nothing = before.size == 0 && !before.failed;
    wndl_buf_free(&before);
    wndl_buf_free(&after);
    return named || nothing ? WNDL_OK : WNDL_NOMEM;
}

/* ---- the list */

struct adding {
    struct wndl_heap_list *list;
    const struct wndl_dmd_file *dmd;
    struct wndl_map leaf_of; /* trace -> leaf in the list */
};

/* Drops the number of "#00: text", which is always 00. */
static struct wndl_bytes without_number(struct wndl_bytes text)
{
    size_t at = 1;
    if (text.size == 0 || text.data[0] != '#')
        return text;
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    if (at == 1 || text.size - at < 2 || memcmp(text.data + at, ": ", 2) != 0)
        return text;
    return (struct wndl_bytes){text.data + at + 2, text.size - at - 2};
}

static bool add_frame(struct adding *a, const char *text, uint32_t *leaf)
{
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    return wndl_heap_list_frame(a->list, *leaf, bytes, leaf);
}

static bool add_trace(
    struct adding *a, const struct wndl_dmd_trace *trace, uint32_t *leaf)
{
    *leaf = 0;
    if (!trace->known)
        return add_frame(a, "(a stack that the file does not hold)", leaf);
    if (trace->count == 0)
        return add_frame(a, "(an empty stack)", leaf);
    for (uint32_t i = trace->count; i-- > 0;) {
        const uint32_t *frame =
            wndl_vec_at(&a->dmd->frame_of, trace->first + i);
        const struct wndl_bytes *text = wndl_vec_at(&a->dmd->frames, *frame);
        bool added =
            text->data == NULL
                ? add_frame(a, "(a frame that the file does not hold)", leaf)
                : wndl_heap_list_frame(
                      a->list, *leaf, without_number(*text), leaf);
        if (!added)
            return false;
    }
    return true;
}

/* `stack` as the file's block has it. */
static bool leaf_of(struct adding *a, uint32_t stack, uint32_t *leaf)
{
    *leaf = 0;
    if (stack == 0)
        return add_frame(
            a, "(no stack trace recorded due to --stacks=partial)", leaf);
    uint64_t *known = wndl_map_put(&a->leaf_of, stack);
    if (known == NULL)
        return false;
    if (*known == 0) {
        if (!add_trace(a, wndl_vec_at(&a->dmd->traces, stack - 1), leaf))
            return false;
        *known = *leaf;
    }
    *leaf = (uint32_t)*known;
    return true;
}

static bool add_block(
    struct adding *a, const struct wndl_dmd_block *block, bool negative)
{
    struct wndl_heap_blocks blocks = {
        .requested = block->requested,
        .slop = block->slop,
        .count = negative ? -(int64_t)block->count : (int64_t)block->count,
        .weight = 1,
    };
    bool dark = a->dmd->mode == WNDL_HEAP_MODE_DARK_MATTER;
    for (unsigned i = 0; i < WNDL_HEAP_STACKS; i++) {
        bool wanted =
            i == WNDL_HEAP_ALLOCATED || (dark && block->stacks[i] != 0);
        if (wanted && !leaf_of(a, block->stacks[i], &blocks.stacks[i]))
            return false;
    }
    return wndl_heap_list_add(a->list, &blocks);
}

bool wndl_dmd_list_add(
    struct wndl_heap_list *list, const struct wndl_dmd_file *dmd, bool negative)
{
    struct adding a = {.list = list, .dmd = dmd};
    struct wndl_arena arena;
    wndl_arena_init(&arena, list->arena.mem);
    wndl_map_init(&a.leaf_of, &arena);
    list->mode = dmd->mode;
    bool added = true;
    for (size_t i = 0; i < dmd->blocks.len && added; i++)
        added = add_block(&a, wndl_vec_at(&dmd->blocks, i), negative);
    wndl_arena_free(&arena);
    return added;
}
