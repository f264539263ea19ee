/* SPDX-License-Identifier: MIT */
/*
 * chrome_v2: reads Chromium's "unwind info v2" of 32-bit Arm in place. The
 * table that is shipped has a header of eight words; that of its design
 * document has ten. Nothing in the bytes is trusted but their size: each lookup
 * checks its own bounds.
 *
 * The file does not say which binary it is for. Addresses in it are offsets
 * from the start of .text. docs/formats/chrome-unwind-v2.md has the layout.
 *
 * Signal-safe: no allocation, no lock, no recursion, no libc call but mem*.
 */
#ifndef WNDL_UNWIND_TABLE_CHROME_V2_H
#define WNDL_UNWIND_TABLE_CHROME_V2_H

#include "unwind/arm/exidx.h"

enum {
    WNDL_CHROME_V2_PAGE_SHIFT = 17, /* bytes of text of a page: 128 KiB */
    WNDL_CHROME_V2_HEADER = 40,     /* bytes at most */
    WNDL_CHROME_V2_ENTRY = 4,       /* bytes of an entry of pages or
                                     * functions */
};

struct wndl_chrome_v2 {
    struct wndl_bytes pages, functions, offsets, instructions;
    struct wndl_bytes continued; /* a bit for each page; only in the design's
                                  * form */
    uint32_t page_count, function_count;
    bool design;
};

/*
 * The size of the file by its header. `head` is the first WNDL_CHROME_V2_HEADER
 * bytes of a file, or all of a shorter one. 0: it is not such a file.
 */
uint64_t wndl_chrome_v2_size(struct wndl_bytes head);

/*
 * MALFORMED if the header, or the parts that it describes, do not fit. The
 * bytes must outlive `table`.
 */
enum wndl_status wndl_chrome_v2_open(struct wndl_bytes bytes,
    struct wndl_chrome_v2 *table, struct wndl_error *err) WNDL_MUST_USE;

/* The result of a lookup. */
struct wndl_chrome_v2_place {
    uint32_t function;    /* its number */
    uint32_t start;       /* offset in .text */
    uint32_t offset;      /* bytes from start; the rule holds from there on */
    uint32_t instruction; /* where it starts, < instructions.size */
};

/*
 * Reads entry `i` < function_count: the bytes from the start of its page to its
 * start, and the offset of its pairs.
 */
void wndl_chrome_v2_function(const struct wndl_chrome_v2 *table, uint32_t i,
    uint32_t *start, uint32_t *offsets);

/*
 * Whether all functions start within that many bytes of .text. A filler may
 * start at their end.
 */
bool wndl_chrome_v2_fits(
    const struct wndl_chrome_v2 *table, uint64_t text_size);

/*
 * Looks up an offset from the start of .text. NOT_FOUND after the last page,
 * and where there is no rule; MALFORMED.
 */
enum wndl_status wndl_chrome_v2_find(const struct wndl_chrome_v2 *table,
    uint64_t text_offset, struct wndl_chrome_v2_place *place) WNDL_MUST_USE;

/* Reads one (offset in bytes, instruction) pair; false if there is none. */
bool wndl_chrome_v2_pair(struct wndl_cursor *pairs,
    const struct wndl_chrome_v2 *table, uint32_t *offset,
    uint32_t *instruction);

/*
 * Registers by number, and the readable stack, whose first byte is at
 * `stack_addr`.
 */
struct wndl_chrome_v2_frame {
    uint32_t regs[WNDL_ARM_REGS];
    struct wndl_bytes stack;
    uint32_t stack_addr;
};

/*
 * Runs instructions (a whole sequence, up to its finish), after which the
 * registers are the caller's. NOT_FOUND for the one that refuses. MALFORMED for
 * an unknown one, for one that leaves the stack or is not aligned, and for an
 * impossible frame: sp must have grown, or be the same if pc is another. The
 * registers change with OK only.
 */
enum wndl_status wndl_chrome_v2_run(struct wndl_bytes instructions,
    struct wndl_chrome_v2_frame *frame) WNDL_MUST_USE;

#endif
