/* SPDX-License-Identifier: MIT */
/*
 * chrome: Chromium's unwind info v2 as an unwind table, for look-ups. Such a
 * file does not say which binary it is for; whoever opens it does. Signal-safe,
 * as table.h.
 */
#ifndef WNDL_UNWIND_TABLE_CHROME_H
#define WNDL_UNWIND_TABLE_CHROME_H

#include "unwind/table/table.h"

/* The binary of the file. */
struct wndl_table_chrome_of {
    uint16_t machine;         /* EM_* */
    uint64_t text, text_size; /* of .text: svma, bytes */
};

/*
 * Opens such a file like wndl_table_open, with any alignment. The table has no
 * build-id. UNSUPPORTED for a machine but 32-bit Arm. MALFORMED for another
 * file, and for one whose functions are not all in .text. LIMIT.
 */
enum wndl_status wndl_table_open_chrome(struct wndl_bytes bytes,
    const struct wndl_table_chrome_of *of, struct wndl_table *table,
    struct wndl_error *err) WNDL_MUST_USE;

/* wndl_table_find and wndl_table_row for such a table. */
uint32_t wndl_table_chrome_find(const struct wndl_table *table, uint64_t svma);
enum wndl_status wndl_table_chrome_row(const struct wndl_table *table,
    uint32_t rule, struct wndl_cfi_row *row) WNDL_MUST_USE;

/*
 * Finds .text of an ELF file by its section headers, and sets the rest of `of`
 * from its header. False if they do not say.
 */
bool wndl_table_chrome_of_file(
    struct wndl_bytes elf, struct wndl_table_chrome_of *of);

#endif
