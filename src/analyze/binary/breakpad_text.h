/* SPDX-License-Identifier: MIT */
/*
 * breakpad_text: the FUNC records of a Breakpad symbol file, made from the
 * answers for one piece of code after the other (docs/formats/breakpad.md).
 */
#ifndef WNDL_ANALYZE_BINARY_BREAKPAD_TEXT_H
#define WNDL_ANALYZE_BINARY_BREAKPAD_TEXT_H

#include "base/buf.h"
#include "base/intern.h"
#include "dbg/pdb/pdb.h"

#include <windlass/symbolize.h>

/* Numbered strings; they are found by the address of their first occurrence. */
struct wndl_breakpad_strings {
    struct wndl_map numbers; /* address of a string -> its number + 1 */
    struct wndl_intern list; /* number 0 is the empty one */
};

/* A function in the making; [start, end) is its extent so far. */
struct wndl_breakpad_func {
    struct wndl_arena arena;
    const char *name; /* NULL: no function */
    uint64_t key; /* its start, from the answer: distinguishes equal names */
    uint64_t start;
    uint64_t end;
    struct wndl_vec lines;  /* struct line */
    struct wndl_vec calls;  /* struct call */
    struct wndl_vec ranges; /* struct range */
    struct wndl_map known;  /* hash of a call -> its index + 1 */
    uint32_t last_call;     /* the last outermost one; UINT32_MAX: none */
};

struct wndl_breakpad_text {
    struct wndl_arena *arena;
    struct wndl_breakpad_strings files;
    struct wndl_breakpad_strings origins;
    struct wndl_breakpad_func func;
    struct wndl_buf out; /* whole records; the caller empties it */
};

/*
 * Makes it empty. wndl_breakpad_text_free must be called even after a failure.
 * False when memory is out.
 */
bool wndl_breakpad_text_init(struct wndl_breakpad_text *text,
    struct wndl_arena *arena, struct wndl_mem *mem);
void wndl_breakpad_text_free(struct wndl_breakpad_text *text);

/*
 * Adds code [start, end), rvas, not below code that was added before. The
 * strings of `answer` must outlive `text`. False when memory is out.
 */
bool wndl_breakpad_text_add(struct wndl_breakpad_text *text, uint64_t start,
    uint64_t end, const struct wndl_symbols *answer);

/* Ends the last function: at the end, or before the caller adds to `out`. */
void wndl_breakpad_text_end(struct wndl_breakpad_text *text);

/* Appends a STACK WIN record. */
void wndl_breakpad_text_stack(
    struct wndl_buf *out, const struct wndl_pdb_stack *stack);

/* Appends a name without the characters that would end its line. */
void wndl_breakpad_text_name(struct wndl_buf *out, struct wndl_bytes name);

#endif
