/* SPDX-License-Identifier: MIT */
/*
 * dmd_json: the contents of a DMD file (JSON, version 5, plain or compressed by
 * gzip) as they are: blocks, stacks and frames by their numbers in the file. It
 * must not know what the frames' text means. docs/formats/dmd.md has the
 * format.
 *
 * The text is read in pieces; memory is bounded by what is distinct: frames,
 * stacks and (stacks, size)s of blocks. The contents of blocks are skipped.
 */
#ifndef WNDL_IN_DMD_JSON_H
#define WNDL_IN_DMD_JSON_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/heap_records.h"

/*
 * The most bytes in all blocks, and the most blocks. Up to here sums of doubles
 * are exact.
 */
#define WNDL_DMD_BYTES_MAX (UINT64_C(1) << 53)

/* Blocks of one size with the same stacks: 1 + index in traces; 0: none. */
struct wndl_dmd_block {
    uint64_t requested, slop; /* bytes of each */
    uint64_t count;           /* >= 1 */
    uint32_t stacks[WNDL_HEAP_STACKS];
};

/* A stack's frames: frame_of[first, first + count), innermost first. */
struct wndl_dmd_trace {
    size_t first;
    uint32_t count;
    bool known; /* traceTable has it */
};

/*
 * A DMD file. Invariants: all numbers refer to existing entries; the sum of
 * count * (requested + slop) and that of count are at most WNDL_DMD_BYTES_MAX.
 * The data of a text in `frames` is NULL if frameTable lacks it.
 */
struct wndl_dmd_file {
    struct wndl_arena arena;
    enum wndl_heap_mode mode;
    bool has_env;
    struct wndl_bytes env; /* $DMD, if it was set */
    /* struct wndl_dmd_block, in the order of the file */
    struct wndl_vec blocks;
    struct wndl_vec traces;   /* struct wndl_dmd_trace */
    struct wndl_vec frame_of; /* uint32_t: index in frames */
    struct wndl_vec frames;   /* struct wndl_bytes, the text */
    uint64_t blocks_lost;     /* blocks whose stack is not in traceTable */
    uint64_t frames_lost;     /* frames of stacks that are not in frameTable */
};

/* Whether a file that begins so may be a DMD file: gzip or a JSON object. */
bool wndl_dmd_json_guess(struct wndl_bytes prefix);

/*
 * Reads a whole file. TRUNCATED, MALFORMED, LIMIT: `err` has the offset in the
 * file for section "gzip", in its text for "JSON"; UNSUPPORTED for other
 * versions; NOMEM. `dmd`, which must not move, ends with wndl_dmd_json_free,
 * even after a failure.
 */
enum wndl_status wndl_dmd_json_read(struct wndl_bytes file,
    struct wndl_mem *mem, struct wndl_dmd_file *dmd,
    struct wndl_error *err) WNDL_MUST_USE;

/* Frees everything that the file gave. */
void wndl_dmd_json_free(struct wndl_dmd_file *dmd);

#endif
