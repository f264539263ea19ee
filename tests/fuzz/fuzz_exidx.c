/* SPDX-License-Identifier: MIT */
/*
 * fuzz_exidx: any bytes as .ARM.exidx, .ARM.extab and code. The rows of a
 * function follow each other without gaps from its start to its end.
 */
#include "unwind/arm/rows.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES = 8, INDEX = ENTRIES * 8, TABLE = 64, LONGEST = 512 };

struct told {
    uint64_t start, next;
};

static bool visit(void *context, const struct wndl_cfi_row *row)
{
    struct told *told = context;
    if (row->start != told->next || row->end <= row->start)
        abort();
    told->next = row->end;
    return true;
}

static void follow(const struct wndl_exidx *x, size_t i, struct wndl_bytes code)
{
    struct wndl_exidx_entry entry;
    struct wndl_cfi_row body;
    if (wndl_exidx_read(x, i, &entry, NULL) != WNDL_OK ||
        wndl_exidx_row(&entry, &body, NULL) != WNDL_OK)
        return;
    const uint64_t end = entry.start + LONGEST;
    const struct wndl_arm_function function = {
        code, 0x1000, entry.start, end, &body};
    struct told told = {entry.start, entry.start};
    (void)wndl_arm_rows(&function, visit, &told);
    if (told.next != end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_bytes all = {data, size};
    if (size < INDEX + TABLE)
        return 0;
    for (unsigned big = 0; big < 2; big++) {
        const struct wndl_exidx x = {
            .index = wndl_bytes_slice(all, 0, INDEX),
            .table = wndl_bytes_slice(all, INDEX, TABLE),
            .index_addr = 0x1000 - INDEX - TABLE,
            .table_addr = 0x1000 - TABLE,
            .big_endian = big != 0,
        };
        size_t found;
        for (size_t i = 0; i < wndl_exidx_count(&x); i++)
            follow(&x, i,
                wndl_bytes_slice(all, INDEX + TABLE, size - INDEX - TABLE));
        if (wndl_exidx_find(&x, 0x1000, &found) == WNDL_OK &&
            found >= wndl_exidx_count(&x))
            abort();
    }
    return 0;
}
