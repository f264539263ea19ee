/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pcln: any bytes as Go's table of functions, asked for everything. The
 * first byte says the byte order, the next four where inlined calls begin.
 */
#include "base/arena.h"
#include "dbg/go/pcln.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64, TEXT = 0x401000 };

static void look_up(struct wndl_pcln *pcln, uint64_t addr)
{
    struct wndl_pcln_frames frames;
    if (wndl_pcln_lookup(pcln, (wndl_svma){addr}, &frames) != WNDL_OK)
        return;
    if (frames.count == 0)
        abort();
    for (size_t i = 0; i < frames.count; i++) {
        const struct wndl_pcln_frame *f = &frames.frames[i];
        if (f->inlined != (i + 1 < frames.count) ||
            f->name.data[f->name.size] != '\0' ||
            f->file.data[f->file.size] != '\0')
            abort();
    }
}

static void ask(struct wndl_pcln *pcln)
{
    size_t count = wndl_pcln_count(pcln);
    for (size_t i = 0; i < count && i < MOST; i++) {
        struct wndl_pcln_function function;
        if (!wndl_pcln_function(pcln, i, &function))
            continue;
        if (function.end.v < function.start.v)
            abort();
        look_up(pcln, function.start.v);
        look_up(pcln, (function.start.v + function.end.v) / 2);
        look_up(pcln, function.end.v - 1);
    }
    struct wndl_arena arena;
    struct wndl_vec places;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&places, &arena, sizeof(uint64_t));
    (void)!wndl_pcln_changes(
        pcln, (wndl_svma){TEXT}, (wndl_svma){TEXT + (1 << 20)}, &places);
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes all = {data, size};
    struct wndl_cursor c = wndl_cursor_at(all, 0, false);
    bool big_endian = wndl_cursor_u8(&c) & 1;
    uint32_t split = wndl_cursor_u32(&c);
    size_t left = wndl_cursor_left(&c);
    if (split > left)
        split = (uint32_t)left;
    const struct wndl_pcln_source source = {
        .table = {c.next, split},
        .text = {TEXT},
        .inlined = {c.next + split, left - split},
        .big_endian = big_endian,
    };
    struct wndl_pcln *pcln;
    if (wndl_pcln_open(&source, wndl_mem_libc(), &pcln, NULL) != WNDL_OK)
        return 0;
    ask(pcln);
    wndl_pcln_close(pcln);
    return 0;
}
