/* SPDX-License-Identifier: MIT */
/* The page's strings. */
#include "out/view/view.h"

#include "base/utf8.h"

uint32_t wndl_view_string(struct wndl_view_writer *w, struct wndl_bytes text)
{
    uint32_t id = 0;
    w->failed =
        w->failed || !wndl_intern_add(&w->merged.symbolized.strings, text, &id);
    return id;
}

void wndl_view_add_strings(struct wndl_view_writer *w)
{
    const struct wndl_intern *strings = &w->merged.symbolized.strings;
    uint32_t count = wndl_intern_count(strings);
    uint64_t *ends = wndl_arena_calloc(&w->arena, count, sizeof *ends);
    struct wndl_buf bytes;
    wndl_buf_init(&bytes, w->arena.mem);
    for (uint32_t i = 0; i < count && ends != NULL; i++) {
        wndl_utf8_repaired(&bytes, wndl_intern_get(strings, i));
        ends[i] = bytes.size;
    }
    w->failed = w->failed || ends == NULL || bytes.failed;
    if (!w->failed) {
        wndl_view_bytes(&w->columns, "strings.bytes", bytes.data, bytes.size);
        wndl_view_numbers(&w->columns, "strings.ends", ends, count, true);
    }
    wndl_buf_free(&bytes);
}
