/* SPDX-License-Identifier: MIT */
#include "cli/memlog/dump.h"

#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/memlog/dump_copy.h"
#include "os/clock.h"
#include "os/file.h"
#include "out/event_log.h"

#include <inttypes.h>
#include <string.h>
#include <windlass/memlog_roles.h>

enum { PLAIN = 0 }; /* docs/formats/wndl.md, MARK */

struct dump {
    const struct wndl_event_log *log;
    const char *with; /* NULL: a recording of logs alone */
    struct wndl_arena arena;
    struct wndl_dump_target to;
    struct wndl_vec begun; /* uint32_t: events that have no end yet */
    uint32_t *process_of;  /* by log, index in to.processes; without `with` */
    uint64_t left_out;     /* events of other processes or times */
};

/* ---- times: those of the writer are CLOCK_MONOTONIC */

static uint64_t in_recording(const struct dump *d, uint64_t real)
{
    const uint64_t first = d->to.first;
    return d->to.r.time_base + (real > first ? real - first : 0);
}

static void find_span(struct dump *d)
{
    const struct wndl_event *events = d->log->events.data;
    const size_t count = d->log->events.len;
    d->to.first = count == 0 ? wndl_clock_realtime_ns() : events[0].real;
    d->to.last = count == 0 ? d->to.first : events[count - 1].real;
}

/* A log of an earlier boot may begin before this one's clock does. */
static uint64_t base_of(uint64_t first)
{
    const uint64_t age = wndl_clock_realtime_ns() - first;
    const uint64_t now = wndl_clock_monotonic_ns();
    return age < now ? now - age : 1;
}

/* ---- processes of logs alone */

static bool find_same(const struct dump *d, uint32_t log, uint32_t *process)
{
    const struct wndl_vec *all = &d->log->processes;
    for (uint32_t i = 0; i < log; i++) {
        *process = d->process_of[i];
        if (wndl_event_is_same_process(
                wndl_vec_at(all, i), wndl_vec_at(all, log)))
            return true;
    }
    return false;
}

/* Its parent's number + 1; 0: the parent has no log, or a later one. */
static uint32_t parent_of(const struct dump *d, uint32_t log)
{
    const struct wndl_event_process *p = wndl_vec_at(&d->log->processes, log);
    for (uint32_t i = 0; i < log; i++) {
        const struct wndl_event_process *other =
            wndl_vec_at(&d->log->processes, i);
        if (other->process == p->parent && strcmp(other->boot, p->boot) == 0)
            return d->process_of[i] + 1;
    }
    return 0;
}

static bool add_process(struct dump *d, uint32_t log)
{
    const struct wndl_event_process *p = wndl_vec_at(&d->log->processes, log);
    const struct wndl_recording_process process = {
        .index = (uint32_t)d->to.processes.len,
        .parent = parent_of(d, log),
        .pid = p->process,
        .time = in_recording(d, p->first),
        .executable = p->name,
        .command = p->command,
    };
    d->process_of[log] = process.index;
    wndl_recording_process(&d->to.r, &process);
    return wndl_dump_add_process(&d->to, process.index, p->process,
               wndl_recording_time(&d->to.r, process.time)) != NULL;
}

static bool add_processes(struct dump *d)
{
    const size_t count = d->log->processes.len;
    d->process_of =
        wndl_arena_calloc(&d->arena, count + 1, sizeof *d->process_of);
    if (d->process_of == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        if (find_same(d, i, &same))
            d->process_of[i] = same;
        else if (!add_process(d, i))
            return false;
    }
    return true;
}

/* ---- an event's process and thread */

/* NULL: it is none of the recording, or not of its time. */
static struct wndl_dump_process *process_of(
    const struct dump *d, const struct wndl_event *event)
{
    const struct wndl_event_process *p = wndl_event_process_of(d->log, event);
    if (d->with == NULL)
        return wndl_vec_at(&d->to.processes, d->process_of[event->process]);
    if (event->real < d->to.first || event->real > d->to.last)
        return NULL;
    return wndl_dump_process_at(&d->to, p->process, event->real - d->to.first);
}

/* The thread's number, added if new. Watchers' events are the main thread's. */
static bool find_thread(struct dump *d, const struct wndl_event *event,
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
        .time = in_recording(d, event->real),
        .name = wanted.tid == process->pid
                    ? wndl_event_process_of(d->log, event)->name
                    : "thread"};
    wndl_recording_thread(&d->to.r, &thread);
    return wndl_dump_add_thread(&d->to, &wanted);
}

/* ---- events */

static bool put_mark(struct dump *d, const struct wndl_event *event,
    uint64_t start, uint64_t duration)
{
    const struct wndl_dump_process *process = process_of(d, event);
    struct wndl_buf text;
    uint32_t thread = 0;
    if (process == NULL)
        return true;
    if (!find_thread(d, event, process, &thread))
        return false;
    wndl_buf_init(&text, d->arena.mem);
    wndl_event_put_text(&text, d->log, event);
    const struct wndl_recording_mark mark = {.thread = thread,
        .kind = PLAIN,
        .time = in_recording(d, start),
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
    struct dump *d, const struct wndl_event *event, uint64_t otherwise)
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

static bool add_size(struct dump *d, const struct wndl_event *event,
    struct wndl_dump_process *process)
{
    struct wndl_recording_size *size = wndl_vec_push(&process->sizes);
    if (size == NULL)
        return false;
    size->time = in_recording(d, event->real);
    size->resident =
        event->number_at[0] < 0 ? 0 : (uint64_t)event->number_at[0];
    return true;
}

/* A collection says at its end how long it took. */
static uint64_t start_of(struct dump *d, const struct wndl_event *e)
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

static bool add_event(struct dump *d, uint32_t at)
{
    const struct wndl_event *e = wndl_vec_at(&d->log->events, at);
    struct wndl_dump_process *process = process_of(d, e);
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

static bool add_events(struct dump *d)
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

static void put_sizes(struct dump *d)
{
    for (size_t i = 0; i < d->to.processes.len; i++) {
        const struct wndl_dump_process *p = wndl_vec_at(&d->to.processes, i);
        if (p->sizes.len != 0)
            wndl_recording_sizes(
                &d->to.r, p->number, p->sizes.data, (uint32_t)p->sizes.len);
    }
}

/* ---- the recording */

static bool write_events(struct dump *d, struct wndl_error *err)
{
    if (!add_events(d)) {
        (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
        return false;
    }
    put_sizes(d);
    if (d->left_out != 0)
        wndl_cli_note("%" PRIu64 " events are of other processes or times than "
                      "%s, and left out",
            d->left_out, d->with);
    return true;
}

static bool write_alone(struct dump *d, int fd, struct wndl_error *err)
{
    char name[] = "windlass memlog";
    char *command[] = {name, NULL};
    find_span(d);
    const struct wndl_recording_meta meta = {.engine = WNDL_ENGINE_OUTSIDE,
        .command = command,
        .time_base = base_of(d->to.first),
        .realtime = d->to.first};
    wndl_recording_open(&d->to.r, fd, &meta);
    if (!add_processes(d)) {
        (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
        return false;
    }
    if (!write_events(d, err))
        return false;
    const struct wndl_recording_done done = {.status = WNDL_STATUS_UNKNOWN,
        .processes = (uint32_t)d->to.processes.len,
        .time = in_recording(d, d->to.last)};
    return wndl_recording_close(&d->to.r, &done, err) == WNDL_OK;
}

static bool write_copy(struct dump *d, int fd, struct wndl_error *err)
{
    struct wndl_file file;
    if (wndl_file_open(d->with, &file, err) != WNDL_OK)
        return false;
    const enum wndl_status status =
        wndl_dump_copy(&d->to, fd, file.bytes, d->with, err);
    if (status != WNDL_OK)
        wndl_error_set_file(err, d->with);
    const bool is_whole =
        status == WNDL_OK && write_events(d, err) &&
        wndl_recording_close_with(&d->to.r, d->to.done, err) == WNDL_OK;
    wndl_file_close(&file);
    return is_whole;
}

static bool write_recording(FILE *out, void *context)
{
    struct dump *d = context;
    struct wndl_error err = {0};
    wndl_arena_init(&d->arena, wndl_mem_libc());
    d->to.arena = &d->arena;
    wndl_vec_init(
        &d->to.processes, &d->arena, sizeof(struct wndl_dump_process));
    wndl_vec_init(&d->to.threads, &d->arena, sizeof(struct wndl_dump_thread));
    wndl_vec_init(&d->begun, &d->arena, sizeof(uint32_t));
    const bool is_whole = d->with == NULL ? write_alone(d, fileno(out), &err)
                                          : write_copy(d, fileno(out), &err);
    wndl_recording_free(&d->to.r);
    wndl_arena_free(&d->arena);
    if (!is_whole)
        wndl_cli_fail(&err);
    return is_whole;
}

int wndl_memlog_dump(
    const struct wndl_event_log *log, const char *path, const char *with)
{
    struct dump dump = {.log = log, .with = with};
    const struct wndl_output output = {
        .path = path,
        .write = write_recording,
        .context = &dump,
        .open_with = "windlass export -f firefox",
    };
    return wndl_output_write(&output);
}
