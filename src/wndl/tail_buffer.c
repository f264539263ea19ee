/* SPDX-License-Identifier: MIT */
#include "wndl/tail_buffer.h"

#include <string.h>
#include <sys/mman.h>

struct head {
    uint32_t size;
    uint32_t samples;
};

bool wndl_tail_buffer_init(struct wndl_tail_buffer *tail, size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    *tail = (struct wndl_tail_buffer){.bytes = bytes, .size = size};
    return true;
}

void wndl_tail_buffer_free(struct wndl_tail_buffer *tail)
{
    if (tail->bytes != NULL)
        munmap(tail->bytes, tail->size);
    tail->bytes = NULL;
}

static void put(struct wndl_tail_buffer *tail, const void *from, size_t size)
{
    size_t at = (tail->start + tail->used) % tail->size;
    size_t first = size < tail->size - at ? size : tail->size - at;
    memcpy(tail->bytes + at, from, first);
    memcpy(tail->bytes, (const uint8_t *)from + first, size - first);
    tail->used += size;
}

static void get(
    const struct wndl_tail_buffer *tail, size_t offset, void *to, size_t size)
{
    size_t at = (tail->start + offset) % tail->size;
    size_t first = size < tail->size - at ? size : tail->size - at;
    memcpy(to, tail->bytes + at, first);
    memcpy((uint8_t *)to + first, tail->bytes, size - first);
}

static void discard_oldest(struct wndl_tail_buffer *tail)
{
    struct head head;
    get(tail, 0, &head, sizeof head);
    tail->start = (tail->start + sizeof head + head.size) % tail->size;
    tail->used -= sizeof head + head.size;
    tail->samples -= head.samples;
    tail->discarded += head.samples;
}

void wndl_tail_buffer_add(
    struct wndl_tail_buffer *tail, struct wndl_bytes chunk, uint32_t samples)
{
    const struct head head = {(uint32_t)chunk.size, samples};
    size_t needed = sizeof head + chunk.size;
    if (needed > tail->size) {
        tail->discarded += samples;
        return;
    }
    while (tail->size - tail->used < needed)
        discard_oldest(tail);
    put(tail, &head, sizeof head);
    put(tail, chunk.data, chunk.size);
    tail->samples += samples;
}

size_t wndl_tail_buffer_copy(const struct wndl_tail_buffer *tail, size_t at,
    struct wndl_buf *out, uint64_t *samples)
{
    struct head head;
    get(tail, at, &head, sizeof head);
    uint8_t *to = wndl_buf_reserve(out, head.size);
    if (to == NULL)
        return tail->used;
    get(tail, at + sizeof head, to, head.size);
    out->size += head.size;
    *samples += head.samples;
    return at + sizeof head + head.size;
}
