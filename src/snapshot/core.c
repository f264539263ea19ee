/* SPDX-License-Identifier: MIT */
#include "snapshot/core.h"

#include "snapshot/call.h"
#include "snapshot/core_ctl.h"
#include "snapshot/core_images.h"
#include "snapshot/core_unpack.h"

#include <string.h>

/* ---- opening it */

static bool init(
    struct wndl_core *core, const struct wndl_core_request *request)
{
    *core = (struct wndl_core){.request = *request};
    wndl_arena_init(&core->arena, wndl_mem_libc());
    wndl_vec_init(&core->files, &core->arena, sizeof(struct wndl_file));
    wndl_vec_init(
        &core->images, &core->arena, sizeof(struct wndl_snapshot_image));
    return wndl_binaries_init(&core->binaries, "", request->debug_dirs);
}

/* Maps the file, or what coredumpctl has of a process of that number. */
static enum wndl_status map_core(struct wndl_core *core, struct wndl_error *err)
{
    const char *path = core->request.path;
    if (wndl_core_ctl_is_number(path))
        return wndl_core_ctl_fetch(path, &core->file, err);
    enum wndl_status status = wndl_file_open(path, &core->file, err);
    if (status == WNDL_OK)
        status = wndl_core_unpack(&core->file, &core->damage, err);
    return status;
}

static enum wndl_status read_core(
    struct wndl_core *core, struct wndl_error *err)
{
    enum wndl_status status = wndl_core_file_read(
        &core->headers, &core->arena, core->file.bytes, &core->damage, err);
    if (status == WNDL_OK)
        status = wndl_core_notes_read(
            &core->notes, &core->arena, &core->headers, &core->damage, err);
    if (status != WNDL_OK)
        return status;
    wndl_core_memory_init(&core->memory, &core->arena, &core->headers);
    if (core->notes.threads.len == 0 && core->damage.status != WNDL_OK) {
        *err = core->damage;
        return err->status;
    }
    if (core->notes.threads.len == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "it has no thread (NT_PRSTATUS)");
    if (core->notes.mappings.len == 0 && core->damage.status == WNDL_OK)
        wndl_fail(&core->damage, WNDL_NOT_FOUND,
            "it has no list of mapped files (NT_FILE): its binaries are not "
            "known");
    return WNDL_OK;
}

enum wndl_status wndl_core_open(struct wndl_core *core,
    const struct wndl_core_request *request, struct wndl_error *err)
{
    struct wndl_error own = {0};
    enum wndl_status status = WNDL_NOMEM;
    if (!init(core, request))
        wndl_fail(&own, WNDL_NOMEM, "out of memory");
    else
        status = map_core(core, &own);
    if (status == WNDL_OK)
        status = read_core(core, &own);
    if (status == WNDL_OK)
        status = wndl_core_images_find(core, &own);
    wndl_error_set_file(&core->damage, request->path);
    if (status == WNDL_OK)
        return WNDL_OK;
    if (own.file[0] == '\0')
        wndl_error_set_file(&own, request->path);
    if (err != NULL)
        *err = own;
    wndl_core_close(core);
    return status;
}

void wndl_core_close(struct wndl_core *core)
{
    for (size_t i = 0; i < core->files.len; i++)
        wndl_file_close(wndl_vec_at(&core->files, i));
    wndl_file_close(&core->file);
    wndl_binaries_free(&core->binaries);
    wndl_arena_free(&core->arena);
}

/* ---- walking */

struct reading {
    struct wndl_core *core;
    struct wndl_snapshot *snapshot;
    const struct wndl_remote_module *modules;
    struct wndl_frame *frames;
};

static struct wndl_walk walk_from(
    struct reading *r, const struct wndl_regs *regs)
{
    const struct wndl_remote remote = {
        .read = wndl_core_memory_read,
        .context = &r->core->memory,
        .modules = r->modules,
        .module_count = r->snapshot->images.len,
        .machine = r->snapshot->machine,
    };
    struct wndl_walk walk = {
        .frames = r->frames, .max_frames = r->core->request.max_frames};
    r->core->memory.missing = 0;
    wndl_unwind_remote(&remote, regs, &walk);
    return walk;
}

/* A jump to an address without code, by a pointer that is wrong. */
static bool is_wild(const struct reading *r, uint64_t ip)
{
    const struct wndl_core_segment *segment =
        wndl_core_segment_at(&r->core->headers, ip);
    return wndl_snapshot_image_at(r->snapshot, ip) == NULL &&
           (segment == NULL || !segment->is_executable);
}

/*
 * The unwinder knows calls through a null pointer: the return address is the
 * last push. That is true of any other address that has no code.
 */
static struct wndl_walk walk_thread(
    struct reading *r, const struct wndl_thread_regs *regs)
{
    struct wndl_regs start = wndl_regs_start(regs);
    const uint64_t ip = start.ip;
    if (is_wild(r, ip)) {
        start.ip = 0;
        struct wndl_walk walk = walk_from(r, &start);
        if (walk.count > 1) {
            walk.frames[0].address = ip;
            return walk;
        }
        start.ip = ip;
    }
    return walk_from(r, &start);
}

/* ---- threads */

static void set_state(
    struct reading *r, struct wndl_snapshot_thread *thread, bool got_signal)
{
    const int64_t number = wndl_regs_call(&thread->regs);
    thread->state =
        number < 0 || got_signal ? WNDL_THREAD_RUNNING : WNDL_THREAD_BLOCKED;
    if (number >= 0)
        thread->call = (struct wndl_snapshot_call){.is_known = true,
            .number = (uint64_t)number,
            .name = wndl_call_name(r->snapshot->machine, (uint64_t)number)};
}

/* False without memory. */
static bool read_thread(struct reading *r, size_t index)
{
    const struct wndl_core_notes *notes = &r->core->notes;
    const struct wndl_core_request *request = &r->core->request;
    const struct wndl_core_thread *from = wndl_vec_at(&notes->threads, index);
    const bool is_main = from->tid == r->snapshot->pid;
    const char *name = is_main ? wndl_arena_copy(&r->snapshot->arena,
                                     notes->name.data, notes->name.size)
                               : "";
    if (name == NULL)
        return false;
    if (!request->is_wanted(request->context, from->tid, name))
        return true;
    struct wndl_snapshot_thread *thread = wndl_vec_push(&r->snapshot->threads);
    if (thread == NULL)
        return false;
    thread->tid = from->tid;
    thread->name = name;
    thread->regs = from->regs;
    thread->is_first = index == 0;
    set_state(r, thread, index == 0 && notes->signal.number != 0);
    struct wndl_walk walk = walk_thread(r, &from->regs);
    if (walk.end == WNDL_END_BAD_READ)
        thread->unread = r->core->memory.missing;
    return wndl_snapshot_keep(r->snapshot, thread, &walk);
}

/* ---- the snapshot */

static const char *program_of(const struct wndl_core *core)
{
    for (size_t i = 0; i < core->images.len; i++) {
        const struct wndl_snapshot_image *image = wndl_vec_at(&core->images, i);
        if (core->notes.entry >= image->module.start &&
            core->notes.entry < image->module.end)
            return image->path;
    }
    return "";
}

static bool describe(struct wndl_core *core, struct wndl_snapshot *snapshot)
{
    const struct wndl_core_notes *notes = &core->notes;
    const struct wndl_core_thread *first = wndl_vec_at(&notes->threads, 0);
    const char *command = wndl_arena_copy(
        &snapshot->arena, notes->command.data, notes->command.size);
    snapshot->pid = notes->pid == 0 ? first->tid : notes->pid;
    snapshot->machine = core->headers.machine;
    snapshot->binaries = &core->binaries;
    snapshot->executable = program_of(core);
    snapshot->command = command;
    snapshot->core = core->request.path;
    snapshot->signal = notes->signal;
    snapshot->damage = core->damage;
    return command != NULL;
}

static bool add_images(
    const struct wndl_core *core, struct wndl_snapshot *snapshot)
{
    for (size_t i = 0; i < core->images.len; i++) {
        struct wndl_snapshot_image *image = wndl_vec_push(&snapshot->images);
        if (image == NULL)
            return false;
        *image =
            *(const struct wndl_snapshot_image *)wndl_vec_at(&core->images, i);
    }
    return true;
}

enum wndl_status wndl_core_read(struct wndl_core *core,
    struct wndl_snapshot *snapshot, struct wndl_error *err)
{
    struct reading r = {.core = core, .snapshot = snapshot};
    r.frames = wndl_arena_calloc(
        &snapshot->arena, core->request.max_frames, sizeof *r.frames);
    bool is_whole = r.frames != NULL && describe(core, snapshot) &&
                    add_images(core, snapshot);
    r.modules = is_whole ? wndl_snapshot_modules(snapshot) : NULL;
    is_whole = r.modules != NULL;
    for (size_t i = 0; is_whole && i < core->notes.threads.len; i++)
        is_whole = read_thread(&r, i);
    if (!is_whole)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return WNDL_OK;
}
