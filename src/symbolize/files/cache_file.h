/* SPDX-License-Identifier: MIT */
/*
 * cache_file: answers about one binary as bytes (docs/formats/symbol-cache.md).
 * It must not know where such bytes are kept.
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

/* The binary and the sources of the answers. */
struct wndl_cache_key {
    uint8_t build_id[WNDL_CACHE_BUILD_ID_MAX]; /* filled up with zeros */
    uint32_t build_id_size;                    /* > 0 */
    uint64_t sources; /* a hash of the files that answers came from */
};

/* ---- reading */

/*
 * An open file; all zeros: it has no answers. Borrows the bytes that it was
 * read from.
 */
struct wndl_cache_file {
    struct wndl_bytes answers;
    struct wndl_bytes frames;
    struct wndl_bytes strings;
    uint32_t count; /* number of answers */
};

/*
 * Checks all of `bytes`, which must outlive *file. UNSUPPORTED for another
 * version; MALFORMED and TRUNCATED, with the offset, for damage and for another
 * key. *file then has no answers.
 */
enum wndl_status wndl_cache_file_read(struct wndl_bytes bytes,
    const struct wndl_cache_key *key, struct wndl_cache_file *file,
    struct wndl_error *err) WNDL_MUST_USE;

/* An answer: its frames are [first, first + count) of the file. */
struct wndl_cache_answer {
    uint64_t rva;
    uint32_t first;
    uint32_t count;
};

/* Answer `index`, below the count; they are in ascending order of rva. */
struct wndl_cache_answer wndl_cache_file_answer(
    const struct wndl_cache_file *file, uint32_t index);

/* Finds the answer for `rva`. False when there is none. */
bool wndl_cache_file_find(const struct wndl_cache_file *file, uint64_t rva,
    struct wndl_cache_answer *answer);

/* Fills `frames`, answer->count of them; their strings point into the file. */
void wndl_cache_file_frames(const struct wndl_cache_file *file,
    const struct wndl_cache_answer *answer, struct wndl_symbol_frame *frames);

/* ---- writing */

/* The answers that were added so far, as bytes. Memory failure is sticky. */
struct wndl_cache_writer {
    struct wndl_buf answers;
    struct wndl_buf frames;
    struct wndl_buf strings;
    struct wndl_intern seen; /* the strings in `strings` */
    struct wndl_vec starts; /* uint32_t: the offset of each of `seen` in them */
};

/*
 * Makes an empty writer. `arena` must outlive wndl_cache_writer_free, which
 * must be called even after a failure. False when memory is out.
 */
bool wndl_cache_writer_init(
    struct wndl_cache_writer *writer, struct wndl_arena *arena);
void wndl_cache_writer_free(struct wndl_cache_writer *writer);

/* Adds the next answer, in ascending order of rva. The strings are copied. */
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
