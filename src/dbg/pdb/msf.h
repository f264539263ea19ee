/* SPDX-License-Identifier: MIT */
/*
 * msf: the container of a PDB file: numbered streams, each of which lies in
 * blocks anywhere in the file. The list of free blocks is not read. It must not
 * know what is in a stream.
 *
 * The bytes of a stream are the file's own where its blocks are contiguous,
 * else a copy.
 */
#ifndef WNDL_DBG_PDB_MSF_H
#define WNDL_DBG_PDB_MSF_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* The number that stands for a missing stream. */
enum { WNDL_MSF_NO_STREAM = 0xffff };

struct wndl_msf_stream {
    uint32_t size;         /* bytes; at most the file's */
    const uint8_t *blocks; /* little-endian numbers of 4 bytes */
};

/* An open container. Borrows `file`; the rest is in the arena. */
struct wndl_msf {
    struct wndl_bytes file;
    uint32_t block_size; /* a power of two */
    struct wndl_msf_stream *streams;
    uint32_t stream_count;
};

/* Bytes [offset, offset + size) of a stream. */
struct wndl_msf_range {
    uint64_t offset;
    uint64_t size;
};

/* A part of a stream; `own` is the memory of a copy, or NULL. */
struct wndl_msf_piece {
    struct wndl_bytes bytes;
    uint8_t *own;
};

/* Whether `file` begins as such a file does. */
bool wndl_msf_is(struct wndl_bytes file);

/* Reads the directory. MALFORMED, TRUNCATED, UNSUPPORTED, NOMEM. */
enum wndl_status wndl_msf_open(struct wndl_bytes file, struct wndl_arena *arena,
    struct wndl_msf *msf, struct wndl_error *err) WNDL_MUST_USE;

/* The stream of that number; empty if there is none. */
struct wndl_msf_stream wndl_msf_stream(
    const struct wndl_msf *msf, uint32_t number);

/*
 * The bytes of `range`, as far as they exist. They are in `scratch` if they are
 * not contiguous in the file, and then valid until its next use. Empty where
 * blocks are outside of the file, and when memory is out (scratch->failed).
 */
struct wndl_bytes wndl_msf_read(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range,
    struct wndl_buf *scratch);

/*
 * Loads all of `range`. TRUNCATED, also where blocks are outside of the file;
 * NOMEM. On success the piece ends with wndl_msf_free.
 */
enum wndl_status wndl_msf_load(const struct wndl_msf *msf,
    const struct wndl_msf_stream *stream, struct wndl_msf_range range,
    struct wndl_mem *mem, struct wndl_msf_piece *piece) WNDL_MUST_USE;

/* Frees the memory of a copy. `mem` is that of wndl_msf_load. */
void wndl_msf_free(struct wndl_msf_piece *piece, struct wndl_mem *mem);

#endif
