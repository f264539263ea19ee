/* SPDX-License-Identifier: MIT */
/*
 * jitdump: jit-PID.dump, where a runtime tells of the code it generates,
 * version 1, in either byte order (perf's jitdump-specification). Read record
 * by record, in place, without memory of its own; it must not know of
 * processes.
 */
#ifndef WNDL_IN_JITDUMP_H
#define WNDL_IN_JITDUMP_H

#include "base/bytes.h"
#include "base/status.h"

struct wndl_jitdump {
    struct wndl_cursor cursor;
    uint32_t pid;     /* as the process itself sees it */
    uint64_t damaged; /* records that were passed over */
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
    uint64_t start;           /* avma; LINES: of the code they are of */
    uint64_t size;            /* LOAD, MOVE */
    uint64_t index;           /* LOAD: names the code; MOVE: which code */
    struct wndl_bytes name;   /* LOAD */
    struct wndl_cursor lines; /* LINES: for wndl_jitdump_line */
    uint64_t line_count;      /* LINES: how many follow at the most */
};

struct wndl_jitdump_line {
    uint64_t address; /* avma, from here on */
    uint32_t line;
    uint32_t column;        /* or another number that tells places apart */
    struct wndl_bytes file; /* in: that of the line before; borrowed */
};

/*
 * Checks the header. MALFORMED for what is no jitdump, UNSUPPORTED for
 * another version, TRUNCATED for less than a header. `file` outlives `dump`.
 */
enum wndl_status wndl_jitdump_open(struct wndl_jitdump *dump,
    struct wndl_bytes file, struct wndl_error *err) WNDL_MUST_USE;

/* The next record of the kinds above; others are stepped over. */
bool wndl_jitdump_next(
    struct wndl_jitdump *dump, struct wndl_jitdump_record *record);

/*
 * The next of a LINES record, `line` zeroed before the first; `lines` is that
 * record's cursor, to be called for line_count times at the most. False when
 * there is none, because of damage; the cursor has failed then.
 */
bool wndl_jitdump_line(
    struct wndl_cursor *lines, struct wndl_jitdump_line *line);

#endif
