/* SPDX-License-Identifier: MIT */
#include "cli/memlog/join.h"

#include "cli/core/command.h"
#include "cli/memlog/dump_events.h"
#include "cli/memlog/rings.h"
#include "in/memlog.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is added */

static int compare_pids(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Reads the logs of the recording's processes. */
static bool read_logs(struct wndl_dump *d, struct wndl_rings *rings)
{
    const size_t count = d->to.processes.len;
    uint32_t *pids = wndl_arena_calloc(&d->arena, count + 1, sizeof *pids);
    if (pids == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        pids[i] =
            ((struct wndl_dump_process *)wndl_vec_at(&d->to.processes, i))->pid;
    qsort(pids, count, sizeof *pids, compare_pids);
    rings->is_quiet = true;
    rings->only = pids;
    rings->only_count = count;
    wndl_rings_read_all(rings, 0);
    wndl_memlog_sort(&rings->log);
    d->log = &rings->log;
    return !rings->failed;
}

static uint64_t count_joined(const struct wndl_dump *d)
{
    uint64_t count = 0;
    for (size_t i = 0; i < d->log->events.len; i++)
        count +=
            wndl_dump_process_of(d, wndl_vec_at(&d->log->events, i)) != NULL;
    return count;
}

/*
 * Puts the events where the last chunk was, and that one after them. What does
 * not succeed is undone.
 */
static bool put_joined(
    struct wndl_dump *d, int fd, uint64_t end, struct wndl_error *err)
{
    d->to.r.bytes = end;
    if (wndl_dump_write_events(d, err) &&
        wndl_recording_close_with(&d->to.r, d->to.done, err) == WNDL_OK)
        return true;
    if (pwrite(fd, d->to.done.data, d->to.done.size, (off_t)end) !=
            (ssize_t)d->to.done.size ||
        ftruncate(fd, (off_t)(end + d->to.done.size)) != 0)
        wndl_cli_note("%s: its end is lost", d->with);
    return false;
}

static bool keep_end(struct wndl_dump *d)
{
    const struct wndl_bytes done = d->to.done;
    uint8_t *copy = wndl_arena_alloc(&d->arena, done.size);
    if (copy == NULL)
        return false;
    memcpy(copy, done.data, done.size);
    d->to.done.data = copy;
    return true;
}

/* Learns what the recording has; `end` is where its last chunk begins. */
static bool learn_recording(
    struct wndl_dump *d, int fd, uint64_t *end, struct wndl_error *err)
{
    struct wndl_file file;
    wndl_recording_continue(&d->to.r, fd);
    if (wndl_file_of_descriptor(fd, &file, err) != WNDL_OK)
        return false;
    bool done = wndl_dump_learn(&d->to, file.bytes, err) == WNDL_OK;
    *end = file.bytes.size - d->to.done.size;
    if (done && !keep_end(d)) {
        (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
        done = false;
    }
    wndl_file_close(&file);
    return done;
}

static bool join(
    struct wndl_dump *d, int fd, bool is_quiet, struct wndl_error *err)
{
    struct wndl_rings rings;
    uint64_t end = 0;
    if (!learn_recording(d, fd, &end, err))
        return false;
    wndl_rings_init(&rings);
    bool done = read_logs(d, &rings);
    const uint64_t count = done ? count_joined(d) : 0;
    if (!done)
        (void)wndl_fail(err, WNDL_NOMEM, "out of memory");
    else if (count != 0)
        done = put_joined(d, fd, end, err);
    if (done && count != 0 && !is_quiet)
        wndl_cli_note("%" PRIu64 " event%s of memory event logs %s in %s",
            count, count == 1 ? "" : "s", count == 1 ? "is" : "are", d->with);
    wndl_rings_free(&rings);
    return done;
}

void wndl_memlog_join(const char *path, bool is_quiet)
{
    struct wndl_dump dump = {.with = path};
    struct wndl_error err = {0};
    if (!wndl_rings_exist())
        return;
    wndl_dump_init(&dump);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool done = fd >= 0 && join(&dump, fd, is_quiet, &err);
    if (fd < 0)
        (void)wndl_fail_errno(&err, errno, "cannot open");
    if (!done) {
        char text[600];
        wndl_error_set_file(&err, path);
        wndl_cli_note("the memory event logs are not in the recording: %s",
            wndl_error_text(&err, text, sizeof text));
    }
    if (fd >= 0)
        close(fd);
    wndl_recording_free(&dump.to.r);
    wndl_arena_free(&dump.arena);
}
