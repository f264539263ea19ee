/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf_info: lookups in any sections, as fuzz_sections.h has them in the
 * input; .debug_aranges is what is left.
 */
#include "fuzz_sections.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKUPS = 96, FRAME_LIMIT = 300 };

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
    in.aranges = split((struct wndl_bytes){data, size}, &in);
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
