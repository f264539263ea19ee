/* SPDX-License-Identifier: MIT */
#include "collect/attach/ring.h"

#include "base/mem.h"
#include "collect/attach/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 8 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static struct perf_event_mmap_page *positions_of(
    const struct wndl_attach_ring *ring)
{
    return (void *)ring->map;
}

/* EPERM is what the kernel says if it may not lock as much. */
static bool map_ring(struct wndl_attach_ring *ring, uint64_t size)
{
    void *map = mmap(NULL, page_size() + size, PROT_READ | PROT_WRITE,
        MAP_SHARED, ring->fd, 0);
    if (map == MAP_FAILED) {
        errno = errno == EPERM ? ENOBUFS : errno;
        return false;
    }
    ring->map = map;
    ring->size = size;
    return true;
}

bool wndl_attach_ring_open(
    struct wndl_attach_ring *ring, int cpu, uint64_t size)
{
    *ring = (struct wndl_attach_ring){.cpu = cpu};
    ring->fd = wndl_attach_event_holder(cpu, (uint32_t)(size / 4));
    if (ring->fd < 0)
        return false;
    ring->whole = wndl_mem_zalloc(wndl_mem_libc(), WNDL_ATTACH_RECORD_MAX);
    if (ring->whole != NULL && map_ring(ring, size))
        return true;
    const int why = ring->whole == NULL ? ENOMEM : errno;
    wndl_attach_ring_close(ring);
    errno = why;
    return false;
}

void wndl_attach_ring_close(struct wndl_attach_ring *ring)
{
    if (ring->map != NULL)
        munmap(ring->map, page_size() + ring->size);
    if (ring->fd >= 0)
        close(ring->fd);
    wndl_mem_free(wndl_mem_libc(), ring->whole);
    *ring = (struct wndl_attach_ring){.fd = -1};
}

bool wndl_attach_ring_remap(struct wndl_attach_ring *ring)
{
    ring->map = NULL;
    void *map = mmap(NULL, page_size() + ring->size, PROT_READ | PROT_WRITE,
        MAP_SHARED, ring->fd, 0);
    if (map == MAP_FAILED)
        return false;
    ring->map = map;
    return true;
}

void wndl_attach_ring_look(struct wndl_attach_ring *ring)
{
    ring->head =
        __atomic_load_n(&positions_of(ring)->data_head, __ATOMIC_ACQUIRE);
}

/* Records that make no sense are passed over, all together. */
static struct wndl_bytes give_up(struct wndl_attach_ring *ring)
{
    ring->damaged++;
    wndl_attach_ring_pass(ring, (size_t)(ring->head - ring->tail));
    return (struct wndl_bytes){0};
}

/* Headers are aligned to 8 bytes, so that none goes round the end. */
struct wndl_bytes wndl_attach_ring_next(struct wndl_attach_ring *ring)
{
    const uint64_t left = ring->head - ring->tail;
    const uint8_t *data = ring->map + page_size();
    const size_t at = (size_t)(ring->tail & (ring->size - 1));
    if (left == 0)
        return (struct wndl_bytes){0};
    if (left < HEADER || left > ring->size || ring->size - at < HEADER)
        return give_up(ring);
    const size_t size = wndl_load_u16(data + at + 6);
    if (size < HEADER || size > left)
        return give_up(ring);
    const size_t first = (size_t)(ring->size - at);
    if (size <= first)
        return (struct wndl_bytes){data + at, size};
    memcpy(ring->whole, data + at, first);
    memcpy(ring->whole + first, data, size - first);
    return (struct wndl_bytes){ring->whole, size};
}

void wndl_attach_ring_pass(struct wndl_attach_ring *ring, size_t size)
{
    ring->tail += size;
    __atomic_store_n(
        &positions_of(ring)->data_tail, ring->tail, __ATOMIC_RELEASE);
}
