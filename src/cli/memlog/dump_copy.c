/* SPDX-License-Identifier: MIT */
#include "cli/memlog/dump_copy.h"

#include "cli/core/command.h"

#include <inttypes.h>

struct wndl_dump_process *wndl_dump_add_process(
    struct wndl_dump_target *to, uint32_t number, uint32_t pid, uint64_t start)
{
    struct wndl_dump_process *added = wndl_vec_push(&to->processes);
    if (added == NULL)
        return NULL;
    added->number = number;
    added->pid = pid;
    added->start = start;
    wndl_vec_init(&added->sizes, to->arena, sizeof(struct wndl_recording_size));
    return added;
}

bool wndl_dump_add_thread(
    struct wndl_dump_target *to, const struct wndl_dump_thread *thread)
{
    struct wndl_dump_thread *added = wndl_vec_push(&to->threads);
    if (added == NULL)
        return false;
    *added = *thread;
    if (thread->number >= to->next_thread)
        to->next_thread = thread->number + 1;
    return true;
}

/* Pids are used again, by other programs after an exec at least. */
struct wndl_dump_process *wndl_dump_process_at(
    const struct wndl_dump_target *to, uint32_t pid, uint64_t time)
{
    struct wndl_dump_process *found = NULL;
    for (size_t i = 0; i < to->processes.len; i++) {
        struct wndl_dump_process *p = wndl_vec_at(&to->processes, i);
        if (p->pid == pid && (found == NULL || p->start <= time))
            found = p;
    }
    return found;
}

/* ---- the copy */

static void note_events(struct wndl_dump_target *to, uint64_t process)
{
    for (size_t i = 0; i < to->processes.len; i++) {
        struct wndl_dump_process *p = wndl_vec_at(&to->processes, i);
        p->has_events |= p->number == process;
    }
}

static void note_mark(
    struct wndl_dump_target *to, const struct wndl_fields_mark *mark)
{
    for (size_t i = 0; i < to->threads.len && mark->kind == WNDL_MARK_MEMORY;
         i++) {
        const struct wndl_dump_thread *t = wndl_vec_at(&to->threads, i);
        if (t->number == mark->thread)
            note_events(to, t->process);
    }
}

static bool learn(struct wndl_dump_target *to, const struct wndl_chunk *chunk)
{
    struct wndl_cursor c = wndl_cursor_at(chunk->payload, 0, false);
    if (chunk->type == WNDL_CHUNK_META) {
        const struct wndl_fields_meta meta = wndl_get_meta(&c);
        to->r.time_base = meta.time_base;
        to->first = meta.realtime;
    } else if (chunk->type == WNDL_CHUNK_PROC) {
        const struct wndl_fields_proc p = wndl_get_proc(&c);
        return c.failed || wndl_dump_add_process(to, (uint32_t)p.process,
                               (uint32_t)p.pid, p.time) != NULL;
    } else if (chunk->type == WNDL_CHUNK_THRD) {
        const struct wndl_fields_thrd t = wndl_get_thrd(&c);
        const struct wndl_dump_thread thread = {
            (uint32_t)t.thread, (uint32_t)t.process, (uint32_t)t.tid};
        return c.failed || wndl_dump_add_thread(to, &thread);
    } else if (chunk->type == WNDL_CHUNK_MARK) {
        const struct wndl_fields_mark mark = wndl_get_mark(&c);
        note_mark(to, &mark);
    } else if (chunk->type == WNDL_CHUNK_SIZE) {
        note_events(to, wndl_get_size(&c).process);
    } else if (chunk->type == WNDL_CHUNK_DONE) {
        to->last = to->first + wndl_get_done(&c).time;
    }
    return true;
}

static struct wndl_bytes whole_chunk(
    struct wndl_bytes file, const struct wndl_chunk *chunk)
{
    enum { BEFORE = 8 };
    return wndl_bytes_slice(file, chunk->offset - BEFORE,
        chunk->payload.size + WNDL_CHUNK_OVERHEAD);
}

static void note_lost(const struct wndl_chunk_reader *reader, const char *path)
{
    if (reader->damaged != 0)
        wndl_cli_note("%s: %" PRIu32 " damaged parts are left out", path,
            reader->damaged);
    if (reader->cut)
        wndl_cli_note("%s: its end is missing", path);
}

enum wndl_status wndl_dump_copy(struct wndl_dump_target *to, int fd,
    struct wndl_bytes file, const char *path, struct wndl_error *err)
{
    enum { AT_ONCE = 1024 * 1024 };
    struct wndl_chunk_reader reader;
    struct wndl_chunk chunk;
    wndl_recording_continue(&to->r, fd);
    const enum wndl_status status = wndl_chunk_reader_init(&reader, file, err);
    if (status != WNDL_OK)
        return status;
    to->last = UINT64_MAX;
    wndl_buf_add(&to->r.out, file.data, WNDL_FILE_HEADER_SIZE);
    while (wndl_chunk_next(&reader, &chunk)) {
        const struct wndl_bytes whole = whole_chunk(file, &chunk);
        if (!learn(to, &chunk))
            return wndl_fail(err, WNDL_NOMEM, "out of memory");
        if (chunk.type == WNDL_CHUNK_DONE)
            to->done = whole;
        else
            wndl_buf_add(&to->r.out, whole.data, whole.size);
        if (to->r.out.size >= AT_ONCE)
            wndl_recording_flush(&to->r);
    }
    note_lost(&reader, path);
    return WNDL_OK;
}

enum wndl_status wndl_dump_learn(
    struct wndl_dump_target *to, struct wndl_bytes file, struct wndl_error *err)
{
    struct wndl_chunk_reader reader;
    struct wndl_chunk chunk;
    const enum wndl_status status = wndl_chunk_reader_init(&reader, file, err);
    if (status != WNDL_OK)
        return status;
    to->last = UINT64_MAX;
    while (wndl_chunk_next(&reader, &chunk)) {
        if (!learn(to, &chunk))
            return wndl_fail(err, WNDL_NOMEM, "out of memory");
        if (chunk.type == WNDL_CHUNK_DONE)
            to->done = whole_chunk(file, &chunk);
    }
    if (reader.damaged != 0 || reader.cut ||
        to->done.data + to->done.size != file.data + file.size)
        return wndl_fail(err, WNDL_MALFORMED, "the recording is not whole");
    return WNDL_OK;
}
