/* SPDX-License-Identifier: MIT */
/*
 * chrome: Chromium's unwind info v2 in the place of an unwind table of
 * ours, for who looks rules up. Such a file does not say what it is of: who
 * opens it does. Signal-safe, as table.h.
 */
#ifndef WNDL_UNWIND_TABLE_CHROME_H
#define WNDL_UNWIND_TABLE_CHROME_H

#include "unwind/table/table.h"

/* What it is opened for. */
struct wndl_table_chrome_of {
    uint16_t machine;         /* EM_* */
    uint64_t text, text_size; /* of .text: svma, bytes */
};

/*
 * As wndl_table_open, any alignment. The table has no build-id. UNSUPPORTED for
 * a machine but 32-bit Arm; MALFORMED for what is no such file, and for one
 * whose functions are not all in .text; LIMIT.
 */
enum wndl_status wndl_table_open_chrome(struct wndl_bytes bytes,
    const struct wndl_table_chrome_of *of, struct wndl_table *table,
    struct wndl_error *err) WNDL_MUST_USE;

/* What wndl_table_find and wndl_table_row say of such a table. */
uint32_t wndl_table_chrome_find(const struct wndl_table *table, uint64_t svma);
enum wndl_status wndl_table_chrome_row(const struct wndl_table *table,
    uint32_t rule, struct wndl_cfi_row *row) WNDL_MUST_USE;

/* Where .text of an ELF file is, by its section headers; the rest of `of` is
 * what the file says. False when it does not tell. */
bool wndl_table_chrome_of_file(
    struct wndl_bytes elf, struct wndl_table_chrome_of *of);

#endif
