/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/contents.h"

#include "os/raw.h"
#include "rt/core/read_parts.h"
#include "rt/heap/leaks/follow.h"

#include <string.h>

enum { MOMENT = 5 * 1000 * 1000, MOMENTS = 2000 }; /* ns; 10 s in all */

struct contents {
    struct wndl_rt_areas *areas;
    uint8_t *window;
    uintptr_t *copied;
    size_t used; /* bytes of the window */
    uint32_t filled;
    bool is_left; /* by the collector, or it wants the scan given up */
};

/* ---- windows */

static bool is_taken(const struct contents *c)
{
    return atomic_load(c->areas->wanted->contents_taken) == c->filled;
}

static bool is_given_up(const struct wndl_rt_leak_search *wanted)
{
    return wanted->scan_given_up != NULL &&
           atomic_load(wanted->scan_given_up) == wanted->scan_answers;
}

static void pass_on(struct contents *c)
{
    const struct wndl_rt_leak_search *wanted = c->areas->wanted;
    const long moment[2] = {0, MOMENT};
    if (c->used == 0)
        return;
    wanted->scan->contents_bytes = c->used;
    atomic_store(&wanted->scan->contents_filled, ++c->filled);
    for (int i = 0; i < MOMENTS && !is_taken(c) && !is_given_up(wanted); i++)
        (void)wndl_raw3(SYS_nanosleep, (long)moment, 0, 0);
    c->is_left = !is_taken(c);
    c->used = 0;
}

/* ---- memory */

/* Returns how many bytes of [start, start + size) it read into the window. */
static size_t read_part(struct contents *c, uintptr_t start, size_t size)
{
    uint8_t *to = c->window + c->used;
    size_t got = size;
    switch (wndl_rt_areas_pages_at(c->areas, start, &got)) {
    case WNDL_RT_PAGE_PRESENT:
        memcpy(to, (const void *)start, got);
        return got;
    case WNDL_RT_PAGE_OTHER: {
        const struct iovec part = {
            (void *)start, got < WNDL_RT_COPIED ? got : WNDL_RT_COPIED};
        memset(to, 0, part.iov_len);
        const size_t read =
            wndl_rt_read_parts(c->copied, WNDL_RT_COPIED, &part, 1);
        memcpy(to, c->copied, read);
        return part.iov_len;
    }
    default:
        memset(to, 0, got);
        return got;
    }
}

static void put_memory(struct contents *c, uintptr_t start, size_t size)
{
    while (size != 0 && !c->is_left) {
        const size_t room = WNDL_HEAP_WINDOW - c->used;
        const size_t got = read_part(c, start, size < room ? size : room);
        start += got;
        size -= got;
        c->used += got;
        if (c->used == WNDL_HEAP_WINDOW)
            pass_on(c);
    }
}

/* ---- blocks */

struct sized {
    const struct wndl_rt_leak_search *wanted;
    uint64_t requested;
};

static void find_size(void *context, struct wndl_rt_block *block)
{
    struct sized *s = context;
    if (block->generation == s->wanted->generation &&
        block->site < s->wanted->most_sites)
        s->requested = s->wanted->sites[block->site].requested;
}

static void put_block(struct contents *c, uintptr_t start)
{
    struct sized sized = {.wanted = c->areas->wanted};
    const size_t most = wndl_rt_areas_size_at(c->areas, start);
    (void)wndl_rt_blocks_hold(start, find_size, &sized);
    const size_t size = sized.requested < most ? (size_t)sized.requested : most;
    put_memory(c, start, size / sizeof(uint64_t) * sizeof(uint64_t));
}

void wndl_rt_contents_hand_over(struct wndl_rt_areas *areas, uint8_t *window,
    uint64_t offset, uintptr_t *copied)
{
    const struct wndl_rt_leak_search *wanted = areas->wanted;
    struct contents c = {
        .areas = areas,
        .window = window,
        .copied = copied,
        .filled = atomic_load(wanted->contents_taken),
    };
    wanted->scan->contents_offset = offset;
    for (size_t i = 0; i < areas->heap_count; i++) {
        const struct wndl_rt_block_bitmap *b = &areas->heaps[i]->bitmap;
        uintptr_t start;
        for (uintptr_t at = b->low;
             !c.is_left && wndl_rt_block_bitmap_after(b, at, &start);
             at = start + WNDL_RT_BLOCK_ALIGNMENT)
            put_block(&c, start);
    }
    if (!c.is_left)
        pass_on(&c);
    wanted->scan->has_contents = !c.is_left;
}
