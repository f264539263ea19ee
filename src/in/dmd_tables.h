/* SPDX-License-Identifier: MIT */
/*
 * dmd_tables: the positions of frames in a DMD file (JSON, version 5), and of
 * their uses in stacks, so that text can be inserted. It must not know the
 * meaning of frames.
 */
#ifndef WNDL_IN_DMD_TABLES_H
#define WNDL_IN_DMD_TABLES_H

#include "base/bytes.h"
#include "base/status.h"
#include "base/vec.h"

/* An entry of frameTable. Offsets are from the start of the file; text and
 * text_end are within the quotes, as escaped. */
struct wndl_dmd_frame {
    struct wndl_bytes id;
    size_t key; /* of the quote before the id */
    size_t text;
    size_t text_end;
};

/* A frame of a stack of traceTable. */
struct wndl_dmd_use {
    struct wndl_bytes id;
    size_t at; /* of the quote before the id */
};

/* In the order of the file. Ids are borrowed from it, as escaped. */
struct wndl_dmd_tables {
    struct wndl_vec frames; /* struct wndl_dmd_frame */
    struct wndl_vec uses;   /* struct wndl_dmd_use */
};

enum wndl_dmd_guess {
    WNDL_DMD_NO,
    WNDL_DMD_YES,
    WNDL_DMD_TOO_SHORT, /* more of the file is needed for an answer */
};

/*
 * Whether a file that begins so is a DMD file: its first key is one of DMD's,
 * and the keys include "version" and "invocation", or one of a table.
 */
enum wndl_dmd_guess wndl_dmd_guess(struct wndl_bytes prefix);

/*
 * Reads the two tables of a whole file into `arena`; a missing table is empty.
 * TRUNCATED, MALFORMED (`err` has the offset), NOMEM.
 */
enum wndl_status wndl_dmd_tables_read(struct wndl_bytes file,
    struct wndl_arena *arena, struct wndl_dmd_tables *tables,
    struct wndl_error *err) WNDL_MUST_USE;

#endif
