/* SPDX-License-Identifier: MIT */
/*
 * breakpad_text: the FUNC records of a Breakpad symbol file, made from what is
 * known of one piece of code after the other (docs/formats/breakpad.md).
 */
#ifndef WNDL_ANALYZE_BINARY_BREAKPAD_TEXT_H
#define WNDL_ANALYZE_BINARY_BREAKPAD_TEXT_H

#include "base/buf.h"
#include "base/intern.h"
#include "dbg/pdb/pdb.h"

#include <windlass/symbolize.h>

/* Strings under numbers; they are looked up by where they are first. */
struct wndl_breakpad_strings {
    struct wndl_map numbers; /* address of a string -> its number + 1 */
    struct wndl_intern list; /* number 0 is the empty one */
};

/* A function that is being put together, [start, end) of it so far. */
struct wndl_breakpad_func {
    struct wndl_arena arena;
    const char *name; /* NULL: there is none */
    uint64_t key;     /* where it is said to start: tells equal names apart */
    uint64_t start;
    uint64_t end;
    struct wndl_vec lines;  /* struct line */
    struct wndl_vec calls;  /* struct call */
    struct wndl_vec ranges; /* struct range */
    struct wndl_map known;  /* hash of a call -> its index + 1 */
    uint32_t last_call;     /* that is in no other; UINT32_MAX for none */
};

struct wndl_breakpad_text {
    struct wndl_arena *arena;
    struct wndl_breakpad_strings files;
    struct wndl_breakpad_strings origins;
    struct wndl_breakpad_func func;
    struct wndl_buf out; /* whole records; the caller takes them away */
};

/* False when memory is out; to be freed in any case. */
bool wndl_breakpad_text_init(struct wndl_breakpad_text *text,
    struct wndl_arena *arena, struct wndl_mem *mem);
void wndl_breakpad_text_free(struct wndl_breakpad_text *text);

/*
 * Adds code [start, end), rvas, not below what was added before. The strings
 * of `answer` stay where they are. False when memory is out.
 */
bool wndl_breakpad_text_add(struct wndl_breakpad_text *text, uint64_t start,
    uint64_t end, const struct wndl_symbols *answer);

/* Ends the last function, at the end or before anything else goes to `out`. */
void wndl_breakpad_text_end(struct wndl_breakpad_text *text);

/* A STACK WIN record. */
void wndl_breakpad_text_stack(
    struct wndl_buf *out, const struct wndl_pdb_stack *stack);

/* A name without what would end its line. */
void wndl_breakpad_text_name(struct wndl_buf *out, struct wndl_bytes name);

#endif
