/* SPDX-License-Identifier: MIT */
#include "wndl/tail_buffer.h"

#include <string.h>
#include <sys/mman.h>

struct head {
    uint32_t size;
    uint32_t samples;
};

bool wndl_keep_init(struct wndl_keep *keep, size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    *keep = (struct wndl_keep){.bytes = bytes, .size = size};
    return true;
}

void wndl_keep_free(struct wndl_keep *keep)
{
    if (keep->bytes != NULL)
        munmap(keep->bytes, keep->size);
    keep->bytes = NULL;
}

static void put(struct wndl_keep *keep, const void *from, size_t size)
{
    size_t at = (keep->start + keep->used) % keep->size;
    size_t first = size < keep->size - at ? size : keep->size - at;
    memcpy(keep->bytes + at, from, first);
    memcpy(keep->bytes, (const uint8_t *)from + first, size - first);
    keep->used += size;
}

static void get(
    const struct wndl_keep *keep, size_t offset, void *to, size_t size)
{
    size_t at = (keep->start + offset) % keep->size;
    size_t first = size < keep->size - at ? size : keep->size - at;
    memcpy(to, keep->bytes + at, first);
    memcpy((uint8_t *)to + first, keep->bytes, size - first);
}

static void discard_oldest(struct wndl_keep *keep)
{
    struct head head;
    get(keep, 0, &head, sizeof head);
    keep->start = (keep->start + sizeof head + head.size) % keep->size;
    keep->used -= sizeof head + head.size;
    keep->samples -= head.samples;
    keep->discarded += head.samples;
}

void wndl_keep_add(
    struct wndl_keep *keep, struct wndl_bytes chunk, uint32_t samples)
{
    const struct head head = {(uint32_t)chunk.size, samples};
    size_t needed = sizeof head + chunk.size;
    if (needed > keep->size) {
        keep->discarded += samples;
        return;
    }
    while (keep->size - keep->used < needed)
        discard_oldest(keep);
    put(keep, &head, sizeof head);
    put(keep, chunk.data, chunk.size);
    keep->samples += samples;
}

size_t wndl_keep_copy(
    const struct wndl_keep *keep, size_t at, struct wndl_buf *out)
{
    struct head head;
    get(keep, at, &head, sizeof head);
    uint8_t *to = wndl_buf_reserve(out, head.size);
    if (to == NULL)
        return keep->used;
    get(keep, at + sizeof head, to, head.size);
    out->size += head.size;
    return at + sizeof head + head.size;
}
