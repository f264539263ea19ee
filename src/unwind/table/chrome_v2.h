/* SPDX-License-Identifier: MIT */
/*
 * chrome_v2: Chromium's "unwind info v2" of 32-bit Arm, read in place: the
 * table as it is shipped, with a header of eight words, and as its design
 * document has it, with ten. Nothing in the bytes is trusted but their size:
 * each lookup checks its own bounds.
 *
 * The file does not say what it is of. Addresses in it are offsets from the
 * start of .text. docs/formats/chrome-unwind-v2.md has the layout.
 *
 * Signal-safe: no allocation, no lock, no recursion, no libc call but mem*.
 */
#ifndef WNDL_UNWIND_TABLE_CHROME_V2_H
#define WNDL_UNWIND_TABLE_CHROME_V2_H

#include "unwind/arm/exidx.h"

enum {
    WNDL_CHROME_V2_PAGE_SHIFT = 17, /* bytes of text of a page: 128 KiB */
    WNDL_CHROME_V2_HEADER = 40,     /* bytes at most */
    WNDL_CHROME_V2_ENTRY = 4,       /* bytes of pages' and functions' entries */
};

struct wndl_chrome_v2 {
    struct wndl_bytes pages, functions, offsets, instructions;
    struct wndl_bytes continued; /* a bit for each page; of the design only */
    uint32_t page_count, function_count;
    bool design;
};

/* How large it is by its header, the first WNDL_CHROME_V2_HEADER bytes of a
 * file or all of a shorter one; 0: it is none. */
uint64_t wndl_chrome_v2_size(struct wndl_bytes head);

/* MALFORMED when its header or the parts that it tells of do not fit. The bytes
 * must outlive `table`. */
enum wndl_status wndl_chrome_v2_open(struct wndl_bytes bytes,
    struct wndl_chrome_v2 *table, struct wndl_error *err) WNDL_MUST_USE;

/* What a lookup came to. */
struct wndl_chrome_v2_place {
    uint32_t function;    /* its number */
    uint32_t start;       /* offset in .text */
    uint32_t offset;      /* bytes from start, from where the rule holds */
    uint32_t instruction; /* where it starts, < instructions.size */
};

/* Entry `i` < function_count: where it starts in its page, in bytes, and where
 * its pairs are. */
void wndl_chrome_v2_function(const struct wndl_chrome_v2 *table, uint32_t i,
    uint32_t *start, uint32_t *offsets);

/* Whether all functions start in that many bytes of .text, or, as a filler may,
 * at their end. */
bool wndl_chrome_v2_fits(
    const struct wndl_chrome_v2 *table, uint64_t text_size);

/* By an offset from the start of .text. NOT_FOUND behind the last page, and
 * where nothing is said; MALFORMED. */
enum wndl_status wndl_chrome_v2_find(const struct wndl_chrome_v2 *table,
    uint64_t text_offset, struct wndl_chrome_v2_place *place) WNDL_MUST_USE;

/* Takes one (offset in bytes, instruction) pair; false where there is none. */
bool wndl_chrome_v2_pair(struct wndl_cursor *pairs,
    const struct wndl_chrome_v2 *table, uint32_t *offset,
    uint32_t *instruction);

/* Registers by number, and the stack that may be read: its first byte is at
 * `stack_addr`. */
struct wndl_chrome_v2_frame {
    uint32_t regs[WNDL_ARM_REGS];
    struct wndl_bytes stack;
    uint32_t stack_addr;
};

/*
 * Runs instructions (a whole sequence, up to its finish), after which the
 * registers are the caller's. NOT_FOUND for the one that refuses; MALFORMED for
 * one that there is none of, for what leaves the stack or is not aligned, and
 * for a frame that is none: sp has to have grown, or to be the same where pc is
 * another. The registers are changed with OK only.
 */
enum wndl_status wndl_chrome_v2_run(struct wndl_bytes instructions,
    struct wndl_chrome_v2_frame *frame) WNDL_MUST_USE;

#endif
