/* SPDX-License-Identifier: MIT */
/*
 * breakpad_stack: the STACK records of a Breakpad symbol file, one after the
 * other, as they are written: addresses, sizes and the text of their rules. All
 * other records are passed over, but for the identity of the module and where
 * its code ends. What it must not know: what rules mean, and registers.
 */
#ifndef WNDL_DBG_BREAKPAD_STACK_H
#define WNDL_DBG_BREAKPAD_STACK_H

#include "base/bytes.h"
#include "base/status.h"

enum wndl_breakpad_stack_kind {
    WNDL_BREAKPAD_CFI_INIT, /* rules of a function from its start on */
    WNDL_BREAKPAD_CFI,      /* those that are others from `start` on */
    WNDL_BREAKPAD_WIN,      /* of 32-bit Windows */
};

/* Of STACK WIN records there are others, which nobody writes. */
enum { WNDL_BREAKPAD_FPO = 0, WNDL_BREAKPAD_FRAME_DATA = 4 };

/*
 * `rules` is in the text: of CFI "NAME: EXPRESSION NAME: EXPRESSION...", of WIN
 * the program, empty if there is none.
 */
struct wndl_breakpad_stack {
    enum wndl_breakpad_stack_kind kind;
    uint64_t at;   /* offset of the record in the text */
    uint64_t line; /* its number, from 1 on */
    uint64_t start, size;
    struct wndl_bytes rules;
    /* Of WIN alone; sizes in bytes. */
    uint8_t type;
    uint32_t parameters, saved, locals;
    bool allocates_bp; /* the function has a use of its own for EBP */
};

/* Where one is in the text: zeroed, with `text`, at the start. */
struct wndl_breakpad_stacks {
    struct wndl_bytes text;
    uint64_t next, line;
};

/*
 * The next record. NOT_FOUND at the end; MALFORMED, with offset and line, for a
 * damaged one, and one that the text ends in; one goes on as after any other.
 */
enum wndl_status wndl_breakpad_stack_next(struct wndl_breakpad_stacks *stacks,
    struct wndl_breakpad_stack *record, struct wndl_error *err) WNDL_MUST_USE;

/* What a symbol file says of its module as a whole. */
struct wndl_breakpad_extent {
    uint64_t start, end; /* rva; of FUNC and STACK records; may be equal */
    struct wndl_bytes code_id; /* of the first INFO CODE_ID record, or empty */
};

/* Goes over all of `text`. Records that end behind `limit` count up to it. */
struct wndl_breakpad_extent wndl_breakpad_read_extent(
    struct wndl_bytes text, uint64_t limit);

#endif
