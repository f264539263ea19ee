/* SPDX-License-Identifier: MIT */
/*
 * chrome_v2: makes Chromium's unwind info v2 (unwind/table/chrome_v2.h) of a
 * 32-bit Arm binary, holds one against its binary, and counts what is in one.
 */
#ifndef WNDL_UNWIND_TABLES_CHROME_CHROME_V2_H
#define WNDL_UNWIND_TABLES_CHROME_CHROME_V2_H

#include "base/buf.h"
#include "base/vec.h"
#include "obj/core/object.h"
#include "unwind/table/chrome_v2.h"

/*
 * Adds the instructions that undo what happened between two rows: `before` is
 * a row of the same function, or NULL for its entry. False where none can say
 * it, for slots or CFAs out of reach; then `out` is as it was.
 */
bool wndl_chrome_v2_encode_step(struct wndl_buf *out,
    const struct wndl_cfi_row *before, const struct wndl_cfi_row *row);

struct wndl_chrome_v2_stats {
    const char *source; /* ".debug_frame" or ".ARM.exidx" */
    uint64_t functions, addresses, sequences; /* fillers are counted too */
    uint64_t refused;                         /* functions that have no rules */
    uint64_t untold; /* rows that no instructions can say: refused as well */
    uint64_t lost;   /* damaged records */
};

/*
 * Writes the table of `object` to the end of `out`, which is empty: of
 * .debug_frame where there is one, else of .ARM.exidx and the code; with a
 * header as designed, if `design`. Each function's rows up to the first that
 * makes its frame smaller, or is not undone by 256 bytes of instructions.
 * NOT_FOUND when it has neither or no .text, UNSUPPORTED when it is not of
 * 32-bit Arm, LIMIT when it does not fit the layout or functions overlap,
 * NOMEM.
 */
enum wndl_status wndl_chrome_v2_build(struct wndl_object *object, bool design,
    struct wndl_buf *out, struct wndl_chrome_v2_stats *stats,
    struct wndl_error *err) WNDL_MUST_USE;

struct wndl_chrome_v2_verdict {
    uint64_t rows, looked_up, wrong;
    uint64_t first_wrong; /* svma */
};

/*
 * Looks up the first, middle and last instruction of each row that
 * wndl_chrome_v2_build would take, runs what it finds over registers and a
 * stack made up for the row, and compares all registers; and the same of the
 * row that walks take it for (unwind/table/chrome.h). Fails as that does, and
 * MALFORMED for a table of more code than the binary has.
 */
enum wndl_status wndl_chrome_v2_verify(const struct wndl_chrome_v2 *table,
    struct wndl_object *object, struct wndl_chrome_v2_verdict *verdict,
    struct wndl_error *err) WNDL_MUST_USE;

/* What is in a table. `naive` is an address of 4 bytes and its instructions for
 * each address, nothing shared. */
struct wndl_chrome_v2_counts {
    uint64_t functions, addresses, naive;
    uint64_t offset_sequences, sequences; /* distinct */
};

/* MALFORMED, with the function; LIMIT when sequences overlap so much that
 * counting would take too long; NOMEM. */
enum wndl_status wndl_chrome_v2_count(const struct wndl_chrome_v2 *table,
    struct wndl_chrome_v2_counts *counts, struct wndl_mem *mem,
    struct wndl_error *err) WNDL_MUST_USE;

/* The bytes of the sequence at `at` < instructions.size, with its finish; empty
 * when it has no end. */
struct wndl_bytes wndl_chrome_v2_sequence(
    const struct wndl_chrome_v2 *table, uint32_t at);

/* ---- shared by its files */

/* One function of a binary, with its rows as they are kept. */
struct wndl_chrome_v2_function {
    uint64_t start, end;             /* svma, in .text */
    const struct wndl_cfi_row *rows; /* each holds up to the next one */
    size_t row_count;                /* 0: it has no rules */
    uint64_t told_end; /* svma: code from here on, up to end, has no rule */
};

struct wndl_chrome_v2_binary {
    const char *source;
    uint64_t text, text_size; /* svma */
    uint64_t lost;
};

/* Calls visit for each function in order of addresses until it returns false.
 * `binary` is complete before. Fails as wndl_chrome_v2_build. */
enum wndl_status wndl_chrome_v2_functions(struct wndl_object *object,
    struct wndl_chrome_v2_binary *binary,
    bool (*visit)(
        void *context, const struct wndl_chrome_v2_function *function),
    void *context, struct wndl_error *err) WNDL_MUST_USE;

#endif
