/* SPDX-License-Identifier: MIT */
/*
 * cache_file: answers about one binary as bytes (docs/formats/symbol-cache.md).
 * What it must not know: where such bytes are kept.
 */
#ifndef WNDL_SYMBOLIZE_FILES_CACHE_FILE_H
#define WNDL_SYMBOLIZE_FILES_CACHE_FILE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/intern.h"
#include "base/status.h"
#include "base/vec.h"

#include <windlass/symbolize.h>

enum {
    WNDL_CACHE_VERSION = 1,
    WNDL_CACHE_BUILD_ID_MAX = 64,
    WNDL_CACHE_SIZE_MAX = 256 * 1024 * 1024,
};

/* What the answers are about. */
struct wndl_cache_key {
    uint8_t build_id[WNDL_CACHE_BUILD_ID_MAX]; /* zeros behind its end */
    uint32_t build_id_size;                    /* > 0 */
    uint64_t sources; /* a hash of what answers are from */
};

/* ---- reading */

/* All zeros, it has no answers. Borrows the bytes it was read from. */
struct wndl_cache_file {
    struct wndl_bytes answers;
    struct wndl_bytes frames;
    struct wndl_bytes strings;
    uint32_t count; /* of answers */
};

/*
 * Checks all of `bytes`, which must outlive *file. UNSUPPORTED for another
 * version's, MALFORMED and TRUNCATED, with the offset, for damage and for
 * what is about something else than `key`; *file has no answers then.
 */
enum wndl_status wndl_cache_file_read(struct wndl_bytes bytes,
    const struct wndl_cache_key *key, struct wndl_cache_file *file,
    struct wndl_error *err) WNDL_MUST_USE;

/* One answer: its frames are [first, first + count) of the file. */
struct wndl_cache_answer {
    uint64_t rva;
    uint32_t first;
    uint32_t count;
};

/* In ascending order of rva; `index` is below the count. */
struct wndl_cache_answer wndl_cache_file_answer(
    const struct wndl_cache_file *file, uint32_t index);

/* False when there is no answer for `rva`. */
bool wndl_cache_file_find(const struct wndl_cache_file *file, uint64_t rva,
    struct wndl_cache_answer *answer);

/* Fills `frames`, answer->count of them; their strings are in the file. */
void wndl_cache_file_frames(const struct wndl_cache_file *file,
    const struct wndl_cache_answer *answer, struct wndl_symbol_frame *frames);

/* ---- writing */

/* What was added so far, as bytes. Memory failure is sticky. */
struct wndl_cache_writer {
    struct wndl_buf answers;
    struct wndl_buf frames;
    struct wndl_buf strings;
    struct wndl_intern seen; /* of what is in `strings` */
    struct wndl_vec starts;  /* uint32_t: where each of `seen` begins there */
};

/*
 * `arena` is free to be given back after wndl_cache_writer_free only. False
 * when memory is out; to be freed in any case.
 */
bool wndl_cache_writer_init(
    struct wndl_cache_writer *writer, struct wndl_arena *arena);
void wndl_cache_writer_free(struct wndl_cache_writer *writer);

/* The next one, in ascending order of rva. */
void wndl_cache_writer_add(struct wndl_cache_writer *writer, uint64_t rva,
    const struct wndl_symbols *answer);

/*
 * Appends the whole file to `out`. LIMIT when it would be larger than
 * WNDL_CACHE_SIZE_MAX, NOMEM.
 */
enum wndl_status wndl_cache_writer_finish(
    const struct wndl_cache_writer *writer, const struct wndl_cache_key *key,
    struct wndl_buf *out) WNDL_MUST_USE;

#endif
