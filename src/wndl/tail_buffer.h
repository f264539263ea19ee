/* SPDX-License-Identifier: MIT */
/*
 * tail_buffer: the last chunks of a recording of bounded size, in memory.
 * An older chunk makes room for a newer one.
 *
 * Invariant: what is kept are the `used` bytes from `start` on, around the
 * end; each chunk behind its size and its count of samples.
 */
#ifndef WNDL_WNDL_TAIL_BUFFER_H
#define WNDL_WNDL_TAIL_BUFFER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_tail_buffer {
    uint8_t *bytes; /* NULL: nothing is kept */
    size_t size;
    size_t start, used;
    uint64_t samples;   /* in it */
    uint64_t discarded; /* samples that are no longer in it */
};

/* Room for `size` bytes, which are used as they are needed. */
bool wndl_tail_buffer_init(struct wndl_tail_buffer *tail, size_t size);
void wndl_tail_buffer_free(struct wndl_tail_buffer *tail);

void wndl_tail_buffer_add(
    struct wndl_tail_buffer *tail, struct wndl_bytes chunk, uint32_t samples);

/*
 * Appends the chunk that stands at `at` to `out` and returns where the next
 * one stands, at tail->used when there is none. The oldest stands at 0.
 */
size_t wndl_tail_buffer_copy(
    const struct wndl_tail_buffer *tail, size_t at, struct wndl_buf *out);

#endif
