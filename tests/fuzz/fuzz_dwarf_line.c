/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf_line: any line program, in a unit made for it. The input is a
 * byte, odd for big endian, and .debug_line; strings of version 5 may be
 * taken from it too.
 */
#include "dbg/dwarf/dwarf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKUPS = 64 };

/* A unit over [0x1000, 0x1000 + 2^32) with DW_AT_stmt_list 0, DWARF 4. */
static const uint8_t info_little[] = {0x18, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0,
    0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
static const uint8_t info_big[] = {0, 0, 0, 0x18, 0, 4, 0, 0, 0, 0, 8, 1, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0xff, 0xff, 0xff, 0xff};
static const uint8_t abbrev[] = {
    1, 0x11, 0, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, 0};

static struct wndl_bytes copy_of(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL)
        abort();
    if (size != 0)
        memcpy(copy, data, size);
    return (struct wndl_bytes){copy, size};
}

static void look_up(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    struct wndl_error err;
    wndl_svma addr = {address};
    if (wndl_dwarf_lookup(d, addr, &frames, &err) != WNDL_OK)
        return;
    const struct wndl_dwarf_frame *f = frames.frames;
    if (frames.count != 1 || f->inlined || f->name.size != 0 ||
        f->file.data[f->file.size] != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_dwarf *d;
    struct wndl_error err;
    if (size == 0)
        return 0;
    bool big = (data[0] & 1) != 0;
    struct wndl_bytes line = copy_of(data + 1, size - 1);
    struct wndl_dwarf_sections in = {
        .info = {big ? info_big : info_little, sizeof info_little},
        .abbrev = {abbrev, sizeof abbrev},
        .line = line,
        .line_str = line,
        .str = line,
        .big_endian = big,
    };
    if (wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err) != WNDL_OK)
        abort();
    for (uint64_t i = 0; i < LOOKUPS; i++)
        look_up(d, 0xff8 + 8 * i);
    wndl_dwarf_close(d);
    free((void *)(uintptr_t)line.data);
    return 0;
}
