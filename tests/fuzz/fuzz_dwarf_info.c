/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf_info: lookups in any sections. The input is a byte, odd for big
 * endian, a size of two bytes (low one first) for each of nine sections, and
 * their contents; .debug_aranges is what is left.
 */
#include "dbg/dwarf/dwarf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKUPS = 96, FRAME_LIMIT = 300 };

static struct wndl_bytes take(struct wndl_cursor *c, size_t size)
{
    size_t left = wndl_cursor_left(c);
    size_t taken = size < left ? size : left;
    return (struct wndl_bytes){wndl_cursor_take(c, taken), taken};
}

static void split(struct wndl_bytes input, struct wndl_dwarf_sections *in)
{
    struct wndl_bytes *sections[] = {&in->info, &in->abbrev, &in->line,
        &in->line_str, &in->str, &in->str_offsets, &in->addr, &in->ranges,
        &in->rnglists};
    enum { COUNT = sizeof sections / sizeof *sections };
    uint16_t sizes[COUNT];
    struct wndl_cursor c = wndl_cursor_at(input, 0, false);
    in->big_endian = (wndl_cursor_u8(&c) & 1) != 0;
    for (int i = 0; i < COUNT; i++)
        sizes[i] = wndl_cursor_u16(&c);
    for (int i = 0; i < COUNT; i++)
        *sections[i] = take(&c, sizes[i]);
    in->aranges = take(&c, wndl_cursor_left(&c));
}

static void check_frame(const struct wndl_dwarf_frame *f, bool is_last)
{
    if (f->name.data[f->name.size] != 0 ||
        f->linkage_name.data[f->linkage_name.size] != 0 ||
        f->file.data[f->file.size] != 0 || f->inlined == is_last)
        abort();
}

/* Asked twice, the same answer. */
static void look_up(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    struct wndl_error err;
    wndl_svma addr = {address};
    if (wndl_dwarf_lookup(d, addr, &frames, &err) != WNDL_OK)
        return;
    if (frames.count == 0 || frames.count > FRAME_LIMIT)
        abort();
    for (size_t i = 0; i < frames.count; i++)
        check_frame(&frames.frames[i], i + 1 == frames.count);
    size_t count = frames.count;
    if (wndl_dwarf_lookup(d, addr, &frames, &err) != WNDL_OK ||
        frames.count != count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_dwarf_sections in = {0};
    struct wndl_dwarf *d;
    struct wndl_error err;
    struct wndl_dwarf_stats stats;
    split((struct wndl_bytes){data, size}, &in);
    if (wndl_dwarf_open(&in, wndl_mem_libc(), &d, &err) != WNDL_OK)
        return 0;
    for (uint64_t i = 0; i < LOOKUPS; i++)
        look_up(d, 0xff8 + 4 * i);
    wndl_dwarf_get_stats(d, &stats);
    /* The unit whose length runs out of the section is not a header seen. */
    if (stats.units_damaged > stats.units + 1)
        abort();
    wndl_dwarf_close(d);
    return 0;
}
