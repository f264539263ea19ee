/* SPDX-License-Identifier: MIT */
#include "rec/ring.h"

#include <string.h>

enum { MASK = WNDL_RING_BYTES - 1 };

bool wndl_ring_put(struct wndl_ring *ring, const void *record, size_t size)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (size > WNDL_RING_BYTES - (size_t)(head - tail))
        return false;
    size_t at = head & MASK;
    size_t first = size < WNDL_RING_BYTES - at ? size : WNDL_RING_BYTES - at;
    memcpy(ring->data + at, record, first);
    memcpy(ring->data, (const uint8_t *)record + first, size - first);
    atomic_store_explicit(&ring->head, head + size, memory_order_release);
    return true;
}

size_t wndl_ring_peek(const struct wndl_ring *ring, uint64_t tail, uint8_t *to)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (head - tail > WNDL_RING_BYTES)
        return 0;
    size_t size = (size_t)(head - tail);
    size_t at = tail & MASK;
    size_t first = size < WNDL_RING_BYTES - at ? size : WNDL_RING_BYTES - at;
    memcpy(to, ring->data + at, first);
    memcpy(to + first, ring->data, size - first);
    return size;
}
