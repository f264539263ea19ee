/* SPDX-License-Identifier: MIT */
#include "collect/memory/outside.h"

#include "collect/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCKS = WNDL_MEMLOG_LEAST / WNDL_MEMLOG_BLOCK,
    NAME = 80,
};

static const struct wndl_memlog_type all_types[WNDL_OUTSIDE_TYPES] = {
    [WNDL_OUTSIDE_RSS] = {"rss", WNDL_MEMLOG_REPORT, 0, {{"swapped", "bytes"}},
        {0, 0}},
    [WNDL_OUTSIDE_PSS] = {"pss", WNDL_MEMLOG_OTHER, 0, {{"pss", "bytes"}},
        {0, 0}},
    [WNDL_OUTSIDE_FAULTS] = {"page faults", WNDL_MEMLOG_OTHER, 0,
        {{"minor", ""}, {"major", ""}, {"in", "ns"}}, {0, 0}},
    [WNDL_OUTSIDE_MAPPED] = {"step", WNDL_MEMLOG_MAPPED, 0, {{NULL, NULL}},
        {0, 0}},
    [WNDL_OUTSIDE_UNMAPPED] = {"step back", WNDL_MEMLOG_UNMAPPED, 0,
        {{NULL, NULL}}, {0, 0}},
    [WNDL_OUTSIDE_CODE] = {"step of code", WNDL_MEMLOG_CODE, 0, {{NULL, NULL}},
        {0, 0}},
    [WNDL_OUTSIDE_LIMIT] = {"cgroup limit", WNDL_MEMLOG_OTHER, 0,
        {{"limit", "bytes"}, {"used", "bytes"}}, {0, 0}},
    [WNDL_OUTSIDE_REFUSED] = {"cgroup limit reached", WNDL_MEMLOG_OTHER, 0,
        {{"times", ""}, {"killed", ""}}, {0, 0}},
    [WNDL_OUTSIDE_NAME] = {"name", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}},
        {0, 0}},
    [WNDL_OUTSIDE_END] = {"end", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}}, {0, 0}},
};

/* ---- the file */

/* The image of a log that a watcher writes: no program's, and its own. */
static uint64_t image_of_watcher(void)
{
    return UINT64_C(0x6f757473) << 32 | (uint32_t)getpid();
}

static struct wndl_memlog_ring *map_new(
    int folder, const char *name, size_t size)
{
    (void)unlinkat(folder, name, 0);
    const int fd = openat(
        folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* Memory for all but types and events: a store must not fail (SIGBUS). */
static bool populate(struct wndl_memlog_ring *ring)
{
    return wndl_memlog_populate_range(ring, WNDL_MEMLOG_TYPES_AT) == 0 &&
           wndl_memlog_populate_range((uint8_t *)ring + WNDL_MEMLOG_OWNERS_AT,
               wndl_memlog_blocks_at(BLOCKS) - WNDL_MEMLOG_OWNERS_AT) == 0;
}

static void name_process(struct wndl_memlog_ring *ring, pid_t pid)
{
    char name[sizeof ring->name + 1] = "";
    (void)wndl_proc_read(pid, "comm", name, sizeof name - 1);
    name[strcspn(name, "\n")] = '\0';
    memset(ring->name, 0, sizeof ring->name);
    memcpy(ring->name, name, strnlen(name, sizeof ring->name - 1));
    ring->command_size = (uint32_t)wndl_proc_read(
        pid, "cmdline", ring->command, sizeof ring->command);
}

static void introduce(
    struct wndl_memlog_ring *ring, pid_t pid, const struct wndl_proc_stat *stat)
{
    name_process(ring, pid);
    ring->process = (uint32_t)pid;
    ring->parent = (uint32_t)stat->parent;
    ring->start = stat->start;
    ring->watcher = (uint32_t)getpid();
}

/* ---- the log */

static const uint32_t no_thread;

static void publish(struct wndl_outside *log, struct wndl_memlog_ring *ring)
{
    log->page = (struct wndl_memlog_page){
        .ring = ring,
        .blocks = (uint8_t *)ring + wndl_memlog_blocks_at(BLOCKS),
        .owners = (void *)((uint8_t *)ring + WNDL_MEMLOG_OWNERS_AT),
        .block_mask = BLOCKS - 1,
        .slot_mask = BLOCKS * WNDL_MEMLOG_BLOCK_SLOTS - 1,
        /* Where the id of the thread would be, there is none. */
        .thread_offset = (long)((uint64_t)(uintptr_t)&no_thread -
                                wndl_memlog_thread_pointer()),
        .stamp = UINT64_C(1) << 32,
        .is_plain = ring->clock == WNDL_MEMLOG_TSC,
        .lane_mask = ring->owned - 1,
        .shared_mask = ring->shared - 1,
        .clock = ring->clock,
        .kept = ring,
    };
    memcpy(log->types, all_types, sizeof log->types);
}

static enum wndl_status name_log(
    int folder, const char *beside, const char *name, struct wndl_error *err)
{
    if (renameat(folder, beside, folder, name) == 0)
        return WNDL_OK;
    const int why = errno;
    (void)unlinkat(folder, beside, 0);
    return wndl_fail_errno(err, why, "cannot make a memory event log");
}

enum wndl_status wndl_outside_open(
    struct wndl_outside *log, int folder, pid_t pid, struct wndl_error *err)
{
    struct wndl_proc_stat stat;
    char name[NAME];
    char beside[NAME + 8];
    const uint64_t image = image_of_watcher();
    if (!wndl_proc_stat(pid, &stat))
        return wndl_fail(err, WNDL_IO, "the process has ended");
    snprintf(name, sizeof name, "%d-%" PRIu64 "-%" PRIx64 ".ring", (int)pid,
        stat.start, image);
    snprintf(beside, sizeof beside, ".%s.new", name);
    log->size = wndl_memlog_blocks_at(BLOCKS) + BLOCKS * WNDL_MEMLOG_BLOCK;
    struct wndl_memlog_ring *ring = map_new(folder, beside, log->size);
    if (ring != NULL && !populate(ring)) {
        munmap(ring, log->size);
        ring = NULL;
        errno = ENOSPC;
    }
    if (ring == NULL) {
        const int why = errno;
        (void)unlinkat(folder, beside, 0);
        return wndl_fail_errno(err, why, "cannot make a memory event log");
    }
    wndl_memlog_fill_ring(ring, BLOCKS, image);
    introduce(ring, pid, &stat);
    publish(log, ring);
    const enum wndl_status status = name_log(folder, beside, name, err);
    if (status != WNDL_OK)
        wndl_outside_close(log);
    return status;
}

void wndl_outside_put(struct wndl_outside *log, enum wndl_outside_type type,
    const int64_t *numbers, unsigned count, const char *text)
{
    const struct wndl_memlog_parts parts = {numbers, text, NULL, count, 0};
    const uint32_t id = wndl_memlog_admit(&log->page, &log->types[type]);
    if (id != 0)
        wndl_memlog_put_parts(&log->page, id, &parts, 0);
}

void wndl_outside_rename(struct wndl_outside *log)
{
    struct wndl_memlog_ring *ring = log->page.ring;
    name_process(ring, (pid_t)ring->process);
    wndl_outside_put(log, WNDL_OUTSIDE_NAME, NULL, 0, ring->name);
}

void wndl_outside_close(struct wndl_outside *log)
{
    if (log->page.ring != NULL)
        munmap(log->page.ring, log->size);
    log->page.ring = NULL;
}
