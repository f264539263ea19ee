/* SPDX-License-Identifier: MIT */
/*
 * chrome_v2: makes Chromium's unwind info v2 (unwind/table/chrome_v2.h) for a
 * 32-bit Arm binary, compares one with its binary, and counts its contents.
 */
#ifndef WNDL_UNWIND_TABLES_CHROME_CHROME_V2_H
#define WNDL_UNWIND_TABLES_CHROME_CHROME_V2_H

#include "base/buf.h"
#include "base/vec.h"
#include "obj/core/object.h"
#include "unwind/table/chrome_v2.h"

/*
 * Appends the instructions that undo the difference of two rows. `before` is a
 * row of the same function, or NULL for its entry. False, with `out` unchanged,
 * if no instructions can express it, because slots or CFAs are out of reach.
 */
bool wndl_chrome_v2_encode_step(struct wndl_buf *out,
    const struct wndl_cfi_row *before, const struct wndl_cfi_row *row);

struct wndl_chrome_v2_stats {
    const char *source; /* ".debug_frame" or ".ARM.exidx" */
    uint64_t functions, addresses, sequences; /* including fillers */
    uint64_t refused;                         /* functions without rules */
    uint64_t uncovered; /* rows without instructions: also refused */
    uint64_t lost;      /* damaged records */
    /* Functions and their addresses that do not fit the layout: refused. */
    uint64_t dropped_functions, dropped;
};

/*
 * Appends the table of `object` to `out`, which is empty. It is made of
 * .debug_frame if there is one, else of .ARM.exidx and the code. With `design`
 * it has the header of the design document. Of each function it has the rows up
 * to the first that makes its frame smaller, or that 256 bytes of instructions
 * cannot undo. The layout holds 64 KiB of distinct lists of addresses: if there
 * are more, functions with the rarest ones are refused. NOT_FOUND if `object`
 * has neither source or no .text, UNSUPPORTED if it is not of 32-bit Arm, LIMIT
 * if functions overlap or start at odd offsets, NOMEM.
 */
enum wndl_status wndl_chrome_v2_build(struct wndl_object *object, bool design,
    struct wndl_buf *out, struct wndl_chrome_v2_stats *stats,
    struct wndl_error *err) WNDL_MUST_USE;

struct wndl_chrome_v2_verdict {
    uint64_t rows, looked_up, wrong;
    uint64_t first_wrong; /* svma */
    uint64_t left_out;    /* addresses that are refused, but have a rule */
};

/*
 * Looks up the first, middle and last instruction of each row that
 * wndl_chrome_v2_build would use. It runs the result over registers and a stack
 * made up for the row, and compares all registers; and it does the same with
 * the row for walks (unwind/table/chrome.h). Fails like that, and MALFORMED for
 * a table of more code than the binary has.
 */
enum wndl_status wndl_chrome_v2_verify(const struct wndl_chrome_v2 *table,
    struct wndl_object *object, struct wndl_chrome_v2_verdict *verdict,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The contents of a table. `naive` is the size with an address of 4 bytes and
 * its instructions for each address, and nothing shared.
 */
struct wndl_chrome_v2_counts {
    uint64_t functions, addresses, naive;
    uint64_t offset_sequences, sequences; /* distinct */
};

/*
 * MALFORMED, with the function. LIMIT if sequences overlap so much that
 * counting would take too long. NOMEM.
 */
enum wndl_status wndl_chrome_v2_count(const struct wndl_chrome_v2 *table,
    struct wndl_chrome_v2_counts *counts, struct wndl_mem *mem,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * The bytes of the sequence at `at` < instructions.size, with its finish; empty
 * if it has no end.
 */
struct wndl_bytes wndl_chrome_v2_sequence(
    const struct wndl_chrome_v2 *table, uint32_t at);

/* ---- shared by its files */

/* A function of a binary, with the rows that are kept. */
struct wndl_chrome_v2_function {
    uint64_t start, end;             /* svma, in .text */
    const struct wndl_cfi_row *rows; /* each holds up to the next one */
    size_t row_count;                /* 0: no rules */
    uint64_t rows_end;               /* svma: no rules from here to `end` */
};

struct wndl_chrome_v2_binary {
    const char *source;
    uint64_t text, text_size; /* svma */
    uint64_t lost;
};

/*
 * Calls `visit` for each function in order of addresses, until it returns
 * false. `binary` is complete before the first. Fails like
 * wndl_chrome_v2_build.
 */
enum wndl_status wndl_chrome_v2_functions(struct wndl_object *object,
    struct wndl_chrome_v2_binary *binary,
    bool (*visit)(
        void *context, const struct wndl_chrome_v2_function *function),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

#endif
