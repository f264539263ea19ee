/* SPDX-License-Identifier: MIT */
#include "in/wndl.h"

#include "in/wndl_heap_reader.h"
#include "rec/chunk.h"

/* Bytes that the smallest element of a list takes. */
enum {
    MIN_PAIR = 2,
    MIN_NODE = 4,
    MIN_SAMPLE = 4,
    MIN_BLOCK = 5,
    MIN_ARGUMENT = 1,
};

/* ---- numbers of the file */

uint32_t wndl_reader_known(const struct wndl_vec *map, uint64_t number)
{
    if (number >= map->len)
        return WNDL_NO_INDEX;
    return *(const uint32_t *)wndl_vec_at(map, number);
}

enum wndl_status wndl_reader_skip(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number)
{
    if (number < map->len || number - map->len > r->gap_budget)
        return WNDL_MALFORMED;
    r->gap_budget -= number - map->len;
    while (map->len < number) {
        uint32_t *lost = wndl_vec_push(map);
        if (lost == NULL)
            return WNDL_NOMEM;
        *lost = WNDL_NO_INDEX;
    }
    return WNDL_OK;
}

enum wndl_status wndl_reader_announce(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number, size_t ours)
{
    enum wndl_status status = wndl_reader_skip(r, map, number);
    if (status != WNDL_OK)
        return status;
    uint32_t *slot = wndl_vec_push(map);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = (uint32_t)ours;
    return WNDL_OK;
}

uint64_t wndl_reader_count(struct wndl_cursor *c, unsigned min_size)
{
    uint64_t count = wndl_cursor_uleb(c);
    if (count > wndl_cursor_left(c) / min_size)
        wndl_cursor_fail(c);
    return c->failed ? 0 : count;
}

static uint32_t narrow(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* A field that older minors do not have. */
static uint64_t appended(struct wndl_cursor *c)
{
    return wndl_cursor_left(c) == 0 ? 0 : wndl_cursor_uleb(c);
}

/* ---- one function a chunk type: OK, MALFORMED (the chunk is lost), NOMEM */

static enum wndl_status read_arguments(
    struct wndl_reader *r, struct wndl_cursor *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct wndl_bytes text = wndl_chunk_read_str(c);
        struct wndl_bytes *argument = wndl_vec_push(&r->p->arguments);
        if (argument == NULL || !wndl_profile_text(r->p, text, argument))
            return WNDL_NOMEM;
    }
    return c->failed ? WNDL_MALFORMED : WNDL_OK;
}

static enum wndl_status read_meta(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    uint64_t time_base = wndl_cursor_uleb(c);
    uint64_t realtime = wndl_cursor_uleb(c);
    uint64_t interval = wndl_cursor_uleb(c);
    uint64_t engine = wndl_cursor_uleb(c);
    uint64_t flags = wndl_cursor_uleb(c);
    struct wndl_bytes version = wndl_chunk_read_str(c);
    struct wndl_bytes host = wndl_chunk_read_str(c);
    struct wndl_bytes cwd = wndl_chunk_read_str(c);
    uint64_t count = wndl_reader_count(c, MIN_ARGUMENT);
    if (c->failed || r->has_meta)
        return WNDL_MALFORMED;
    r->has_meta = true;
    p->time_base = time_base;
    p->realtime = realtime;
    p->interval = interval;
    p->engine = narrow(engine);
    p->kernel_sampled = (flags & 1) != 0;
    p->by_ticks = (flags & 2) != 0;
    if (!wndl_profile_text(p, version, &p->recorder_version) ||
        !wndl_profile_text(p, host, &p->host) ||
        !wndl_profile_text(p, cwd, &p->cwd))
        return WNDL_NOMEM;
    enum wndl_status status = read_arguments(r, c, count);
    p->max_frames = narrow(appended(c));
    p->blocked_interval = appended(c);
    return status == WNDL_OK && c->failed ? WNDL_MALFORMED : status;
}

/* The numbers of a tree's nodes: node 0 is the root in every process. */
static enum wndl_status add_tree(struct wndl_reader *r, struct wndl_vec *trees)
{
    struct wndl_vec *nodes = wndl_vec_push(trees);
    if (nodes == NULL)
        return WNDL_NOMEM;
    wndl_vec_init(nodes, &r->scratch, sizeof(uint32_t));
    return wndl_reader_announce(r, nodes, 0, 0);
}

static enum wndl_status read_proc(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    uint64_t number = wndl_cursor_uleb(c);
    uint64_t parent = wndl_cursor_uleb(c);
    struct wndl_process process = {0};
    process.pid = narrow(wndl_cursor_uleb(c));
    process.generation = narrow(wndl_cursor_uleb(c));
    process.start = wndl_cursor_uleb(c);
    process.executable = wndl_chunk_read_str(c);
    process.command = wndl_chunk_read_str(c);
    if (c->failed || parent > number)
        return WNDL_MALFORMED;
    process.parent = parent == 0 ? WNDL_NO_INDEX
                                 : wndl_reader_known(&r->processes, parent - 1);
    enum wndl_status status =
        wndl_reader_announce(r, &r->processes, number, p->processes.len);
    if (status != WNDL_OK)
        return status;
    struct wndl_process *slot = wndl_vec_push(&p->processes);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = process;
    if (!wndl_profile_text(p, process.executable, &slot->executable) ||
        !wndl_profile_text(p, process.command, &slot->command))
        return WNDL_NOMEM;
    status = add_tree(r, &r->nodes);
    if (status == WNDL_OK)
        status = add_tree(r, &r->outside);
    return status == WNDL_OK ? wndl_reader_no_heap(r) : status;
}

static void add_loss(struct wndl_profile *p, uint64_t reason, uint64_t count)
{
    bool named = reason > WNDL_LOST_DAMAGED && reason < WNDL_LOST_OTHER;
    uint64_t *total = &p->lost[named ? reason : WNDL_LOST_OTHER];
    if (__builtin_add_overflow(*total, count, total))
        *total = UINT64_MAX;
}

static enum wndl_status read_pend(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint32_t index = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    uint64_t time = wndl_cursor_uleb(c);
    uint64_t how = wndl_cursor_uleb(c);
    uint64_t count = wndl_reader_count(c, MIN_PAIR);
    struct wndl_cursor check = *c;
    for (uint64_t i = 0; i < 2 * count; i++)
        (void)wndl_cursor_uleb(&check);
    if (check.failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process *process = wndl_vec_at(&r->p->processes, index);
    process->end = time;
    process->how_ended = how <= 2 ? (uint8_t)how : 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t reason = wndl_cursor_uleb(c);
        add_loss(r->p, reason, wndl_cursor_uleb(c));
    }
    return WNDL_OK;
}

static enum wndl_status rename_thread(
    struct wndl_reader *r, uint32_t index, const struct wndl_thread *again)
{
    struct wndl_thread *thread = wndl_vec_at(&r->p->threads, index);
    if (thread->process != again->process || thread->tid != again->tid)
        return WNDL_MALFORMED;
    return wndl_profile_text(r->p, again->name, &thread->name) ? WNDL_OK
                                                               : WNDL_NOMEM;
}

static enum wndl_status read_thrd(struct wndl_reader *r, struct wndl_cursor *c)
{
    enum { MAX_THREADS = (1 << 28) - 1 }; /* struct wndl_sample's field */
    struct wndl_profile *p = r->p;
    uint32_t process = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    uint64_t number = wndl_cursor_uleb(c);
    struct wndl_thread thread = {.process = process};
    thread.tid = narrow(wndl_cursor_uleb(c));
    thread.start = wndl_cursor_uleb(c);
    thread.name = wndl_chunk_read_str(c);
    if (c->failed || process == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    uint32_t index = wndl_reader_known(&r->threads, number);
    if (index != WNDL_NO_INDEX)
        return rename_thread(r, index, &thread);
    if (p->threads.len >= MAX_THREADS)
        return WNDL_MALFORMED;
    enum wndl_status status =
        wndl_reader_announce(r, &r->threads, number, p->threads.len);
    if (status != WNDL_OK)
        return status;
    struct wndl_thread *slot = wndl_vec_push(&p->threads);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = thread;
    return wndl_profile_text(p, thread.name, &slot->name) ? WNDL_OK
                                                          : WNDL_NOMEM;
}

/*
 * Our index of the image, which may be known already. Of the paths that one
 * build was announced by, the last is the one to open.
 */
static enum wndl_status image_index(struct wndl_reader *r,
    struct wndl_bytes path, struct wndl_bytes build_id, uint32_t *index)
{
    bool named = build_id.size == 0;
    struct wndl_bytes what = named ? path : build_id;
    struct wndl_buf key;
    wndl_buf_init(&key, r->p->arena.mem);
    wndl_buf_byte(&key, named);
    wndl_buf_add(&key, what.data, what.size);
    uint32_t id = 0;
    bool kept =
        !key.failed && wndl_intern_add(&r->image_ids,
                           (struct wndl_bytes){key.data, key.size}, &id);
    wndl_buf_free(&key);
    if (!kept)
        return WNDL_NOMEM;
    *index = wndl_reader_known(&r->image_of_id, id);
    if (*index != WNDL_NO_INDEX) {
        struct wndl_image *known = wndl_vec_at(&r->p->images, *index);
        return wndl_profile_text(r->p, path, &known->path) ? WNDL_OK
                                                           : WNDL_NOMEM;
    }
    *index = (uint32_t)r->p->images.len;
    struct wndl_image *image = wndl_vec_push(&r->p->images);
    if (image == NULL || !wndl_profile_text(r->p, path, &image->path) ||
        !wndl_profile_text(r->p, build_id, &image->build_id))
        return WNDL_NOMEM;
    return wndl_reader_announce(r, &r->image_of_id, id, *index);
}

static enum wndl_status read_imag(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint64_t number = wndl_cursor_uleb(c);
    struct wndl_bytes path = wndl_chunk_read_str(c);
    struct wndl_bytes build_id = wndl_chunk_read_str(c);
    if (c->failed || number >= WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    enum wndl_status status = wndl_reader_skip(r, &r->images, number);
    uint32_t index = 0;
    if (status == WNDL_OK)
        status = image_index(r, path, build_id, &index);
    if (status == WNDL_OK)
        status = wndl_reader_announce(r, &r->images, number, index);
    return status;
}

/* Mappings are for information only; a wrong one is damage all the same. */
static enum wndl_status read_mmap(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint32_t process = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    uint32_t image = wndl_reader_known(&r->images, wndl_cursor_uleb(c));
    (void)wndl_cursor_uleb(c); /* time */
    uint64_t start = wndl_cursor_uleb(c);
    uint64_t end = wndl_cursor_uleb(c);
    (void)wndl_cursor_uleb(c); /* bias */
    bool right = !c->failed && process != WNDL_NO_INDEX &&
                 image != WNDL_NO_INDEX && start < end;
    return right ? WNDL_OK : WNDL_MALFORMED;
}

/* A tree being read: its nodes' numbers, and whose it is. */
struct tree {
    struct wndl_vec *nodes;
    uint32_t process;
};

/* One node; `*ours` is WNDL_NO_INDEX when what it hangs on was lost. */
static enum wndl_status read_node(struct wndl_reader *r, struct wndl_cursor *c,
    const struct tree *tree, uint64_t *address, uint32_t *ours)
{
    const struct wndl_vec *nodes = tree->nodes;
    uint64_t number = nodes->len;
    uint64_t distance = wndl_cursor_uleb(c);
    uint64_t flags = wndl_cursor_uleb(c);
    uint64_t image = wndl_cursor_uleb(c);
    *address += (uint64_t)wndl_cursor_sleb(c);
    if (c->failed || distance == 0 || distance > number)
        return WNDL_MALFORMED;
    uint32_t parent = wndl_reader_known(nodes, number - distance);
    struct wndl_frame_key key = {
        .image = image == 0 ? WNDL_NO_INDEX
                            : wndl_reader_known(&r->images, image - 1),
        .process = image == 0 ? tree->process : WNDL_NO_INDEX,
        .interrupted = flags & 1,
        .how = flags >> 1 & 3,
        .address = *address,
    };
    *ours = WNDL_NO_INDEX;
    if (parent == WNDL_NO_INDEX || (image != 0 && key.image == WNDL_NO_INDEX))
        return WNDL_OK;
    uint32_t frame;
    if (!wndl_profile_frame(r->p, key, &frame) ||
        !wndl_profile_node(r->p, parent, frame, ours))
        return WNDL_NOMEM;
    return WNDL_OK;
}

static enum wndl_status read_nodes(
    struct wndl_reader *r, struct wndl_cursor *c, const struct wndl_vec *trees)
{
    uint32_t process = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    uint64_t first = wndl_cursor_uleb(c);
    uint64_t count = wndl_reader_count(c, MIN_NODE);
    if (c->failed || process == WNDL_NO_INDEX || first >= WNDL_NO_INDEX - count)
        return WNDL_MALFORMED;
    struct tree tree = {wndl_vec_at(trees, process), process};
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

static enum wndl_status read_stak(struct wndl_reader *r, struct wndl_cursor *c)
{
    return read_nodes(r, c, &r->nodes);
}

static enum wndl_status read_ostk(struct wndl_reader *r, struct wndl_cursor *c)
{
    return read_nodes(r, c, &r->outside);
}

uint8_t wndl_reader_walk_end(uint64_t end)
{
    return end < WNDL_WALK_OTHER ? (uint8_t)end : WNDL_WALK_OTHER;
}

/* One sample at the end of p->samples, unless its stack was lost. */
static enum wndl_status read_sample(struct wndl_reader *r,
    struct wndl_cursor *c, const struct wndl_vec *nodes,
    struct wndl_sample *sample, uint64_t *lost)
{
    uint64_t passed = wndl_cursor_uleb(c);
    sample->cpu = narrow(wndl_cursor_uleb(c));
    sample->node = wndl_reader_known(nodes, wndl_cursor_uleb(c));
    sample->end = wndl_reader_walk_end(wndl_cursor_uleb(c)) & 15;
    if (c->failed ||
        __builtin_add_overflow(sample->time, passed, &sample->time))
        return WNDL_MALFORMED;
    if (sample->node == WNDL_NO_INDEX) {
        ++*lost;
        return WNDL_OK;
    }
    struct wndl_sample *slot = wndl_vec_push(&r->p->samples);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = *sample;
    return WNDL_OK;
}

static enum wndl_status read_samp(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    uint32_t thread = wndl_reader_known(&r->threads, wndl_cursor_uleb(c));
    struct wndl_sample sample = {.time = wndl_cursor_uleb(c)};
    uint64_t count = wndl_reader_count(c, MIN_SAMPLE);
    if (c->failed || thread == WNDL_NO_INDEX) {
        p->lost[WNDL_LOST_DAMAGED] += count;
        return WNDL_MALFORMED;
    }
    sample.thread = thread & ((1u << 28) - 1);
    const struct wndl_thread *of = wndl_vec_at(&p->threads, thread);
    const struct wndl_vec *nodes = wndl_vec_at(&r->nodes, of->process);
    size_t kept = p->samples.len;
    uint64_t lost = 0;
    enum wndl_status status = WNDL_OK;
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++)
        status = read_sample(r, c, nodes, &sample, &lost);
    if (status != WNDL_OK) {
        p->samples.len = kept;
        lost = count;
    }
    p->lost[WNDL_LOST_DAMAGED] += lost;
    return status;
}

/* One block at the end of p->blocks, unless its stack was lost. */
static enum wndl_status read_block(struct wndl_reader *r, struct wndl_cursor *c,
    const struct wndl_vec *nodes, struct wndl_block *block)
{
    enum { KIND_WAITING = 1, KINDS = 2 };
    uint64_t gap = wndl_cursor_uleb(c);
    uint64_t duration = wndl_cursor_uleb(c);
    uint64_t kind = wndl_cursor_uleb(c);
    uint64_t node = wndl_cursor_uleb(c);
    uint64_t end = wndl_cursor_uleb(c);
    uint64_t last;
    if (c->failed ||
        __builtin_add_overflow(block->start, block->duration, &last) ||
        __builtin_add_overflow(last, gap, &block->start) ||
        __builtin_add_overflow(block->start, duration, &last))
        return WNDL_MALFORMED;
    block->duration = duration;
    block->waiting = kind == KIND_WAITING;
    block->node = wndl_reader_known(nodes, node);
    block->end = wndl_reader_walk_end(end);
    if (block->node == WNDL_NO_INDEX || kind >= KINDS) {
        r->p->blocks_lost++;
        return WNDL_OK;
    }
    struct wndl_block *slot = wndl_vec_push(&r->p->blocks);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = *block;
    return WNDL_OK;
}

static enum wndl_status read_blok(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    struct wndl_block block = {0};
    block.thread = wndl_reader_known(&r->threads, wndl_cursor_uleb(c));
    block.start = wndl_cursor_uleb(c);
    uint64_t count = wndl_reader_count(c, MIN_BLOCK);
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

static enum wndl_status read_mark(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_mark mark = {0};
    mark.thread = wndl_reader_known(&r->threads, wndl_cursor_uleb(c));
    mark.time = wndl_cursor_uleb(c);
    mark.duration = wndl_cursor_uleb(c);
    mark.missed_deadline = wndl_cursor_uleb(c) == 1;
    mark.text = wndl_chunk_read_str(c);
    if (c->failed || mark.thread == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_mark *slot = wndl_vec_push(&r->p->marks);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = mark;
    return wndl_profile_text(r->p, mark.text, &slot->text) ? WNDL_OK
                                                           : WNDL_NOMEM;
}

static enum wndl_status read_tend(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint32_t index = wndl_reader_known(&r->threads, wndl_cursor_uleb(c));
    uint64_t time = wndl_cursor_uleb(c);
    uint64_t cpu = wndl_cursor_uleb(c);
    if (c->failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_thread *thread = wndl_vec_at(&r->p->threads, index);
    thread->ended = true;
    thread->end = time;
    thread->unsampled_cpu = cpu;
    return WNDL_OK;
}

static enum wndl_status read_unfo(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_unfollowed process = {0};
    uint64_t parent = wndl_cursor_uleb(c);
    process.pid = narrow(wndl_cursor_uleb(c));
    process.time = wndl_cursor_uleb(c);
    process.reason = narrow(wndl_cursor_uleb(c));
    process.executable = wndl_chunk_read_str(c);
    process.command = wndl_chunk_read_str(c);
    if (c->failed)
        return WNDL_MALFORMED;
    process.parent = parent == 0 ? WNDL_NO_INDEX
                                 : wndl_reader_known(&r->processes, parent - 1);
    struct wndl_unfollowed *slot = wndl_vec_push(&r->p->unfollowed_processes);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = process;
    bool kept =
        wndl_profile_text(r->p, process.executable, &slot->executable) &&
        wndl_profile_text(r->p, process.command, &slot->command);
    return kept ? WNDL_OK : WNDL_NOMEM;
}

/* Where sampling is paused already, or not at all, nothing changes. */
static enum wndl_status read_paus(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint64_t time = wndl_cursor_uleb(c);
    uint64_t state = wndl_cursor_uleb(c);
    if (c->failed || state > 1)
        return WNDL_MALFORMED;
    if ((state == 1) == r->paused)
        return WNDL_OK;
    r->paused = state == 1;
    struct wndl_vec *pauses = &r->p->pauses;
    if (!r->paused) {
        struct wndl_pause *open = wndl_vec_at(pauses, pauses->len - 1);
        open->end = time > open->start ? time : open->start;
        return WNDL_OK;
    }
    struct wndl_pause *fresh = wndl_vec_push(pauses);
    if (fresh == NULL)
        return WNDL_NOMEM;
    *fresh = (struct wndl_pause){time, time};
    return WNDL_OK;
}

static enum wndl_status read_done(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint64_t time = wndl_cursor_uleb(c);
    uint64_t status = wndl_cursor_uleb(c);
    (void)wndl_cursor_uleb(c); /* processes: we have counted them */
    uint64_t unfollowed = wndl_cursor_uleb(c);
    uint64_t discarded = appended(c);
    uint64_t interrupted_calls = appended(c);
    if (c->failed || r->p->finished)
        return WNDL_MALFORMED;
    r->p->finished = true;
    r->p->duration = time;
    r->p->status = narrow(status);
    r->p->unfollowed = narrow(unfollowed);
    r->p->discarded = discarded;
    r->p->interrupted_calls = interrupted_calls;
    return WNDL_OK;
}

/* ---- the file */

static enum wndl_status read_chunk(
    struct wndl_reader *r, const struct wndl_chunk *chunk)
{
    static const struct {
        uint32_t type;
        enum wndl_status (*read)(struct wndl_reader *r, struct wndl_cursor *c);
    } readers[] = {
        {WNDL_CHUNK_SAMP, read_samp},
        {WNDL_CHUNK_STAK, read_stak},
        {WNDL_CHUNK_META, read_meta},
        {WNDL_CHUNK_PROC, read_proc},
        {WNDL_CHUNK_PEND, read_pend},
        {WNDL_CHUNK_THRD, read_thrd},
        {WNDL_CHUNK_IMAG, read_imag},
        {WNDL_CHUNK_MMAP, read_mmap},
        {WNDL_CHUNK_OSTK, read_ostk},
        {WNDL_CHUNK_BLOK, read_blok},
        {WNDL_CHUNK_MARK, read_mark},
        {WNDL_CHUNK_TEND, read_tend},
        {WNDL_CHUNK_UNFO, read_unfo},
        {WNDL_CHUNK_PAUS, read_paus},
        {WNDL_CHUNK_DONE, read_done},
        {WNDL_CHUNK_HEAP, wndl_read_heap},
        {WNDL_CHUNK_HPAR, wndl_read_hpar},
        {WNDL_CHUNK_HSNP, wndl_read_hsnp},
        {WNDL_CHUNK_HCNT, wndl_read_hcnt},
        {WNDL_CHUNK_HTIM, wndl_read_htim},
        {WNDL_CHUNK_HLEK, wndl_read_hlek},
        {WNDL_CHUNK_HGRO, wndl_read_hgro},
        {WNDL_CHUNK_HWRO, wndl_read_hwro},
        {WNDL_CHUNK_HTOG, wndl_read_htog},
    };
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i].type != chunk->type)
            continue;
        struct wndl_cursor c = wndl_cursor_at(chunk->payload, 0, false);
        if (chunk->type != WNDL_CHUNK_HSNP && chunk->type != WNDL_CHUNK_HCNT)
            r->counting = WNDL_NO_INDEX;
        return readers[i].read(r, &c);
    }
    r->p->chunks_unknown++;
    return WNDL_OK;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Counts how walks ended; returns the last time that anything was seen. */
static uint64_t count_ends(struct wndl_profile *p)
{
    uint64_t last = 0;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++) {
        p->ends[samples[i].end]++;
        last = later(last, samples[i].time);
    }
    const struct wndl_block *blocks = p->blocks.data;
    for (size_t i = 0; i < p->blocks.len; i++) {
        bool walked = blocks[i].node != 0 && !blocks[i].waiting;
        p->block_ends[blocks[i].end] += walked;
        last = later(last, blocks[i].start + blocks[i].duration);
    }
    const struct wndl_process *processes = p->processes.data;
    for (size_t i = 0; i < p->processes.len; i++)
        last = later(last, processes[i].end);
    return later(last, wndl_reader_last_of_heaps(p));
}

/* What the chunks do not say by themselves. */
static void conclude(struct wndl_reader *r)
{
    struct wndl_profile *p = r->p;
    uint64_t last = count_ends(p);
    if (!p->finished)
        p->duration = last;
    struct wndl_process *processes = p->processes.data;
    for (size_t i = 0; i < p->processes.len; i++) {
        if (processes[i].end == 0)
            processes[i].end = p->duration;
    }
    struct wndl_thread *threads = p->threads.data;
    for (size_t i = 0; i < p->threads.len; i++) {
        if (!threads[i].ended)
            threads[i].end = processes[threads[i].process].end;
    }
    if (r->paused) {
        struct wndl_pause *open = wndl_vec_at(&p->pauses, p->pauses.len - 1);
        open->end = later(open->start, p->duration);
    }
    p->unfollowed = p->unfollowed > p->unfollowed_processes.len
                        ? p->unfollowed
                        : narrow(p->unfollowed_processes.len);
}

/* What is read, in parts of whole pages of any size, to the end of `chunk`. */
static void give_up(struct wndl_bytes *mapped, const struct wndl_chunk *chunk)
{
    enum { PART = 4 * 1024 * 1024 };
    const uint8_t *end = chunk->payload.data + chunk->payload.size;
    while (mapped->size != 0 && end - mapped->data >= PART) {
        const struct wndl_file part = {.bytes = {mapped->data, PART}};
        wndl_file_give_up(&part);
        mapped->data += PART;
        mapped->size -= PART;
    }
}

static void note_damage(
    struct wndl_profile *p, uint32_t chunks, uint64_t offset)
{
    if (chunks == 0)
        return;
    if (p->chunks_damaged == 0 || offset < p->damaged_at)
        p->damaged_at = offset;
    p->chunks_damaged += chunks;
}

/* `mapped` is all of the file if it is, else empty. */
static enum wndl_status read_chunks(struct wndl_reader *r,
    struct wndl_chunk_reader *chunks, struct wndl_bytes mapped)
{
    struct wndl_chunk chunk;
    while (wndl_chunk_next(chunks, &chunk)) {
        enum wndl_status status = read_chunk(r, &chunk);
        give_up(&mapped, &chunk);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            note_damage(r->p, 1, chunk.offset);
    }
    note_damage(r->p, chunks->damaged, chunks->damaged_at);
    r->p->cut = chunks->cut;
    wndl_reader_conclude_heaps(r);
    conclude(r);
    return WNDL_OK;
}

static enum wndl_status read_all(struct wndl_profile *p, struct wndl_bytes file,
    struct wndl_bytes mapped, struct wndl_error *err)
{
    struct wndl_chunk_reader chunks;
    enum wndl_status status = wndl_chunk_reader_init(&chunks, file, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_reader r = {
        .p = p, .gap_budget = file.size / MIN_NODE, .counting = WNDL_NO_INDEX};
    wndl_arena_init(&r.scratch, p->arena.mem);
    wndl_vec_init(&r.processes, &r.scratch, sizeof(uint32_t));
    wndl_vec_init(&r.threads, &r.scratch, sizeof(uint32_t));
    wndl_vec_init(&r.images, &r.scratch, sizeof(uint32_t));
    wndl_vec_init(&r.image_of_id, &r.scratch, sizeof(uint32_t));
    wndl_vec_init(&r.nodes, &r.scratch, sizeof(struct wndl_vec));
    wndl_vec_init(&r.outside, &r.scratch, sizeof(struct wndl_vec));
    wndl_vec_init(&r.heaps, &r.scratch, sizeof(struct wndl_heap_reader));
    status = wndl_intern_init(&r.image_ids, &r.scratch)
                 ? read_chunks(&r, &chunks, mapped)
                 : WNDL_NOMEM;
    wndl_arena_free(&r.scratch);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "out of memory");
    return status;
}

enum wndl_status wndl_recording_read(
    struct wndl_profile *p, struct wndl_bytes file, struct wndl_error *err)
{
    return read_all(p, file, (struct wndl_bytes){0}, err);
}

enum wndl_status wndl_recording_read_file(struct wndl_profile *p,
    const struct wndl_file *file, struct wndl_error *err)
{
    return read_all(p, file->bytes, file->bytes, err);
}
