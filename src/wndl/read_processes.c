/* SPDX-License-Identifier: MIT */
/* read_processes: the chunks about the recording, its processes, their threads
 * and images. */
#include "wndl/fields.h"
#include "wndl/reader.h"

static enum wndl_status read_arguments(
    struct wndl_reader *r, struct wndl_cursor *c, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct wndl_bytes text = wndl_get_argument(c).text;
        struct wndl_bytes *argument = wndl_vec_push(&r->p->arguments);
        if (argument == NULL || !wndl_profile_text(r->p, text, argument))
            return WNDL_NOMEM;
    }
    return c->failed ? WNDL_MALFORMED : WNDL_OK;
}

enum wndl_status wndl_read_meta(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    struct wndl_fields_meta meta = wndl_get_meta(c);
    uint64_t count = wndl_get_list(c, WNDL_LEAST_ARGUMENT);
    if (c->failed || r->has_meta)
        return WNDL_MALFORMED;
    r->has_meta = true;
    p->time_base = meta.time_base;
    p->realtime = meta.realtime;
    p->interval = meta.interval;
    p->engine = wndl_reader_narrow(meta.engine);
    p->kernel_sampled = (meta.flags & WNDL_META_KERNEL_SAMPLED) != 0;
    p->kernel_stacks = (meta.flags & WNDL_META_KERNEL_STACKS) != 0;
    p->by_ticks = (meta.flags & WNDL_META_BY_TICKS) != 0;
    if (!wndl_profile_text(p, meta.version, &p->recorder_version) ||
        !wndl_profile_text(p, meta.host, &p->host) ||
        !wndl_profile_text(p, meta.cwd, &p->cwd))
        return WNDL_NOMEM;
    enum wndl_status status = read_arguments(r, c, count);
    struct wndl_fields_meta_end end = wndl_get_meta_end(c);
    p->max_frames = wndl_reader_narrow(end.max_frames);
    p->blocked_interval = end.blocked_interval;
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

/* Our index of a parent that the file has as `parent`. */
static uint32_t known_parent(const struct wndl_reader *r, uint64_t parent)
{
    return parent == 0 ? WNDL_NO_INDEX
                       : wndl_reader_known(&r->processes, parent - 1);
}

enum wndl_status wndl_read_proc(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_profile *p = r->p;
    struct wndl_fields_proc proc = wndl_get_proc(c);
    if (c->failed || proc.parent > proc.process)
        return WNDL_MALFORMED;
    uint32_t parent = known_parent(r, proc.parent);
    enum wndl_status status =
        wndl_reader_announce(r, &r->processes, proc.process, p->processes.len);
    if (status != WNDL_OK)
        return status;
    struct wndl_process *slot = wndl_vec_push(&p->processes);
    if (slot == NULL)
        return WNDL_NOMEM;
    slot->parent = parent;
    slot->pid = wndl_reader_narrow(proc.pid);
    slot->generation = wndl_reader_narrow(proc.generation);
    slot->start = proc.time;
    slot->age = proc.age;
    if (!wndl_profile_text(p, proc.executable, &slot->executable) ||
        !wndl_profile_text(p, proc.command, &slot->command))
        return WNDL_NOMEM;
    status = add_tree(r, &r->nodes);
    if (status == WNDL_OK)
        status = add_tree(r, &r->outside);
    return status == WNDL_OK ? wndl_reader_no_heap(r) : status;
}

/* A reader shows the last title. */
enum wndl_status wndl_read_titl(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_titl titl = wndl_get_titl(c);
    uint32_t index = wndl_reader_known(&r->processes, titl.process);
    if (c->failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process *process = wndl_vec_at(&r->p->processes, index);
    return wndl_profile_text(r->p, titl.command, &process->command)
               ? WNDL_OK
               : WNDL_NOMEM;
}

enum wndl_status wndl_read_pcpu(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_pcpu pcpu = wndl_get_pcpu(c);
    uint32_t index = wndl_reader_known(&r->processes, pcpu.process);
    if (c->failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process *process = wndl_vec_at(&r->p->processes, index);
    process->loading_cpu = pcpu.loading;
    process->starting_cpu = pcpu.starting;
    return WNDL_OK;
}

static void add_loss(struct wndl_profile *p, uint64_t reason, uint64_t count)
{
    bool named = reason > WNDL_LOST_DAMAGED && reason < WNDL_LOST_OTHER;
    uint64_t *total = &p->lost[named ? reason : WNDL_LOST_OTHER];
    if (__builtin_add_overflow(*total, count, total))
        *total = UINT64_MAX;
}

enum wndl_status wndl_read_pend(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_pend pend = wndl_get_pend(c);
    uint32_t index = wndl_reader_known(&r->processes, pend.process);
    uint64_t count = wndl_get_list(c, WNDL_LEAST_LOSS);
    struct wndl_cursor check = *c;
    for (uint64_t i = 0; i < count; i++)
        (void)wndl_get_loss(&check);
    if (check.failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process *process = wndl_vec_at(&r->p->processes, index);
    process->end = pend.time;
    process->how_ended = pend.how <= 2 ? (uint8_t)pend.how : 0;
    for (uint64_t i = 0; i < count; i++) {
        struct wndl_fields_loss loss = wndl_get_loss(c);
        add_loss(r->p, loss.reason, loss.count);
    }
    return WNDL_OK;
}

static enum wndl_status rename_thread(struct wndl_reader *r, uint32_t index,
    const struct wndl_fields_thrd *again, uint32_t process)
{
    struct wndl_thread *thread = wndl_vec_at(&r->p->threads, index);
    if (thread->process != process ||
        thread->tid != wndl_reader_narrow(again->tid))
        return WNDL_MALFORMED;
    return wndl_profile_text(r->p, again->name, &thread->name) ? WNDL_OK
                                                               : WNDL_NOMEM;
}

enum wndl_status wndl_read_thrd(struct wndl_reader *r, struct wndl_cursor *c)
{
    enum { MAX_THREADS = (1 << 28) - 1 }; /* struct wndl_sample's field */
    struct wndl_profile *p = r->p;
    struct wndl_fields_thrd thrd = wndl_get_thrd(c);
    uint32_t process = wndl_reader_known(&r->processes, thrd.process);
    if (c->failed || process == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    uint32_t index = wndl_reader_known(&r->threads, thrd.thread);
    if (index != WNDL_NO_INDEX)
        return rename_thread(r, index, &thrd, process);
    if (p->threads.len >= MAX_THREADS)
        return WNDL_MALFORMED;
    enum wndl_status status =
        wndl_reader_announce(r, &r->threads, thrd.thread, p->threads.len);
    if (status != WNDL_OK)
        return status;
    struct wndl_thread *slot = wndl_vec_push(&p->threads);
    if (slot == NULL)
        return WNDL_NOMEM;
    slot->process = process;
    slot->tid = wndl_reader_narrow(thrd.tid);
    slot->start = thrd.time;
    return wndl_profile_text(p, thrd.name, &slot->name) ? WNDL_OK : WNDL_NOMEM;
}

/*
 * Our index of the image, which may be known already. If a build was announced
 * with several paths, the last one is kept.
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

enum wndl_status wndl_read_imag(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_imag imag = wndl_get_imag(c);
    if (c->failed || imag.image >= WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    enum wndl_status status = wndl_reader_skip(r, &r->images, imag.image);
    uint32_t index = 0;
    if (status == WNDL_OK)
        status = image_index(r, imag.path, imag.build_id, &index);
    if (status == WNDL_OK)
        status = wndl_reader_announce(r, &r->images, imag.image, index);
    return status;
}

/* Mappings are for information only, but a wrong one counts as damage. */
enum wndl_status wndl_read_mmap(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_mmap m = wndl_get_mmap(c);
    bool right = !c->failed &&
                 wndl_reader_known(&r->processes, m.process) != WNDL_NO_INDEX &&
                 wndl_reader_known(&r->images, m.image) != WNDL_NO_INDEX &&
                 m.start < m.end;
    return right ? WNDL_OK : WNDL_MALFORMED;
}

enum wndl_status wndl_read_mark(struct wndl_reader *r, struct wndl_cursor *c)
{
    enum { MISSED_DEADLINE = 1 };
    struct wndl_fields_mark mark = wndl_get_mark(c);
    uint32_t thread = wndl_reader_known(&r->threads, mark.thread);
    if (c->failed || thread == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_mark *slot = wndl_vec_push(&r->p->marks);
    if (slot == NULL)
        return WNDL_NOMEM;
    slot->thread = thread;
    slot->time = mark.time;
    slot->duration = mark.duration;
    slot->missed_deadline = mark.kind == MISSED_DEADLINE;
    return wndl_profile_text(r->p, mark.text, &slot->text) ? WNDL_OK
                                                           : WNDL_NOMEM;
}

enum wndl_status wndl_read_size(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_size head = wndl_get_size(c);
    uint32_t process = wndl_reader_known(&r->processes, head.process);
    uint64_t count = wndl_get_list(c, WNDL_LEAST_RESIDENT);
    const size_t before = r->p->sizes.len;
    if (process == WNDL_NO_INDEX || !wndl_vec_reserve(&r->p->sizes, count))
        return process == WNDL_NO_INDEX ? WNDL_MALFORMED : WNDL_NOMEM;
    uint64_t time = head.time;
    for (uint64_t i = 0; i < count && !c->failed; i++) {
        const struct wndl_fields_resident fields = wndl_get_resident(c);
        c->failed |= __builtin_add_overflow(time, fields.gap, &time);
        struct wndl_size *size = wndl_vec_push(&r->p->sizes);
        if (size == NULL)
            return WNDL_NOMEM;
        *size = (struct wndl_size){time, fields.bytes, process};
    }
    if (c->failed)
        r->p->sizes.len = before;
    return c->failed ? WNDL_MALFORMED : WNDL_OK;
}

enum wndl_status wndl_read_tend(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_tend tend = wndl_get_tend(c);
    uint32_t index = wndl_reader_known(&r->threads, tend.thread);
    if (c->failed || index == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_thread *thread = wndl_vec_at(&r->p->threads, index);
    thread->ended = true;
    thread->end = tend.time;
    thread->unsampled_cpu = tend.cpu;
    return WNDL_OK;
}

enum wndl_status wndl_read_unfo(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_unfo unfo = wndl_get_unfo(c);
    if (c->failed)
        return WNDL_MALFORMED;
    struct wndl_unrecorded_process *slot =
        wndl_vec_push(&r->p->unrecorded_processes);
    if (slot == NULL)
        return WNDL_NOMEM;
    slot->parent = known_parent(r, unfo.parent);
    slot->pid = wndl_reader_narrow(unfo.pid);
    slot->time = unfo.time;
    slot->reason = wndl_reader_narrow(unfo.reason);
    bool kept = wndl_profile_text(r->p, unfo.executable, &slot->executable) &&
                wndl_profile_text(r->p, unfo.command, &slot->command);
    return kept ? WNDL_OK : WNDL_NOMEM;
}

/* If sampling is already paused, or not paused, nothing changes. */
enum wndl_status wndl_read_paus(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_paus paus = wndl_get_paus(c);
    if (c->failed || paus.state > 1)
        return WNDL_MALFORMED;
    if ((paus.state == 1) == r->paused)
        return WNDL_OK;
    r->paused = paus.state == 1;
    struct wndl_vec *pauses = &r->p->pauses;
    if (!r->paused) {
        struct wndl_pause *open = wndl_vec_at(pauses, pauses->len - 1);
        open->end = paus.time > open->start ? paus.time : open->start;
        return WNDL_OK;
    }
    struct wndl_pause *fresh = wndl_vec_push(pauses);
    if (fresh == NULL)
        return WNDL_NOMEM;
    *fresh = (struct wndl_pause){paus.time, paus.time};
    return WNDL_OK;
}

enum wndl_status wndl_read_unwr(struct wndl_reader *r, struct wndl_cursor *c)
{
    const struct wndl_fields_unwr unwr = wndl_get_unwr(c);
    if (c->failed)
        return WNDL_MALFORMED;
    r->p->unwritten.times++;
    r->p->unwritten.duration += unwr.duration;
    r->p->unwritten.samples += unwr.samples;
    return WNDL_OK;
}

/* The number of processes is ignored: we have counted them. */
enum wndl_status wndl_read_done(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_fields_done done = wndl_get_done(c);
    if (c->failed || r->p->finished)
        return WNDL_MALFORMED;
    r->p->finished = true;
    r->p->duration = done.time;
    r->p->status = wndl_reader_narrow(done.status);
    r->p->unrecorded = wndl_reader_narrow(done.unrecorded);
    r->p->discarded = done.discarded;
    r->p->interrupted_calls = done.interrupted_calls;
    r->p->command_cpu = done.cpu;
    return WNDL_OK;
}
