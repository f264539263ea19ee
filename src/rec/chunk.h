/* SPDX-License-Identifier: MIT */
/*
 * chunk: the frame of a recording (docs/formats/wndl.md). It is a file header
 * and typed chunks, each with its CRC. This file must not know what payloads
 * contain.
 *
 *     struct wndl_chunk_writer w;
 *     wndl_chunk_file_header(&buf);
 *     wndl_chunk_begin(&w, &buf, WNDL_CHUNK_THRD);
 *     wndl_buf_uleb(w.out, process);
 *     ...
 *     wndl_chunk_str(w.out, name);
 *     status = wndl_chunk_finish(&w);
 */
#ifndef WNDL_REC_CHUNK_H
#define WNDL_REC_CHUNK_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

enum {
    WNDL_FILE_MAJOR = 1,
    WNDL_FILE_MINOR = 2,
    WNDL_FILE_HEADER_SIZE = 24,
    WNDL_CHUNK_OVERHEAD = 12, /* type, size and CRC */
    WNDL_CHUNK_MAX = 16 * 1024 * 1024,
};

/* A chunk's type: its four letters as a little-endian u32. */
#define WNDL_CHUNK_TYPE(a, b, c, d)                                            \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 |                \
        (uint32_t)(d) << 24)

#define WNDL_CHUNK_META WNDL_CHUNK_TYPE('M', 'E', 'T', 'A')
#define WNDL_CHUNK_PROC WNDL_CHUNK_TYPE('P', 'R', 'O', 'C')
#define WNDL_CHUNK_PEND WNDL_CHUNK_TYPE('P', 'E', 'N', 'D')
#define WNDL_CHUNK_THRD WNDL_CHUNK_TYPE('T', 'H', 'R', 'D')
#define WNDL_CHUNK_IMAG WNDL_CHUNK_TYPE('I', 'M', 'A', 'G')
#define WNDL_CHUNK_MMAP WNDL_CHUNK_TYPE('M', 'M', 'A', 'P')
#define WNDL_CHUNK_STAK WNDL_CHUNK_TYPE('S', 'T', 'A', 'K')
#define WNDL_CHUNK_SAMP WNDL_CHUNK_TYPE('S', 'A', 'M', 'P')
#define WNDL_CHUNK_OSTK WNDL_CHUNK_TYPE('O', 'S', 'T', 'K')
#define WNDL_CHUNK_BLOK WNDL_CHUNK_TYPE('B', 'L', 'O', 'K')
#define WNDL_CHUNK_MARK WNDL_CHUNK_TYPE('M', 'A', 'R', 'K')
#define WNDL_CHUNK_TEND WNDL_CHUNK_TYPE('T', 'E', 'N', 'D')
#define WNDL_CHUNK_UNFO WNDL_CHUNK_TYPE('U', 'N', 'F', 'O')
#define WNDL_CHUNK_PAUS WNDL_CHUNK_TYPE('P', 'A', 'U', 'S')
#define WNDL_CHUNK_TITL WNDL_CHUNK_TYPE('T', 'I', 'T', 'L')
#define WNDL_CHUNK_PCPU WNDL_CHUNK_TYPE('P', 'C', 'P', 'U')
#define WNDL_CHUNK_UNWR WNDL_CHUNK_TYPE('U', 'N', 'W', 'R')
#define WNDL_CHUNK_SIZE WNDL_CHUNK_TYPE('S', 'I', 'Z', 'E')
#define WNDL_CHUNK_HEAP WNDL_CHUNK_TYPE('H', 'E', 'A', 'P')
#define WNDL_CHUNK_HPAR WNDL_CHUNK_TYPE('H', 'P', 'A', 'R')
#define WNDL_CHUNK_HSNP WNDL_CHUNK_TYPE('H', 'S', 'N', 'P')
#define WNDL_CHUNK_HCNT WNDL_CHUNK_TYPE('H', 'C', 'N', 'T')
#define WNDL_CHUNK_HTIM WNDL_CHUNK_TYPE('H', 'T', 'I', 'M')
#define WNDL_CHUNK_HLEK WNDL_CHUNK_TYPE('H', 'L', 'E', 'K')
#define WNDL_CHUNK_HSCN WNDL_CHUNK_TYPE('H', 'S', 'C', 'N')
#define WNDL_CHUNK_HCON WNDL_CHUNK_TYPE('H', 'C', 'O', 'N')
#define WNDL_CHUNK_HGRO WNDL_CHUNK_TYPE('H', 'G', 'R', 'O')
#define WNDL_CHUNK_HWRO WNDL_CHUNK_TYPE('H', 'W', 'R', 'O')
#define WNDL_CHUNK_HMIX WNDL_CHUNK_TYPE('H', 'M', 'I', 'X')
#define WNDL_CHUNK_HTOG WNDL_CHUNK_TYPE('H', 'T', 'O', 'G')
#define WNDL_CHUNK_HTAG WNDL_CHUNK_TYPE('H', 'T', 'A', 'G')
#define WNDL_CHUNK_HOWN WNDL_CHUNK_TYPE('H', 'O', 'W', 'N')
#define WNDL_CHUNK_HLIB WNDL_CHUNK_TYPE('H', 'L', 'I', 'B')
#define WNDL_CHUNK_HREP WNDL_CHUNK_TYPE('H', 'R', 'E', 'P')
#define WNDL_CHUNK_HFAL WNDL_CHUNK_TYPE('H', 'F', 'A', 'L')
#define WNDL_CHUNK_HMEM WNDL_CHUNK_TYPE('H', 'M', 'E', 'M')
#define WNDL_CHUNK_HWHO WNDL_CHUNK_TYPE('H', 'W', 'H', 'O')
#define WNDL_CHUNK_KSTK WNDL_CHUNK_TYPE('K', 'S', 'T', 'K')
#define WNDL_CHUNK_KSMP WNDL_CHUNK_TYPE('K', 'S', 'M', 'P')
#define WNDL_CHUNK_KSYM WNDL_CHUNK_TYPE('K', 'S', 'Y', 'M')
#define WNDL_CHUNK_DONE WNDL_CHUNK_TYPE('D', 'O', 'N', 'E')

/* ---- writing */

/*
 * A chunk that is being written. Its payload is all that is appended to `out`
 * until wndl_chunk_finish.
 */
struct wndl_chunk_writer {
    struct wndl_buf *out;
    size_t start; /* of the chunk's header in `out` */
};

/* Appends the 24 bytes that every recording starts with. */
void wndl_chunk_file_header(struct wndl_buf *out);

/* Starts a chunk at the end of `out`. One at a time for each buffer. */
void wndl_chunk_begin(
    struct wndl_chunk_writer *w, struct wndl_buf *out, uint32_t type);

/*
 * Fills in the size and appends the CRC. NOMEM if `out` has failed. LIMIT if
 * the payload is longer than WNDL_CHUNK_MAX; the chunk is then removed from
 * `out`, which stays well formed.
 */
enum wndl_status wndl_chunk_finish(struct wndl_chunk_writer *w) WNDL_MUST_USE;

/* Appends a `str` field: its size as uleb, and the raw bytes. */
void wndl_chunk_str(struct wndl_buf *out, struct wndl_bytes s);

/* ---- reading */

struct wndl_chunk {
    uint32_t type;
    struct wndl_bytes payload; /* borrowed from the file's bytes */
    uint64_t offset;           /* of the payload in the file */
};

struct wndl_chunk_reader {
    struct wndl_cursor cursor;
    uint32_t damaged;    /* chunks skipped for a wrong CRC */
    bool cut;            /* the file ends inside a chunk */
    uint64_t damaged_at; /* offset of the first damaged payload */
};

/*
 * Checks the file header. UNSUPPORTED for another major version or for feature
 * bits that we do not know, MALFORMED for a file that is not a recording,
 * TRUNCATED for less than a header. `file` must outlive the reader.
 */
enum wndl_status wndl_chunk_reader_init(struct wndl_chunk_reader *r,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reads the next whole chunk with a right CRC. False at the end; `cut` then
 * says whether the file ends inside a chunk.
 */
bool wndl_chunk_next(struct wndl_chunk_reader *r, struct wndl_chunk *chunk);

/* Reads a `str` field. Its bytes are borrowed; empty after a failed read. */
struct wndl_bytes wndl_chunk_read_str(struct wndl_cursor *c);

#endif
