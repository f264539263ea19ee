/* SPDX-License-Identifier: MIT */
/*
 * frame_writer: writes rows of rules as the bytes of a .debug_frame, so that
 * readers of call frame information also read what had another form. It knows
 * no such form.
 */
#ifndef WNDL_CFI_IMPORT_CORE_FRAME_WRITER_H
#define WNDL_CFI_IMPORT_CORE_FRAME_WRITER_H

#include "base/buf.h"
#include "base/vec.h"
#include "cfi/cfi.h"

/* The place in the source of the function of an FDE. */
struct wndl_frame_origin {
    uint64_t fde; /* offset of the FDE's record */
    uint64_t origin;
};

/* `origins` are ascending by `fde`. */
struct wndl_frame_writer {
    struct wndl_buf out;
    struct wndl_vec origins; /* struct wndl_frame_origin */
    size_t limit;            /* bytes, not counting the last row of a
                              * function */
    uint8_t word;            /* bytes of an address */
    uint64_t plain_cie, signal_cie;
    size_t fde;     /* start of the open one */
    uint64_t start; /* of its function, svma */
    uint64_t at;    /* svma of the last row written */
    struct wndl_cfi_row last;
    bool full;   /* the open one exceeds the limit */
    bool failed; /* memory is out */
};

/* A function that will be written. */
struct wndl_frame_function {
    uint64_t start, end; /* svma, start < end */
    uint64_t origin;
    bool signal_frame;
};

/* `origins` are the arena's. The bytes live until wndl_frame_writer_take. */
void wndl_frame_writer_init(struct wndl_frame_writer *w,
    struct wndl_arena *arena, uint8_t word, uint8_t ra_reg);

/* Limits the output by the size of its source. */
void wndl_frame_writer_bound(struct wndl_frame_writer *w, uint64_t source);

/* Begins a function. False if memory is out, or the limit is reached. */
bool wndl_frame_writer_begin(
    struct wndl_frame_writer *w, const struct wndl_frame_function *function);

/*
 * Adds the rules from row->start on, which is not below that of the row before.
 * Of rows at one address the last one holds. row->end is ignored.
 */
void wndl_frame_writer_row(
    struct wndl_frame_writer *w, const struct wndl_cfi_row *row);

/*
 * Ends a function. False if its rows exceeded the limit: nothing of it is
 * written.
 */
bool wndl_frame_writer_end(struct wndl_frame_writer *w) WNDL_MUST_USE;

/*
 * Ends a function at `end`, before its own end and not before its last row. If
 * that is its start, nothing of it is written. Returns like the above.
 */
bool wndl_frame_writer_end_at(
    struct wndl_frame_writer *w, uint64_t end) WNDL_MUST_USE;

/* Drops the function instead of ending it. */
void wndl_frame_writer_undo(struct wndl_frame_writer *w);

/*
 * Ends the writer, and moves its output to the arena. False if memory is out.
 */
bool wndl_frame_writer_take(struct wndl_frame_writer *w,
    struct wndl_arena *arena, struct wndl_cfi_section *frame);

/* Ends the writer without its output. */
void wndl_frame_writer_drop(struct wndl_frame_writer *w);

#endif
