/* SPDX-License-Identifier: MIT */
/*
 * frame_writer: rows of rules as the bytes of a .debug_frame, so that whatever
 * reads call frame information reads what was told in other forms too. Knows
 * no such form.
 */
#ifndef WNDL_CFI_IMPORT_CORE_FRAME_WRITER_H
#define WNDL_CFI_IMPORT_CORE_FRAME_WRITER_H

#include "base/buf.h"
#include "base/vec.h"
#include "cfi/cfi.h"

/* Where in the source the function was that an FDE was made of. */
struct wndl_frame_origin {
    uint64_t fde; /* offset of the record that was written */
    uint64_t origin;
};

/* `origins` are ascending by `fde`. */
struct wndl_frame_writer {
    struct wndl_buf out;
    struct wndl_vec origins; /* struct wndl_frame_origin */
    size_t limit;            /* bytes; but for the last row of a function */
    uint8_t word;            /* bytes of an address */
    uint64_t plain_cie, signal_cie;
    size_t fde;     /* where the open one begins */
    uint64_t start; /* its function's, svma */
    uint64_t at;    /* svma of the row that was written last */
    struct wndl_cfi_row last;
    bool full;   /* the open one goes beyond the limit */
    bool failed; /* memory is out */
};

/* A function about to be written. */
struct wndl_frame_function {
    uint64_t start, end; /* svma, start < end */
    uint64_t origin;
    bool signal_frame;
};

/* `origins` are the arena's, the bytes are until wndl_frame_writer_take. */
void wndl_frame_writer_init(struct wndl_frame_writer *w,
    struct wndl_arena *arena, uint8_t word, uint8_t ra_reg);

/* Bounds what is written by the bytes that it is made of. */
void wndl_frame_writer_bound(struct wndl_frame_writer *w, uint64_t source);

/* False when memory is out, or the limit is reached. */
bool wndl_frame_writer_begin(
    struct wndl_frame_writer *w, const struct wndl_frame_function *function);

/*
 * The rules from row->start on, which is not below that of the row before; of
 * rows at one address the last one holds. row->end is of no interest.
 */
void wndl_frame_writer_row(
    struct wndl_frame_writer *w, const struct wndl_cfi_row *row);

/* False when its rows were beyond the limit: nothing of it is written. */
bool wndl_frame_writer_end(struct wndl_frame_writer *w) WNDL_MUST_USE;

/* The same for one that turns out to end at `end`, before its own end and not
 * before its last row; nothing of it is written if that is its start. */
bool wndl_frame_writer_end_at(
    struct wndl_frame_writer *w, uint64_t end) WNDL_MUST_USE;

/* In the place of that: nothing of it is written. */
void wndl_frame_writer_undo(struct wndl_frame_writer *w);

/*
 * What was written, as the arena's, and an end to the writer. False when memory
 * is out.
 */
bool wndl_frame_writer_take(struct wndl_frame_writer *w,
    struct wndl_arena *arena, struct wndl_cfi_section *frame);

/* An end to it without that. */
void wndl_frame_writer_drop(struct wndl_frame_writer *w);

#endif
