/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf_other: lookups in a file that refers to another one, which is
 * its .dwo file, its package and its supplementary file at once. The input is
 * a byte, odd for big endian, a size of two bytes (low one first) for each of
 * eleven sections, and their contents; the last takes what is left.
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

static void split(struct wndl_bytes input, struct wndl_dwarf_sections *first,
    struct wndl_dwarf_sections *other)
{
    struct wndl_bytes *sections[] = {&first->info, &first->abbrev, &first->line,
        &first->addr, &first->ranges, &other->info, &other->abbrev, &other->str,
        &other->str_offsets, &other->rnglists, &other->cu_index};
    enum { COUNT = sizeof sections / sizeof *sections };
    uint16_t sizes[COUNT];
    struct wndl_cursor c = wndl_cursor_at(input, 0, false);
    first->big_endian = (wndl_cursor_u8(&c) & 1) != 0;
    other->big_endian = first->big_endian;
    for (int i = 0; i < COUNT; i++)
        sizes[i] = wndl_cursor_u16(&c);
    for (int i = 0; i + 1 < COUNT; i++)
        *sections[i] = take(&c, sizes[i]);
    *sections[COUNT - 1] = take(&c, wndl_cursor_left(&c));
}

static enum wndl_status give(
    void *context, struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    (void)err;
    *sections = *(struct wndl_dwarf_sections *)context;
    return WNDL_OK;
}

static enum wndl_status give_split(void *context,
    const struct wndl_dwarf_split *which, unsigned *next,
    struct wndl_dwarf_sections *sections, struct wndl_error *err)
{
    if (which->name.data[which->name.size] != 0)
        abort();
    if ((*next)++ != 0) {
        err->status = WNDL_NOT_FOUND;
        return WNDL_NOT_FOUND;
    }
    return give(context, sections, err);
}

/* Asked twice, the same answer. */
static void look_up(struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dwarf_frames frames;
    wndl_svma addr = {address};
    if (wndl_dwarf_lookup(d, addr, &frames, NULL) != WNDL_OK)
        return;
    if (frames.count == 0 || frames.count > FRAME_LIMIT)
        abort();
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_dwarf_frame *f = &frames.frames[i];
        if (f->name.data[f->name.size] != 0 ||
            f->linkage_name.data[f->linkage_name.size] != 0 ||
            f->inlined != (i + 1 < frames.count))
            abort();
    }
    size_t count = frames.count;
    if (wndl_dwarf_lookup(d, addr, &frames, NULL) != WNDL_OK ||
        frames.count != count)
        abort();
}

static enum wndl_status count_function(
    void *context, const struct wndl_dwarf_function *function)
{
    *(size_t *)context += function->range_count;
    return WNDL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_dwarf_sections first = {0};
    struct wndl_dwarf_sections other = {0};
    struct wndl_dwarf_files files = {&other, give, give, give_split};
    struct wndl_dwarf *d;
    struct wndl_dwarf_stats stats;
    size_t ranges = 0;
    size_t units = 0;
    split((struct wndl_bytes){data, size}, &first, &other);
    first.files = &files;
    if (wndl_dwarf_open(&first, wndl_mem_libc(), &d, NULL) != WNDL_OK)
        return 0;
    for (uint64_t i = 0; i < LOOKUPS; i++)
        look_up(d, 0xff8 + 4 * i);
    if (wndl_dwarf_unit_count(d, &units) != WNDL_OK)
        units = 0;
    for (size_t i = 0; i < units; i++)
        (void)!wndl_dwarf_visit_functions(d, i, count_function, &ranges);
    wndl_dwarf_get_stats(d, &stats);
    if (stats.files_missing != 0 && stats.first_missing.status == WNDL_OK)
        abort();
    wndl_dwarf_close(d);
    return 0;
}
