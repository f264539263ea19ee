/* SPDX-License-Identifier: MIT */
/* read_stacks: the chunks of stacks, samples and spans. */
#include "wndl/fields.h"
#include "wndl/reader.h"

/* A tree that is being read: the numbers of its nodes, and its process. */
struct tree {
    struct wndl_vec *nodes;
    uint32_t process;
};

/* Whether the frame of a node is where a signal interrupted the code. */
static bool is_interrupted(const struct wndl_profile *p, uint32_t node)
{
    if (node == WNDL_NO_INDEX || node == 0)
        return false;
    const struct wndl_node *of = wndl_vec_at(&p->nodes, node);
    const struct wndl_frame_key *key = wndl_vec_at(&p->frames, of->frame);
    return key->exact == WNDL_EXACT_INTERRUPTED;
}

/* Only the code that signal handlers return to has an interrupted caller. */
static uint8_t exactness(
    const struct wndl_profile *p, uint64_t flags, uint32_t parent)
{
    if ((flags & 1) != 0)
        return WNDL_EXACT_INTERRUPTED;
    return is_interrupted(p, parent) ? WNDL_EXACT_SIGNAL_RETURN
                                     : WNDL_EXACT_NOT;
}

/*
 * The same node, but its frame passes the check: a frame may be right for one
 * of those that it called, and wrong for another. False when memory is out.
 */
static bool use_checked(struct wndl_profile *p, uint32_t *node)
{
    enum { HOW_CHECKED = 6 };
    const struct wndl_node of =
        *(struct wndl_node *)wndl_vec_at(&p->nodes, *node);
    struct wndl_frame_key key =
        *(struct wndl_frame_key *)wndl_vec_at(&p->frames, of.frame);
    uint32_t frame;
    key.how = HOW_CHECKED;
    return wndl_profile_frame(p, key, &frame) &&
           wndl_profile_node(p, of.parent, frame, node);
}

/* Reads a node; `*ours` is WNDL_NO_INDEX when its parent was lost. */
static enum wndl_status read_node(struct wndl_reader *r, struct wndl_cursor *c,
    const struct tree *tree, uint64_t *address, uint32_t *ours)
{
    const struct wndl_vec *nodes = tree->nodes;
    uint64_t number = nodes->len;
    struct wndl_fields_node node = wndl_get_node(c);
    uint64_t image = node.image;
    *address += (uint64_t)node.address;
    if (c->failed || node.parent == 0 || node.parent > number ||
        (image == 0 && tree->process == WNDL_NO_INDEX))
        return WNDL_MALFORMED;
    uint32_t parent = wndl_reader_known(nodes, number - node.parent);
    struct wndl_frame_key key = {
        .image = image == 0 ? WNDL_NO_INDEX
                            : wndl_reader_known(&r->images, image - 1),
        .process = image == 0 ? tree->process : WNDL_NO_INDEX,
        .exact = exactness(r->p, node.flags, parent),
        .how = node.flags >> 1 & 7,
        .address = *address,
    };
    *ours = WNDL_NO_INDEX;
    if (parent == WNDL_NO_INDEX || (image != 0 && key.image == WNDL_NO_INDEX))
        return WNDL_OK;
    uint32_t frame;
    const bool checks = (node.flags >> WNDL_NODE_CHECKS_SHIFT & 1) != 0;
    if (checks && parent != 0 && !use_checked(r->p, &parent))
        return WNDL_NOMEM;
    if (!wndl_profile_frame(r->p, key, &frame) ||
        !wndl_profile_node(r->p, parent, frame, ours))
        return WNDL_NOMEM;
    return WNDL_OK;
}

static enum wndl_status read_list(struct wndl_reader *r, struct wndl_cursor *c,
    const struct tree *to, uint64_t first)
{
    const struct tree tree = *to;
    uint64_t count = wndl_get_list(c, WNDL_LEAST_NODE);
    if (c->failed || first >= WNDL_NO_INDEX - count)
        return WNDL_MALFORMED;
    enum wndl_status status = wndl_reader_skip(r, tree.nodes, first);
    uint64_t address = 0;
    size_t start = tree.nodes->len;
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++) {
        uint32_t ours;
        status = read_node(r, c, &tree, &address, &ours);
        if (status == WNDL_OK)
            status = wndl_reader_announce(r, tree.nodes, tree.nodes->len, ours);
    }
    if (status != WNDL_OK)
        tree.nodes->len = start;
    return status;
}

static enum wndl_status read_nodes(
    struct wndl_reader *r, struct wndl_cursor *c, const struct wndl_vec *trees)
{
    const struct wndl_fields_stak stak = wndl_get_stak(c);
    const uint32_t process = wndl_reader_known(&r->processes, stak.process);
    if (c->failed || process == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    const struct tree tree = {wndl_vec_at(trees, process), process};
    return read_list(r, c, &tree, stak.first);
}

/* One tree for all processes: the process of the chunk means nothing. */
enum wndl_status wndl_read_kstk(struct wndl_reader *r, struct wndl_cursor *c)
{
    const struct wndl_fields_stak stak = wndl_get_stak(c);
    const struct tree tree = {&r->kernel_nodes, WNDL_NO_INDEX};
    if (r->kernel_nodes.len == 0 && wndl_vec_push(&r->kernel_nodes) == NULL)
        return WNDL_NOMEM; /* the root, which is node 0 of the profile */
    if (c->failed)
        return WNDL_MALFORMED;
    return read_list(r, c, &tree, stak.first);
}

enum wndl_status wndl_read_stak(struct wndl_reader *r, struct wndl_cursor *c)
{
    return read_nodes(r, c, &r->nodes);
}

enum wndl_status wndl_read_ostk(struct wndl_reader *r, struct wndl_cursor *c)
{
    return read_nodes(r, c, &r->outside);
}

/* Sample `number` was taken in the kernel. */
static bool note_in_kernel(struct wndl_reader *r, size_t number)
{
    uint32_t *slot = wndl_vec_push(&r->in_kernel);
    if (slot == NULL)
        return false;
    *slot = wndl_reader_narrow(number);
    return true;
}

/* Reads the next sample, whose node is WNDL_NO_INDEX if its stack was lost. */
static enum wndl_status read_sample(struct wndl_cursor *c,
    const struct wndl_vec *nodes, struct wndl_sample *sample, bool *in_kernel)
{
    struct wndl_fields_sample fields = wndl_get_sample(c);
    sample->cpu = wndl_reader_narrow(fields.cpu);
    sample->node = wndl_reader_known(nodes, fields.node);
    *in_kernel = (fields.end & WNDL_SAMPLE_IN_KERNEL) != 0;
    if (*in_kernel)
        fields.end -= WNDL_SAMPLE_IN_KERNEL;
    sample->end = wndl_reader_walk_end(fields.end) & 15;
    if (c->failed ||
        __builtin_add_overflow(sample->time, fields.time, &sample->time))
        return WNDL_MALFORMED;
    return WNDL_OK;
}

/* Reads samples to `to`, but for those whose stack was lost. */
static enum wndl_status read_samples_to(struct wndl_reader *r,
    struct wndl_cursor *c, struct wndl_sample sample, uint64_t count,
    size_t *kept)
{
    const struct wndl_profile *p = r->p;
    const struct wndl_thread *of = wndl_vec_at(&p->threads, sample.thread);
    const struct wndl_vec *nodes = wndl_vec_at(&r->nodes, of->process);
    struct wndl_sample *to = wndl_vec_at(&p->samples, p->samples.len);
    bool in_kernel;
    for (uint64_t i = 0; i < count; i++) {
        if (read_sample(c, nodes, &sample, &in_kernel) != WNDL_OK)
            return WNDL_MALFORMED;
        if (sample.node == WNDL_NO_INDEX)
            continue;
        if (in_kernel && !note_in_kernel(r, p->samples.len + *kept))
            return WNDL_NOMEM;
        to[(*kept)++] = sample;
    }
    return WNDL_OK;
}

/*
 * Reads `count` samples to the end of p->samples, but for those whose stack was
 * lost. None is kept after a failure.
 */
static enum wndl_status read_samples(struct wndl_reader *r,
    struct wndl_cursor *c, struct wndl_sample sample, uint64_t count)
{
    struct wndl_profile *p = r->p;
    const size_t in_kernel = r->in_kernel.len;
    size_t kept = 0;
    if (count == 0)
        return WNDL_OK;
    if (!wndl_vec_reserve(&p->samples, (size_t)count))
        return WNDL_NOMEM;
    enum wndl_status status = read_samples_to(r, c, sample, count, &kept);
    if (status != WNDL_OK) {
        r->in_kernel.len = in_kernel;
        return status;
    }
    p->samples.len += kept;
    p->lost[WNDL_LOST_DAMAGED] += count - kept;
    return WNDL_OK;
}

enum wndl_status wndl_read_samp(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    struct wndl_fields_samp samp = wndl_get_samp(c);
    uint32_t thread = wndl_reader_known(&r->threads, samp.thread);
    struct wndl_sample sample = {.time = samp.time};
    uint64_t count = wndl_get_list(c, WNDL_LEAST_SAMPLE);
    enum wndl_status status = WNDL_MALFORMED;
    if (!c->failed && thread != WNDL_NO_INDEX) {
        sample.thread = thread & ((1u << 28) - 1);
        status = read_samples(r, c, sample, count);
    }
    if (status != WNDL_OK)
        p->lost[WNDL_LOST_DAMAGED] += count;
    return status;
}

/* Reads a block to the end of p->blocks, unless its stack was lost. */
static enum wndl_status read_block(struct wndl_reader *r, struct wndl_cursor *c,
    const struct wndl_vec *nodes, struct wndl_block *block)
{
    enum { KIND_WAITING = 1, KINDS = 2 };
    struct wndl_fields_span span = wndl_get_span(c);
    uint64_t last;
    if (c->failed ||
        __builtin_add_overflow(block->start, block->duration, &last) ||
        __builtin_add_overflow(last, span.gap, &block->start) ||
        __builtin_add_overflow(block->start, span.duration, &last))
        return WNDL_MALFORMED;
    block->duration = span.duration;
    block->waiting = span.kind == KIND_WAITING;
    block->node = wndl_reader_known(nodes, span.node);
    block->end = wndl_reader_walk_end(span.end);
    if (block->node == WNDL_NO_INDEX || span.kind >= KINDS) {
        r->p->blocks_lost++;
        return WNDL_OK;
    }
    struct wndl_block *slot = wndl_vec_push(&r->p->blocks);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = *block;
    return WNDL_OK;
}

enum wndl_status wndl_read_blok(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    struct wndl_fields_samp blok = wndl_get_samp(c);
    struct wndl_block block = {.start = blok.time};
    block.thread = wndl_reader_known(&r->threads, blok.thread);
    uint64_t count = wndl_get_list(c, WNDL_LEAST_SPAN);
    if (c->failed || block.thread == WNDL_NO_INDEX) {
        p->blocks_lost += count;
        return WNDL_MALFORMED;
    }
    const struct wndl_thread *of = wndl_vec_at(&p->threads, block.thread);
    const struct wndl_vec *nodes = wndl_vec_at(&r->outside, of->process);
    size_t kept = p->blocks.len;
    uint64_t lost = p->blocks_lost;
    enum wndl_status status = WNDL_OK;
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++)
        status = read_block(r, c, nodes, &block);
    if (status != WNDL_OK) {
        p->blocks.len = kept;
        p->blocks_lost = lost + count;
    }
    return status;
}
