/* SPDX-License-Identifier: MIT */
#include "snapshot/live.h"

#include "collect/offcpu/task.h"
#include "collect/proc/proc.h"
#include "os/clock.h"
#include "snapshot/live_thread.h"
#include "snapshot/rights.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAPS_ROOM = 64 * 1024,
    COMMAND_ROOM = 4096,
    CONTENTS_MAX = 64 * 1024,
};

enum wndl_status wndl_live_open(struct wndl_live *live,
    const struct wndl_live_request *request, struct wndl_error *err)
{
    struct wndl_rights rights;
    struct wndl_proc_stat stat;
    wndl_rights_find(&rights, request->pid);
    enum wndl_status status = wndl_rights_check(&rights, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_proc_stat(request->pid, &stat))
        return wndl_fail(
            err, WNDL_NOT_FOUND, "there is no process %d", (int)request->pid);
    *live = (struct wndl_live){.request = *request, .start = stat.start};
    if (!wndl_binaries_init(&live->binaries, "", request->debug_dirs)) {
        wndl_binaries_free(&live->binaries);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    wndl_offcpu_code_init(&live->code, request->pid);
    return WNDL_OK;
}

void wndl_live_close(struct wndl_live *live)
{
    wndl_offcpu_code_free(&live->code);
    wndl_binaries_free(&live->binaries);
}

/* ---- what the process is */

static void join_words(char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
    text[size] = '\0';
}

static void describe(struct wndl_live *live, struct wndl_snapshot *snapshot)
{
    char path[PATH_MAX], command[COMMAND_ROOM];
    const pid_t pid = live->request.pid;
    snapshot->pid = (uint32_t)pid;
    snapshot->machine = live->code.machine;
    if (wndl_proc_link(pid, "exe", path))
        snapshot->executable = wndl_snapshot_text(snapshot, path);
    join_words(command, wndl_proc_command(pid, command, sizeof command - 1));
    snapshot->command = wndl_snapshot_text(snapshot, command);
}

/* The vDSO has no file. Its symbols may be after all that its headers load. */
static struct wndl_bytes read_contents(
    const struct wndl_live_reading *r, uint64_t start)
{
    const uint64_t end = wndl_live_mapped_end(r, start);
    const size_t size = end == 0 ? 0 : (size_t)(end - start);
    if (size == 0 || size > CONTENTS_MAX)
        return (struct wndl_bytes){0};
    uint8_t *bytes = wndl_arena_alloc(&r->snapshot->arena, size);
    if (bytes == NULL || wndl_process_read(r->pid, start, bytes, size) != size)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){bytes, size};
}

static bool add_images(
    struct wndl_live *live, const struct wndl_live_reading *r)
{
    struct wndl_snapshot *snapshot = r->snapshot;
    const struct wndl_offcpu_code *code = &live->code;
    for (size_t i = 0; i < code->count; i++) {
        struct wndl_snapshot_image *image = wndl_vec_push(&snapshot->images);
        struct wndl_binary *binary = code->binaries[i];
        if (image == NULL)
            return false;
        *image = (struct wndl_snapshot_image){
            .path = binary->path,
            .opened = binary->opened,
            .build_id = binary->build_id,
            .module = code->modules[i],
            .binary = binary,
        };
        if (image->opened == NULL)
            image->contents = read_contents(r, image->module.start);
    }
    return true;
}

static bool add_range(void *context, const struct wndl_mapping *mapping)
{
    struct wndl_vec *ranges = context;
    struct wndl_live_range *range = wndl_vec_push(ranges);
    if (range == NULL)
        return false;
    *range = (struct wndl_live_range){mapping->start, mapping->end};
    return true;
}

static bool read_ranges(struct wndl_live_reading *r)
{
    uint8_t room[MAPS_ROOM];
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)r->pid);
    return wndl_maps_each(
        path, (struct wndl_bytes){room, sizeof room}, add_range, &r->ranges);
}

/* ---- its threads */

struct work {
    struct wndl_live *live;
    struct wndl_live_reading *reading;
    struct wndl_vec tids; /* uint32_t */
};

static void note_tid(void *context, uint32_t tid)
{
    struct work *w = context;
    uint32_t *slot = wndl_vec_push(&w->tids);
    if (slot == NULL)
        w->reading->out_of_memory = true;
    else
        *slot = tid;
}

static void read_thread(struct work *w, uint32_t tid)
{
    char name[WNDL_TASK_TEXT];
    const struct wndl_live_request *request = &w->live->request;
    struct wndl_snapshot *snapshot = w->reading->snapshot;
    const struct wndl_task task = {request->pid, (pid_t)tid};
    if (!wndl_task_read(&task, "comm", name)) {
        snapshot->ended_meanwhile++;
        return;
    }
    if (!request->is_wanted(request->context, tid, name))
        return;
    struct wndl_snapshot_thread thread = {
        .tid = tid, .name = wndl_snapshot_text(snapshot, name)};
    if (!wndl_live_thread_read(w->reading, &task, &thread)) {
        snapshot->ended_meanwhile++;
        return;
    }
    struct wndl_snapshot_thread *slot = wndl_vec_push(&snapshot->threads);
    if (slot == NULL)
        w->reading->out_of_memory = true;
    else
        *slot = thread;
}

/* A thread of ours: when it ends, the kernel lets go of what it stopped. */
static void *read_threads(void *context)
{
    struct work *w = context;
    for (size_t i = 0; i < w->tids.len && !w->reading->out_of_memory; i++)
        read_thread(w, *(const uint32_t *)wndl_vec_at(&w->tids, i));
    return NULL;
}

static enum wndl_status run_worker(struct work *w, struct wndl_error *err)
{
    pthread_t worker;
    sigset_t child, old;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &old);
    int error = pthread_create(&worker, NULL, read_threads, w);
    if (error == 0)
        pthread_join(worker, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error == 0 ? WNDL_OK
                      : wndl_fail_errno(err, error, "cannot start a thread");
}

static enum wndl_status read_all(struct work *w, struct wndl_error *err)
{
    int folder = wndl_offcpu_task_folder(w->live->request.pid);
    if (folder < 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "process %d has ended",
            (int)w->live->request.pid);
    bool is_listed = wndl_offcpu_task_each(folder, note_tid, w);
    close(folder);
    if (!is_listed)
        return wndl_fail(err, WNDL_NOT_FOUND, "process %d has ended",
            (int)w->live->request.pid);
    enum wndl_status status = run_worker(w, err);
    if (status == WNDL_OK && w->reading->out_of_memory)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return status;
}

/*
 * The process of that number may be another by now. One that has ended keeps
 * the number until its parent asks; its first thread alone may also end before
 * the others.
 */
static bool is_still_there(const struct work *w)
{
    struct wndl_proc_stat stat;
    return wndl_proc_stat(w->live->request.pid, &stat) &&
           stat.start == w->live->start &&
           (stat.state != 'Z' || w->tids.len > 1);
}

static enum wndl_status start_reading(struct wndl_live *live,
    struct wndl_snapshot *snapshot, struct wndl_live_reading *r)
{
    live->code.is_stale = true;
    (void)wndl_offcpu_code_refresh(&live->code, &live->binaries,
        live->request.pid, wndl_clock_monotonic_ns());
    describe(live, snapshot);
    snapshot->binaries = &live->binaries;
    r->snapshot = snapshot;
    r->pid = live->request.pid;
    r->wait_ns = live->request.wait_ns;
    r->max_frames = live->request.max_frames;
    r->frames =
        wndl_arena_calloc(&snapshot->arena, r->max_frames, sizeof *r->frames);
    wndl_vec_init(&r->ranges, &snapshot->arena, sizeof(struct wndl_live_range));
    if (!read_ranges(r))
        return WNDL_NOT_FOUND;
    bool is_whole = add_images(live, r) && r->frames != NULL;
    r->modules = wndl_snapshot_modules(snapshot);
    return is_whole && r->modules != NULL ? WNDL_OK : WNDL_NOMEM;
}

enum wndl_status wndl_live_read(struct wndl_live *live,
    struct wndl_snapshot *snapshot, struct wndl_error *err)
{
    struct wndl_live_reading *reading =
        wndl_arena_alloc(&snapshot->arena, sizeof *reading);
    struct work w = {live, reading, {0}};
    wndl_vec_init(&w.tids, &snapshot->arena, sizeof(uint32_t));
    enum wndl_status status =
        reading == NULL ? WNDL_NOMEM : start_reading(live, snapshot, reading);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (status == WNDL_OK)
        status = read_all(&w, err);
    if (status != WNDL_NOT_FOUND && (status != WNDL_OK || is_still_there(&w)))
        return status;
    return wndl_fail(
        err, WNDL_NOT_FOUND, "process %d has ended", (int)live->request.pid);
}
