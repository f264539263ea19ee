/* SPDX-License-Identifier: MIT */
/*
 * tail_buffer: the last chunks of a recording, in memory of a bounded size. A
 * newer chunk replaces the oldest ones.
 *
 * Invariant: the content is the `used` bytes from `start` on, modulo `size`.
 * Each chunk follows its size and its count of samples.
 */
#ifndef WNDL_WNDL_TAIL_BUFFER_H
#define WNDL_WNDL_TAIL_BUFFER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_tail_buffer {
    uint8_t *bytes; /* NULL: no buffer */
    size_t size;
    size_t start, used;
    uint64_t samples;   /* samples in it */
    uint64_t discarded; /* samples that were overwritten */
};

/*
 * Reserves address space for `size` bytes; pages are used when they are
 * written. False when memory is out. wndl_tail_buffer_free unmaps it; not
 * initialised: all 0.
 */
bool wndl_tail_buffer_init(struct wndl_tail_buffer *tail, size_t size);
void wndl_tail_buffer_free(struct wndl_tail_buffer *tail);

/*
 * Appends a copy of a chunk, which has `samples` samples, and drops the oldest
 * chunks if there is no room.
 */
void wndl_tail_buffer_add(
    struct wndl_tail_buffer *tail, struct wndl_bytes chunk, uint32_t samples);

/*
 * Appends the chunk at offset `at` to `out` and returns the offset of the next
 * one, which is tail->used after the last. The oldest chunk is at 0. Adds the
 * samples of the chunk to *samples.
 */
size_t wndl_tail_buffer_copy(const struct wndl_tail_buffer *tail, size_t at,
    struct wndl_buf *out, uint64_t *samples);

#endif
