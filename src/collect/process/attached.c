/* SPDX-License-Identifier: MIT */
#include "collect/process/attached.h"

#include "collect/offcpu/task.h"
#include "rec/filter.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A sampled thread, and its samples that are not written yet. */
struct sampled {
    uint32_t tid; /* 0: it has ended */
    /* in the recording; of one that has ended, the next free place + 1 */
    uint32_t index;
    bool is_wanted;
    uint64_t begin, time; /* of the first of those samples, of the last one */
    uint32_t count;
    struct wndl_buf bytes;
};

struct wndl_attached {
    const struct wndl_attached_settings *settings;
    struct wndl_attach_walks walks;
    struct wndl_arena arena;
    struct wndl_vec threads; /* struct sampled */
    struct wndl_map by_tid;  /* place in `threads` + 1 */
    size_t free;             /* place + 1 of the last that has ended; 0: none */
};

bool wndl_collector_process_attach(struct wndl_collector_process *p,
    const struct wndl_attached_settings *settings)
{
    struct wndl_attached *a = wndl_mem_zalloc(wndl_mem_libc(), sizeof *a);
    if (a == NULL)
        return false;
    a->settings = settings;
    wndl_attach_walks_init(&a->walks, p->pid, settings->walks, p->recording);
    wndl_arena_init(&a->arena, wndl_mem_libc());
    wndl_vec_init(&a->threads, &a->arena, sizeof(struct sampled));
    wndl_map_init(&a->by_tid, &a->arena);
    p->attached = a;
    return true;
}

void wndl_collector_process_read_code(
    struct wndl_collector_process *p, uint64_t now)
{
    struct wndl_attached *a = p->attached;
    if (a != NULL)
        (void)wndl_offcpu_code_refresh(
            &a->walks.code, a->walks.shared->binaries, p->pid, now);
}

static struct sampled *thread_at(const struct wndl_attached *a, size_t i)
{
    return wndl_vec_at(&a->threads, i);
}

void wndl_collector_process_detach(struct wndl_collector_process *p)
{
    struct wndl_attached *a = p->attached;
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->threads.len; i++)
        wndl_buf_free(&thread_at(a, i)->bytes);
    wndl_attach_walks_free(&a->walks);
    wndl_arena_free(&a->arena);
    wndl_mem_free(wndl_mem_libc(), a);
    p->attached = NULL;
}

void wndl_collector_process_inherit(struct wndl_collector_process *p,
    const struct wndl_collector_process *parent)
{
    if (p->attached == NULL || parent->attached == NULL)
        return;
    wndl_offcpu_code_copy(
        &p->attached->walks.code, &parent->attached->walks.code);
    if (p->executable[0] == '\0')
        memcpy(p->executable, parent->executable, PATH_MAX);
}

/* ---- threads */

/* A thread is announced when it first has a name that is wanted. */
static void name_thread(struct wndl_collector_process *p, struct sampled *s,
    const char *name, uint64_t time)
{
    const struct wndl_filter_thread whom = {p->pid, (int)s->tid, name};
    s->is_wanted = wndl_filter_has(p->attached->settings->wanted, &whom);
    struct wndl_collector_thread *known =
        s->is_wanted ? wndl_collector_thread_of(&p->threads, s->tid, time)
                     : NULL;
    s->is_wanted = known != NULL;
    if (known == NULL)
        return;
    s->index = known->index;
    wndl_collector_thread_name(&p->threads, known, name, time);
}

/* The name is read once; then the kernel reports each new one. */
static void begin_thread(
    struct wndl_collector_process *p, struct sampled *s, uint64_t time)
{
    struct wndl_offcpu_task task;
    char name[16] = "";
    const int folder = wndl_offcpu_task_folder(p->pid);
    wndl_offcpu_task_init(&task, s->tid);
    if (folder >= 0 && !wndl_offcpu_task_name(&task, folder, name))
        name[0] = '\0';
    if (folder >= 0)
        close(folder);
    name_thread(p, s, name, time);
}

/* A new entry; NULL without memory. */
static struct sampled *make_room(struct wndl_attached *a)
{
    const size_t place = a->free;
    struct sampled *s =
        place == 0 ? wndl_vec_push(&a->threads) : thread_at(a, place - 1);
    if (s == NULL)
        return NULL;
    if (place != 0)
        a->free = s->index;
    *s = (struct sampled){0};
    wndl_buf_init(&s->bytes, wndl_mem_libc());
    return s;
}

/* NULL without memory. */
static struct sampled *thread_of(
    struct wndl_collector_process *p, uint32_t tid, uint64_t time)
{
    struct wndl_attached *a = p->attached;
    uint64_t *place = wndl_map_put(&a->by_tid, tid);
    if (place == NULL)
        return NULL;
    if (*place != 0)
        return thread_at(a, *place - 1);
    struct sampled *s = make_room(a);
    if (s == NULL)
        return NULL;
    *place = (size_t)(s - thread_at(a, 0)) + 1;
    s->tid = tid;
    begin_thread(p, s, time);
    return s;
}

/* ---- samples */

static void put_thread(struct wndl_collector_process *p, struct sampled *s)
{
    if (s->count == 0)
        return;
    const struct wndl_recording_series series = {
        .thread = s->index,
        .time = s->begin,
        .count = s->count,
        .bytes = {s->bytes.data, s->bytes.size},
    };
    wndl_recording_series(p->recording, WNDL_CHUNK_SAMP, &series);
    wndl_buf_clear(&s->bytes);
    s->count = 0;
}

void wndl_collector_process_put_samples(struct wndl_collector_process *p)
{
    struct wndl_attached *a = p->attached;
    if (a == NULL)
        return;
    wndl_offcpu_tree_write(&a->walks.tree, p->recording, p->index);
    for (size_t i = 0; i < a->threads.len; i++)
        put_thread(p, thread_at(a, i));
    if (p->lost != NULL)
        wndl_lost_try(p->lost);
}

uint32_t wndl_collector_process_attached_nodes(
    const struct wndl_collector_process *p)
{
    return p->attached == NULL ? 0 : p->attached->walks.tree.written;
}

/* Whether the sample waits for rules of the code that its stack met. */
static bool keep_lost(struct wndl_collector_process *p,
    const struct wndl_lost_sample *sample,
    const struct wndl_attach_walked *walked,
    const struct wndl_attach_record *record)
{
    struct wndl_attach_regs room;
    if (p->lost == NULL || walked->end == WNDL_END_COMPLETE ||
        walked->end == WNDL_END_TRUNCATED)
        return false;
    wndl_lost_take_code(p->lost, &p->attached->walks.code);
    for (size_t i = 0; i < walked->count; i++) {
        const struct wndl_frame *f = &walked->frames[i];
        wndl_lost_meet(p->lost, f->address - !f->interrupted);
    }
    const struct wndl_regs *start =
        wndl_attach_regs_of(record, p->attached->walks.code.machine, &room);
    return start != NULL &&
           wndl_lost_keep_stack(p->lost, sample, start, record->stack);
}

static void add_sample(struct wndl_collector_process *p, struct sampled *s,
    const struct wndl_lost_sample *taken)
{
    if (s->count == 0)
        s->begin = s->time = taken->time;
    const struct wndl_fields_sample sample = {
        .time = taken->time - s->time,
        .cpu = taken->cpu,
        .node = taken->node,
        .end = taken->end,
    };
    wndl_put_sample(&s->bytes, &sample);
    s->count++;
    s->time = taken->time;
    p->totals->samples++;
    p->totals->cpu += taken->cpu;
    p->totals->ends[taken->end % WNDL_WALK_END_COUNT]++;
}

static void take_sample(struct wndl_collector_process *p, struct sampled *s,
    const struct wndl_attach_record *record)
{
    const uint64_t cpu =
        record->cpu != 0 ? record->cpu : p->attached->settings->interval;
    const struct wndl_attach_walked walked =
        wndl_attach_walk(&p->attached->walks, record);
    const struct wndl_lost_sample sample = {
        .time = record->time > s->time ? record->time : s->time,
        .cpu = cpu,
        .thread = s->index,
        .node = walked.node,
        .end = walked.end,
    };
    if (!keep_lost(p, &sample, &walked, record))
        add_sample(p, s, &sample);
    wndl_collector_thread_sampled(&p->threads, s->tid, cpu);
}

/*
 * Another thread may get its number. Where the process is read from outside,
 * that reports the end, with the CPU time up to it.
 */
static void end_thread(struct wndl_collector_process *p, struct sampled *s,
    const struct wndl_attach_record *record)
{
    struct wndl_collector_thread *known =
        s->is_wanted
            ? wndl_collector_thread_of(&p->threads, s->tid, record->time)
            : NULL;
    wndl_offcpu_tree_write(&p->attached->walks.tree, p->recording, p->index);
    put_thread(p, s);
    if (known != NULL && p->offcpu == NULL)
        wndl_collector_thread_end(&p->threads, known, record->time, 0);
    else if (known != NULL)
        known->exit = record->time;
    uint64_t *place = wndl_map_get(&p->attached->by_tid, s->tid);
    if (place != NULL) {
        s->index = (uint32_t)p->attached->free;
        p->attached->free = *place;
        *place = 0;
    }
    wndl_buf_free(&s->bytes);
    s->tid = 0;
}

void wndl_collector_process_forget_code(struct wndl_collector_process *p)
{
    if (p->attached == NULL)
        return;
    p->attached->walks.code.is_stale = true;
    if (p->offcpu != NULL)
        wndl_offcpu_modules_changed(p->offcpu);
}

void wndl_collector_process_record(
    struct wndl_collector_process *p, const struct wndl_attach_record *record)
{
    struct wndl_attached *a = p->attached;
    if (a == NULL || p->gone)
        return;
    if (record->kind == WNDL_ATTACH_MAP) {
        wndl_attach_walks_map(&a->walks, &record->map);
        if (p->offcpu != NULL)
            wndl_offcpu_modules_changed(p->offcpu);
        return;
    }
    /* A thread that is gone by the drain has its name from here alone. */
    const bool is_sample = record->kind == WNDL_ATTACH_SAMPLE;
    const bool begins = is_sample || record->kind == WNDL_ATTACH_NAME;
    const uint64_t *place = wndl_map_get(&a->by_tid, record->tid);
    if (!begins && (place == NULL || *place == 0))
        return;
    struct sampled *s = thread_of(p, record->tid, record->time);
    if (s == NULL)
        p->totals->lost[WNDL_LOSS_THREADS_FULL] += is_sample;
    else if (is_sample && s->is_wanted)
        take_sample(p, s, record);
    else if (record->kind == WNDL_ATTACH_NAME)
        name_thread(p, s, record->name, record->time);
    else if (record->kind == WNDL_ATTACH_EXIT)
        end_thread(p, s, record);
}
