/* SPDX-License-Identifier: MIT */
/*
 * jitdump: jit-PID.dump, in which a runtime describes its generated code;
 * version 1, in either byte order (perf's jitdump-specification). It is read
 * record by record, in place, without memory of its own. It must not know
 * processes.
 */
#ifndef WNDL_IN_JITDUMP_H
#define WNDL_IN_JITDUMP_H

#include "base/bytes.h"
#include "base/status.h"

struct wndl_jitdump {
    struct wndl_cursor cursor;
    uint32_t pid;     /* as the process itself sees it */
    uint64_t damaged; /* records that were skipped */
    bool cut;         /* the file ends inside a record */
};

enum wndl_jitdump_kind {
    WNDL_JITDUMP_LOAD = 0,
    WNDL_JITDUMP_MOVE = 1,
    WNDL_JITDUMP_LINES = 2, /* of the next LOAD at the same address */
    WNDL_JITDUMP_CLOSE = 3,
};

/* Code: start + size does not overflow. All bytes are borrowed. */
struct wndl_jitdump_record {
    enum wndl_jitdump_kind kind;
    uint64_t start; /* avma; LINES: of the code that they describe */
    uint64_t size;  /* LOAD, MOVE */
    uint64_t index; /* LOAD: the code's number; MOVE: of the code that moved */
    struct wndl_bytes name;   /* LOAD */
    struct wndl_cursor lines; /* LINES: for wndl_jitdump_line */
    uint64_t line_count;      /* LINES: at most so many follow */
};

struct wndl_jitdump_line {
    uint64_t address; /* avma, from which on the line is valid */
    uint32_t line;
    uint32_t column;        /* or another number that distinguishes places */
    struct wndl_bytes file; /* in: that of the previous line; borrowed */
};

/*
 * Opens a jitdump and checks its header. MALFORMED if it is no jitdump,
 * UNSUPPORTED for another version, TRUNCATED if it is shorter than a header.
 * `file` outlives `dump`.
 */
enum wndl_status wndl_jitdump_open(struct wndl_jitdump *dump,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

/* Reads the next record of the kinds above; skips others. False at the end. */
bool wndl_jitdump_next(
    struct wndl_jitdump *dump, struct wndl_jitdump_record *record);

/*
 * Reads the next line of a LINES record; `line` is zeroed before the first.
 * `lines` is that record's cursor; at most line_count calls. False when damage
 * ends the lines; the cursor has failed then.
 */
bool wndl_jitdump_line(
    struct wndl_cursor *lines, struct wndl_jitdump_line *line);

#endif
