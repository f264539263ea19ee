/* SPDX-License-Identifier: MIT */
#include "collect/attach/record.h"

#include "collect/attach/regs.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 8, TRAILER = 24 };

static struct wndl_bytes take_bytes(struct wndl_cursor *c, uint64_t size)
{
    const uint8_t *data = wndl_cursor_take(c, size);
    return (struct wndl_bytes){data, data == NULL ? 0 : (size_t)size};
}

static void read_chain(struct wndl_attach_record *r, struct wndl_cursor *c)
{
    const uint64_t count = wndl_cursor_u64(c);
    if (count > wndl_cursor_left(c) / 8)
        wndl_cursor_fail(c);
    else
        r->chain = take_bytes(c, count * 8);
}

static void read_sample(
    struct wndl_attach_record *r, struct wndl_cursor *c, bool of_kernel)
{
    r->kind = WNDL_ATTACH_SAMPLE;
    r->id = wndl_cursor_u64(c);
    r->pid = wndl_cursor_u32(c);
    r->tid = wndl_cursor_u32(c);
    r->time = wndl_cursor_u64(c);
    if (of_kernel) {
        read_chain(r, c);
        return;
    }
    const uint64_t abi = wndl_cursor_u64(c);
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        r->regs = take_bytes(c, (uint64_t)WNDL_ATTACH_WORDS * 8);
    const uint64_t size = wndl_cursor_u64(c);
    r->stack = take_bytes(c, size);
    const uint64_t copied = size == 0 ? 0 : wndl_cursor_u64(c);
    if (copied < r->stack.size)
        r->stack.size = (size_t)copied;
}

/* The record ends with the thread, the time and the event. */
static void read_trailer(
    struct wndl_attach_record *r, struct wndl_bytes payload)
{
    if (payload.size < TRAILER)
        return;
    struct wndl_cursor c =
        wndl_cursor_at(payload, payload.size - TRAILER, false);
    r->pid = wndl_cursor_u32(&c);
    r->tid = wndl_cursor_u32(&c);
    r->time = wndl_cursor_u64(&c);
    r->id = wndl_cursor_u64(&c);
}

static void read_name(
    struct wndl_attach_record *r, struct wndl_cursor *c, bool is_exec)
{
    r->kind = is_exec ? WNDL_ATTACH_EXEC : WNDL_ATTACH_NAME;
    r->pid = wndl_cursor_u32(c);
    r->tid = wndl_cursor_u32(c);
    for (size_t i = 0; i + 1 < sizeof r->name && wndl_cursor_left(c) != 0;
         i++) {
        r->name[i] = (char)wndl_cursor_u8(c);
        if (r->name[i] == '\0')
            return;
    }
}

static void read_task(
    struct wndl_attach_record *r, struct wndl_cursor *c, bool is_fork)
{
    r->kind = is_fork ? WNDL_ATTACH_FORK : WNDL_ATTACH_EXIT;
    r->pid = wndl_cursor_u32(c);
    r->parent = wndl_cursor_u32(c);
    r->tid = wndl_cursor_u32(c);
    (void)wndl_cursor_u32(c);
    r->time = wndl_cursor_u64(c);
}

static void read_lost(
    struct wndl_attach_record *r, struct wndl_cursor *c, bool has_id)
{
    r->kind = WNDL_ATTACH_LOST;
    if (has_id)
        (void)wndl_cursor_u64(c);
    r->count = wndl_cursor_u64(c);
}

static struct wndl_bytes read_path(struct wndl_cursor *c)
{
    const uint8_t *path = c->next;
    const uint8_t *end = memchr(path, '\0', wndl_cursor_left(c));
    if (end == NULL)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){path, (size_t)(end - path)};
}

/* The device, or a build-id, stands before the inode: both are passed over. */
static void read_map(
    struct wndl_attach_record *r, struct wndl_cursor *c, bool has_build_id)
{
    enum { DEVICE = 8, GENERATION = 8, BUILD_ID = 24 };
    r->kind = WNDL_ATTACH_MAP;
    r->pid = wndl_cursor_u32(c);
    r->tid = wndl_cursor_u32(c);
    r->map.start = wndl_cursor_u64(c);
    r->map.end = r->map.start + wndl_cursor_u64(c);
    r->map.offset = wndl_cursor_u64(c);
    if (has_build_id) {
        wndl_cursor_skip(c, BUILD_ID);
    } else {
        wndl_cursor_skip(c, DEVICE);
        r->map.inode = wndl_cursor_u64(c);
        wndl_cursor_skip(c, GENERATION);
    }
    r->map.executable = (wndl_cursor_u32(c) & PROT_EXEC) != 0;
    (void)wndl_cursor_u32(c); /* flags */
    r->map.path = read_path(c);
}

bool wndl_attach_record_read(
    struct wndl_attach_record *r, struct wndl_bytes bytes, bool of_kernel)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    const uint32_t type = wndl_cursor_u32(&c);
    const uint16_t misc = wndl_cursor_u16(&c);
    (void)wndl_cursor_u16(&c); /* its size */
    const struct wndl_bytes payload =
        wndl_bytes_slice(bytes, HEADER, wndl_cursor_left(&c));
    *r = (struct wndl_attach_record){0};
    if (type == PERF_RECORD_SAMPLE) {
        read_sample(r, &c, of_kernel);
        return !c.failed;
    }
    read_trailer(r, payload);
    if (type == PERF_RECORD_COMM)
        read_name(r, &c, (misc & PERF_RECORD_MISC_COMM_EXEC) != 0);
    else if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT)
        read_task(r, &c, type == PERF_RECORD_FORK);
    else if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
        read_lost(r, &c, type == PERF_RECORD_LOST);
    else if (type == PERF_RECORD_MMAP2)
        read_map(r, &c, (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0);
    return !c.failed;
}
