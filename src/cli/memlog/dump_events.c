/* SPDX-License-Identifier: MIT */
#include "cli/memlog/dump_events.h"

#include "out/event_log.h"

#include <string.h>
#include <windlass/memlog_roles.h>

/* ---- times: those of the writer are CLOCK_MONOTONIC */

uint64_t wndl_dump_time(const struct wndl_dump *d, uint64_t real)
{
    const uint64_t first = d->to.first;
    return d->to.r.time_base + (real > first ? real - first : 0);
}

/* ---- an event's process and thread */

struct wndl_dump_process *wndl_dump_process_of(
    const struct wndl_dump *d, const struct wndl_event *event)
{
    const struct wndl_event_process *p = wndl_event_process_of(d->log, event);
    if (d->with == NULL)
        return wndl_vec_at(&d->to.processes, d->process_of[event->process]);
    if (event->real < d->to.first || event->real > d->to.last)
        return NULL;
    struct wndl_dump_process *found =
        wndl_dump_process_at(&d->to, p->process, event->real - d->to.first);
    return found == NULL || found->has_events ? NULL : found;
}

/* The thread's number, added if new. Watchers' events are the main thread's. */
static bool find_thread(struct wndl_dump *d, const struct wndl_event *event,
    const struct wndl_dump_process *process, uint32_t *number)
{
    const struct wndl_dump_thread wanted = {.number = d->to.next_thread,
        .process = process->number,
        .tid = event->thread == 0 ? process->pid : event->thread};
    for (size_t i = d->to.threads.len; i-- > 0;) {
        const struct wndl_dump_thread *t = wndl_vec_at(&d->to.threads, i);
        *number = t->number;
        if (t->process == wanted.process && t->tid == wanted.tid)
            return true;
    }
    *number = wanted.number;
    const struct wndl_recording_thread thread = {.process = wanted.process,
        .index = wanted.number,
        .tid = wanted.tid,
        .time = wndl_dump_time(d, event->real),
        .name = wanted.tid == process->pid
                    ? wndl_event_process_of(d->log, event)->name
                    : "thread"};
    wndl_recording_thread(&d->to.r, &thread);
    return wndl_dump_add_thread(&d->to, &wanted);
}

/* ---- events */

static bool put_mark(struct wndl_dump *d, const struct wndl_event *event,
    uint64_t start, uint64_t duration)
{
    const struct wndl_dump_process *process = wndl_dump_process_of(d, event);
    struct wndl_buf text;
    uint32_t thread = 0;
    if (process == NULL)
        return true;
    if (!find_thread(d, event, process, &thread))
        return false;
    wndl_buf_init(&text, d->arena.mem);
    wndl_event_put_text(&text, d->log, event);
    const struct wndl_recording_mark mark = {.thread = thread,
        .kind = WNDL_MARK_MEMORY,
        .time = wndl_dump_time(d, start),
        .duration = duration,
        .text = {text.data, text.size}};
    const bool is_whole = !text.failed;
    if (is_whole)
        wndl_recording_mark(&d->to.r, &mark);
    wndl_buf_free(&text);
    return is_whole;
}

/* The begin of what `event` ends is removed; its time, or `otherwise`. */
static uint64_t begin_of(
    struct wndl_dump *d, const struct wndl_event *event, uint64_t otherwise)
{
    uint32_t *begun = d->begun.data;
    for (size_t i = d->begun.len; i-- > 0;) {
        const struct wndl_event *e = wndl_vec_at(&d->log->events, begun[i]);
        if (e->process != event->process || e->thread != event->thread ||
            e->type != event->type)
            continue;
        memmove(
            &begun[i], &begun[i + 1], (d->begun.len - i - 1) * sizeof *begun);
        d->begun.len--;
        return e->real;
    }
    return otherwise;
}

static bool add_size(struct wndl_dump *d, const struct wndl_event *event,
    struct wndl_dump_process *process)
{
    struct wndl_recording_size *size = wndl_vec_push(&process->sizes);
    if (size == NULL)
        return false;
    size->time = wndl_dump_time(d, event->real);
    size->resident =
        event->number_at[0] < 0 ? 0 : (uint64_t)event->number_at[0];
    return true;
}

/* A collection says at its end how long it took. */
static uint64_t start_of(struct wndl_dump *d, const struct wndl_event *e)
{
    const uint64_t age = e->real > d->to.first ? e->real - d->to.first : 0;
    const uint32_t role = wndl_event_type_of(d->log, e)->role;
    if ((e->flags & WNDL_MEMLOG_END) != 0)
        return begin_of(d, e, e->real);
    if (role != WNDL_MEMLOG_COLLECTION || e->numbers < 3 ||
        e->number_at[2] <= 0)
        return e->real;
    const uint64_t took = (uint64_t)e->number_at[2];
    return e->real - (took < age ? took : age);
}

static bool add_event(struct wndl_dump *d, uint32_t at)
{
    const struct wndl_event *e = wndl_vec_at(&d->log->events, at);
    struct wndl_dump_process *process = wndl_dump_process_of(d, e);
    if (process == NULL) {
        d->left_out++;
        return true;
    }
    if (wndl_event_type_of(d->log, e)->role == WNDL_MEMLOG_REPORT &&
        e->numbers > 0 && !add_size(d, e, process))
        return false;
    if ((e->flags & WNDL_MEMLOG_BEGIN) != 0) {
        uint32_t *begun = wndl_vec_push(&d->begun);
        if (begun != NULL)
            *begun = at;
        return begun != NULL;
    }
    const uint64_t start = start_of(d, e);
    return put_mark(d, e, start, e->real - start);
}

static bool add_events(struct wndl_dump *d)
{
    for (uint32_t i = 0; i < d->log->events.len; i++) {
        if (!add_event(d, i))
            return false;
    }
    for (size_t i = 0; i < d->begun.len; i++) {
        const uint32_t *at = wndl_vec_at(&d->begun, i);
        const struct wndl_event *e = wndl_vec_at(&d->log->events, *at);
        if (!put_mark(d, e, e->real, 0))
            return false;
    }
    return true;
}

static void put_sizes(struct wndl_dump *d)
{
    for (size_t i = 0; i < d->to.processes.len; i++) {
        const struct wndl_dump_process *p = wndl_vec_at(&d->to.processes, i);
        if (p->sizes.len != 0)
            wndl_recording_sizes(
                &d->to.r, p->number, p->sizes.data, (uint32_t)p->sizes.len);
    }
}

/* ---- all of them */

void wndl_dump_init(struct wndl_dump *d)
{
    wndl_arena_init(&d->arena, wndl_mem_libc());
    d->to.arena = &d->arena;
    wndl_vec_init(
        &d->to.processes, &d->arena, sizeof(struct wndl_dump_process));
    wndl_vec_init(&d->to.threads, &d->arena, sizeof(struct wndl_dump_thread));
    wndl_vec_init(&d->begun, &d->arena, sizeof(uint32_t));
}

bool wndl_dump_write_events(struct wndl_dump *d, struct wndl_error *err)
{
    if (!add_events(d)) {
        (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
        return false;
    }
    put_sizes(d);
    return true;
}
