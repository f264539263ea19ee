/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sections: DWARF sections in an input: a byte, odd for big endian, a size
 * of two bytes (low one first) for each of nine sections, and their contents.
 */
#ifndef WNDL_FUZZ_SECTIONS_H
#define WNDL_FUZZ_SECTIONS_H

#include "dbg/dwarf/dwarf.h"

static inline struct wndl_bytes take(struct wndl_cursor *c, size_t size)
{
    size_t left = wndl_cursor_left(c);
    size_t taken = size < left ? size : left;
    return (struct wndl_bytes){wndl_cursor_take(c, taken), taken};
}

/* Returns what is left. */
static inline struct wndl_bytes split(
    struct wndl_bytes input, struct wndl_dwarf_sections *in)
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
    return take(&c, wndl_cursor_left(&c));
}

#endif
