/* SPDX-License-Identifier: MIT */
/* Any bytes as a memory event log: the first ones its head, as it is. */
#include "in/memlog.h"
#include "out/event_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    BLOCKS = WNDL_MEMLOG_LEAST / WNDL_MEMLOG_BLOCK,
    WHOLE = (WNDL_MEMLOG_OWNERS_AT + BLOCKS * 8 + 4095) / 4096 * 4096 +
            WNDL_MEMLOG_LEAST,
};

/*
 * An input is patches of a log of the least size: offset, 4 bytes, their
 * number, 1 byte, and they.
 */
static void patch(uint8_t *log, const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, 0);
    while (wndl_cursor_left(&c) > 5) {
        const uint32_t at = wndl_cursor_u32(&c) % WHOLE;
        const size_t count = wndl_cursor_u8(&c);
        const struct wndl_cursor part = wndl_cursor_sub(&c, count);
        if (!part.failed && count <= WHOLE - at)
            memcpy(log + at, part.next, count);
    }
}

static void make(uint8_t *log)
{
    struct wndl_memlog_ring ring = {
        .version = WNDL_MEMLOG_VERSION,
        .block_slots = WNDL_MEMLOG_BLOCK_SLOTS,
        .blocks = BLOCKS,
        .owned = 4,
        .shared = 4,
    };
    memcpy(ring.magic, WNDL_MEMLOG_MAGIC, sizeof ring.magic);
    memcpy(log, &ring, sizeof ring);
}

static void write_all(const struct wndl_event_log *log)
{
    const struct wndl_event *events = log->events.data;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    for (size_t i = 0; i < log->events.len; i++) {
        wndl_event_put_line(&out, log, &events[i]);
        wndl_event_put_json(&out, log, &events[i]);
    }
    for (size_t i = 0; i < log->processes.len; i++) {
        struct wndl_event_summary summary;
        wndl_event_summarize(log, (uint32_t)i, &summary);
        wndl_event_put_summary(&out, wndl_vec_at(&log->processes, i), &summary);
    }
    wndl_buf_free(&out);
}

static void read_all(struct wndl_bytes bytes)
{
    struct wndl_event_log log;
    wndl_event_log_init(&log, wndl_mem_libc());
    (void)!wndl_memlog_read_ring(&log, bytes, NULL, NULL);
    wndl_memlog_sort(&log);
    write_all(&log);
    wndl_event_log_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *log = calloc(1, WHOLE);
    if (log == NULL)
        return 0;
    read_all((struct wndl_bytes){data, size});
    make(log);
    patch(log, data, size);
    read_all((struct wndl_bytes){log, WHOLE});
    free(log);
    return 0;
}
