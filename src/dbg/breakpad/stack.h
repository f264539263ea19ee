/* SPDX-License-Identifier: MIT */
/*
 * breakpad_stack: the STACK records of a Breakpad symbol file, one after the
 * other, as written: addresses, sizes and the text of their rules. Other
 * records are skipped, except for the identity of the module and the end of its
 * code. It must not know registers nor the meaning of rules.
 */
#ifndef WNDL_DBG_BREAKPAD_STACK_H
#define WNDL_DBG_BREAKPAD_STACK_H

#include "base/bytes.h"
#include "base/status.h"

enum wndl_breakpad_stack_kind {
    WNDL_BREAKPAD_CFI_INIT, /* rules of a function from its start on */
    WNDL_BREAKPAD_CFI,      /* the rules that change from `start` on */
    WNDL_BREAKPAD_WIN,      /* of 32-bit Windows */
};

/* The types of STACK WIN records; there are others, which no tool writes. */
enum { WNDL_BREAKPAD_FPO = 0, WNDL_BREAKPAD_FRAME_DATA = 4 };

/*
 * A record. `rules` is in the text: for CFI "NAME: EXPRESSION NAME:
 * EXPRESSION...", for WIN the program, empty if there is none.
 */
struct wndl_breakpad_stack {
    enum wndl_breakpad_stack_kind kind;
    uint64_t at;   /* offset of the record in the text */
    uint64_t line; /* line number, from 1 on */
    uint64_t start, size;
    struct wndl_bytes rules;
    /* For WIN only; sizes in bytes. */
    uint8_t type;
    uint32_t parameters, saved, locals;
    bool allocates_bp; /* the function uses EBP for something else */
};

/* The position in the text. To start, all 0 except `text`. */
struct wndl_breakpad_stacks {
    struct wndl_bytes text;
    uint64_t next, line;
};

/*
 * Reads the next record. NOT_FOUND at the end; MALFORMED, with offset and line,
 * for a damaged record, or one that is cut off by the end; the next call goes
 * on after it.
 */
enum wndl_status wndl_breakpad_stack_next(struct wndl_breakpad_stacks *stacks,
    struct wndl_breakpad_stack *record, struct wndl_error *err) WNDL_MUST_USE;

/* The facts about a module as a whole in its symbol file. */
struct wndl_breakpad_extent {
    uint64_t start, end; /* rva, over FUNC and STACK records; may be equal */
    struct wndl_bytes code_id; /* of the first INFO CODE_ID record, or empty */
};

/*
 * Reads all of `text`. A record that ends after `limit` counts up to `limit`.
 */
struct wndl_breakpad_extent wndl_breakpad_read_extent(
    struct wndl_bytes text, uint64_t limit);

#endif
