/* SPDX-License-Identifier: MIT */
/*
 * ring: bytes from one producer to one consumer through shared memory. The
 * producer may be a signal handler: it never waits, it drops. This file must
 * not know what the bytes mean.
 */
#ifndef WNDL_REC_RING_H
#define WNDL_REC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WNDL_RING_BYTES = 64 * 1024 }; /* a power of two */

/*
 * A ring. Zeroed memory is an empty one. Positions count bytes since the start
 * and never wrap. Invariant: tail <= head <= tail + WNDL_RING_BYTES.
 */
struct wndl_ring {
    _Alignas(64) _Atomic uint64_t head; /* written by the producer only */
    _Alignas(64) _Atomic uint64_t tail; /* written by the consumer only */
    _Alignas(64) uint8_t data[WNDL_RING_BYTES];
};

/*
 * For the producer: puts all of `record`, or nothing if there is no room
 * (false).
 */
bool wndl_ring_put(struct wndl_ring *ring, const void *record, size_t size);

/*
 * For the consumer, which keeps its own `tail`: copies the bytes after it to
 * `to`, which has room for WNDL_RING_BYTES. Returns their number, and 0 if the
 * producer's memory is so damaged that its position cannot be true.
 */
size_t wndl_ring_peek(const struct wndl_ring *ring, uint64_t tail, uint8_t *to);

/* For the consumer: frees everything before `tail`. */
static inline void wndl_ring_release(struct wndl_ring *ring, uint64_t tail)
{
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

#endif
