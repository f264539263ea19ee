/* SPDX-License-Identifier: MIT */
/*
 * dmd_json: what a DMD file (JSON, version 5, plain or by gzip) says, as it
 * says it: blocks, stacks and frames by their numbers in the file. It must not
 * know what the frames' text means. docs/formats/dmd.md has the format.
 *
 * The text goes by in pieces; memory is bounded by what is distinct: frames,
 * stacks and (stacks, size)s of blocks. Contents of blocks are passed over.
 */
#ifndef WNDL_IN_DMD_JSON_H
#define WNDL_IN_DMD_JSON_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/heap_records.h"

/* In all blocks; also the most blocks. Sums of doubles are exact so far. */
#define WNDL_DMD_BYTES_MAX (UINT64_C(1) << 53)

/* Blocks of one size with the same stacks: 1 + index of traces, 0: none. */
struct wndl_dmd_block {
    uint64_t requested, slop; /* bytes of each */
    uint64_t count;           /* >= 1 */
    uint32_t stacks[WNDL_HEAP_STACKS];
};

/* frame_of[first, first + count) are a stack's frames, innermost first. */
struct wndl_dmd_trace {
    size_t first;
    uint32_t count;
    bool known; /* traceTable has it */
};

/*
 * Invariants: all numbers are of what is there; the sum of count * (requested
 * + slop) and that of count are at most WNDL_DMD_BYTES_MAX. The data of a text
 * in `frames` is NULL if frameTable has not got it.
 */
struct wndl_dmd_file {
    struct wndl_arena arena;
    enum wndl_heap_mode mode;
    bool has_env;
    struct wndl_bytes env;    /* $DMD as it was, if it was set */
    struct wndl_vec blocks;   /* struct wndl_dmd_block, as they came */
    struct wndl_vec traces;   /* struct wndl_dmd_trace */
    struct wndl_vec frame_of; /* uint32_t, index of frames */
    struct wndl_vec frames;   /* struct wndl_bytes, the text */
    uint64_t blocks_lost;     /* whose stack is not in traceTable */
    uint64_t frames_lost;     /* in stacks, that are not in frameTable */
};

/* Whether bytes that begin so may be a DMD file: gzip or a JSON object. */
bool wndl_dmd_json_guess(struct wndl_bytes prefix);

/*
 * Reads a whole file. TRUNCATED, MALFORMED, LIMIT: `err` has the offset in
 * the file for section "gzip", in its text for "JSON"; UNSUPPORTED for other
 * versions; NOMEM. `dmd`, which stays where it is, is to be freed in any case.
 */
enum wndl_status wndl_dmd_json_read(struct wndl_bytes file,
    struct wndl_mem *mem, struct wndl_dmd_file *dmd,
    struct wndl_error *err) WNDL_MUST_USE;

void wndl_dmd_json_free(struct wndl_dmd_file *dmd);

#endif
