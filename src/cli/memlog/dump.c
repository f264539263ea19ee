/* SPDX-License-Identifier: MIT */
#include "cli/memlog/dump.h"

#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/memlog/dump_events.h"
#include "os/clock.h"
#include "os/file.h"

#include <inttypes.h>
#include <string.h>

/* ---- times */

static void find_span(struct wndl_dump *d)
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

static bool find_same(
    const struct wndl_dump *d, uint32_t log, uint32_t *process)
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
static uint32_t parent_of(const struct wndl_dump *d, uint32_t log)
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

static bool add_process(struct wndl_dump *d, uint32_t log)
{
    const struct wndl_event_process *p = wndl_vec_at(&d->log->processes, log);
    const struct wndl_recording_process process = {
        .index = (uint32_t)d->to.processes.len,
        .parent = parent_of(d, log),
        .pid = p->process,
        .time = wndl_dump_time(d, p->first),
        .executable = p->name,
        .command = p->command,
    };
    d->process_of[log] = process.index;
    wndl_recording_process(&d->to.r, &process);
    return wndl_dump_add_process(&d->to, process.index, p->process,
               wndl_recording_time(&d->to.r, process.time)) != NULL;
}

static bool add_processes(struct wndl_dump *d)
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

/* ---- the recording */

static void note_left_out(const struct wndl_dump *d)
{
    if (d->left_out != 0)
        wndl_cli_note("%" PRIu64 " events are of other processes or times than "
                      "%s, or it has them; they are left out",
            d->left_out, d->with);
}

static bool write_alone(struct wndl_dump *d, int fd, struct wndl_error *err)
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
    if (!wndl_dump_write_events(d, err))
        return false;
    const struct wndl_recording_done done = {.status = WNDL_STATUS_UNKNOWN,
        .processes = (uint32_t)d->to.processes.len,
        .time = wndl_dump_time(d, d->to.last)};
    return wndl_recording_close(&d->to.r, &done, err) == WNDL_OK;
}

static bool write_copy(struct wndl_dump *d, int fd, struct wndl_error *err)
{
    struct wndl_file file;
    if (wndl_file_open(d->with, &file, err) != WNDL_OK)
        return false;
    const enum wndl_status status =
        wndl_dump_copy(&d->to, fd, file.bytes, d->with, err);
    if (status != WNDL_OK)
        wndl_error_set_file(err, d->with);
    const bool is_whole =
        status == WNDL_OK && wndl_dump_write_events(d, err) &&
        wndl_recording_close_with(&d->to.r, d->to.done, err) == WNDL_OK;
    wndl_file_close(&file);
    note_left_out(d);
    return is_whole;
}

static bool write_recording(FILE *out, void *context)
{
    struct wndl_dump *d = context;
    struct wndl_error err = {0};
    wndl_dump_init(d);
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
    struct wndl_dump dump = {.log = log, .with = with};
    const struct wndl_output output = {
        .path = path,
        .write = write_recording,
        .context = &dump,
        .open_with = "windlass view or windlass export -f firefox",
    };
    return wndl_output_write(&output);
}
