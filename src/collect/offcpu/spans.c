/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/spans.h"

enum { NODES_MAX = 1 << 20, NODES_PER_CHUNK = 64 * 1024 };

/* ---- stacks */

struct node {
    struct wndl_offcpu_frame frame;
    uint32_t parent;
    uint32_t next; /* older node of the same hash, 0: none */
};

void wndl_offcpu_tree_init(struct wndl_offcpu_tree *tree, uint32_t chunk)
{
    wndl_arena_init(&tree->arena, wndl_mem_libc());
    wndl_vec_init(&tree->nodes, &tree->arena, sizeof(struct node));
    wndl_map_init(&tree->heads, &tree->arena);
    tree->written = 0;
    tree->chunk = chunk;
}

void wndl_offcpu_tree_free(struct wndl_offcpu_tree *tree)
{
    wndl_arena_free(&tree->arena);
}

static struct node *node_at(const struct wndl_offcpu_tree *tree, uint32_t n)
{
    return wndl_vec_at(&tree->nodes, n - 1);
}

static uint64_t hash_of(uint32_t parent, const struct wndl_offcpu_frame *frame)
{
    uint64_t where = wndl_hash_u64((uint64_t)parent << 32 | frame->image);
    return wndl_hash_u64(where ^ frame->address ^ (uint64_t)frame->flags << 56);
}

static bool is_node(const struct node *node, uint32_t parent,
    const struct wndl_offcpu_frame *frame)
{
    return node->parent == parent && node->frame.address == frame->address &&
           node->frame.image == frame->image &&
           node->frame.flags == frame->flags;
}

uint32_t wndl_offcpu_tree_node(struct wndl_offcpu_tree *tree, uint32_t parent,
    const struct wndl_offcpu_frame *frame)
{
    uint64_t *head = wndl_map_put(&tree->heads, hash_of(parent, frame));
    if (head == NULL)
        return 0;
    for (uint32_t n = (uint32_t)*head; n != 0; n = node_at(tree, n)->next) {
        if (is_node(node_at(tree, n), parent, frame))
            return n;
    }
    struct node *node =
        tree->nodes.len < NODES_MAX ? wndl_vec_push(&tree->nodes) : NULL;
    if (node == NULL)
        return 0;
    *node = (struct node){*frame, parent, (uint32_t)*head};
    *head = tree->nodes.len;
    return (uint32_t)tree->nodes.len;
}

/* Nodes [first, first + count) of the tree, whose numbers begin after `before`.
 */
struct part {
    uint32_t type; /* of the chunk */
    uint32_t before, first, count;
};

static void write_nodes(const struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process, const struct part *part)
{
    struct wndl_node_list list;
    const struct wndl_fields_stak head = {process, part->before + part->first};
    wndl_recording_nodes(&list, recording, part->type, &head, part->count);
    for (uint32_t n = part->first; n < part->first + part->count; n++) {
        const struct node *node = node_at(tree, n);
        const struct wndl_fields_node fields = {
            .parent = node->parent == 0 ? 0 : part->before + node->parent,
            .flags = node->frame.flags,
            .image = node->frame.image,
            .address = (int64_t)node->frame.address,
        };
        wndl_node_list_add(&list, &fields);
    }
    wndl_node_list_finish(&list);
}

/* The next nodes of those that begin with `first`. */
static uint32_t part_size(const struct wndl_offcpu_tree *tree, uint32_t first)
{
    const uint32_t count = (uint32_t)tree->nodes.len + 1 - first;
    return count < NODES_PER_CHUNK ? count : NODES_PER_CHUNK;
}

void wndl_offcpu_tree_write(struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process)
{
    while (tree->written < tree->nodes.len) {
        struct part part = {tree->chunk, 0, tree->written + 1, 0};
        part.count = part_size(tree, part.first);
        write_nodes(tree, recording, process, &part);
        tree->written += part.count;
    }
}

void wndl_offcpu_tree_append(const struct wndl_offcpu_tree *tree,
    struct wndl_recording *recording, uint32_t process, uint32_t before)
{
    struct part part = {WNDL_CHUNK_STAK, before, 1, 0};
    for (; part.first <= tree->nodes.len; part.first += part.count) {
        part.count = part_size(tree, part.first);
        write_nodes(tree, recording, process, &part);
    }
}

/* ---- times */

void wndl_offcpu_spans_init(struct wndl_offcpu_spans *spans)
{
    *spans = (struct wndl_offcpu_spans){0};
    wndl_buf_init(&spans->bytes, wndl_mem_libc());
}

void wndl_offcpu_spans_free(struct wndl_offcpu_spans *spans)
{
    wndl_buf_free(&spans->bytes);
}

/* Moves `last` to the bytes, and leaves an empty one at its end. */
static void close_last(struct wndl_offcpu_spans *spans)
{
    struct wndl_offcpu_span *last = &spans->last;
    if (last->end <= last->start)
        return;
    if (spans->count == 0)
        spans->time = spans->written = last->start;
    const struct wndl_fields_span span = {
        .gap = last->start - spans->written,
        .duration = last->end - last->start,
        .kind = last->kind,
        .node = last->node,
        .end = last->ended,
    };
    wndl_put_span(&spans->bytes, &span);
    spans->count++;
    spans->written = last->end;
    last->start = last->end;
}

void wndl_offcpu_spans_add(
    struct wndl_offcpu_spans *spans, const struct wndl_offcpu_span *span)
{
    struct wndl_offcpu_span *last = &spans->last;
    if (span->start < last->end || span->end <= span->start)
        return;
    if (last->end == span->start && last->kind == span->kind &&
        last->node == span->node && last->ended == span->ended) {
        last->end = span->end;
        return;
    }
    close_last(spans);
    *last = *span;
}

void wndl_offcpu_spans_amend(struct wndl_offcpu_spans *spans, uint64_t end,
    uint32_t node, uint32_t ended)
{
    if (spans->last.kind != WNDL_SPAN_BLOCKED || spans->last.end != end)
        return;
    spans->last.node = node;
    spans->last.ended = ended;
}

void wndl_offcpu_spans_write(struct wndl_offcpu_spans *spans,
    struct wndl_recording *recording, uint32_t thread)
{
    close_last(spans);
    if (spans->count == 0)
        return;
    const struct wndl_recording_series series = {
        .thread = thread,
        .time = spans->time,
        .count = spans->count,
        .bytes = {spans->bytes.data, spans->bytes.size},
    };
    wndl_recording_series(recording, WNDL_CHUNK_BLOK, &series);
    wndl_buf_clear(&spans->bytes);
    spans->count = 0;
}
