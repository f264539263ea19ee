/* SPDX-License-Identifier: MIT */
/* Any bytes as a DMD file. */
#include "in/dmd_tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct wndl_dmd_tables *tables, struct wndl_bytes file)
{
    size_t before = 0;
    for (size_t i = 0; i < tables->frames.len; i++) {
        const struct wndl_dmd_frame *f = wndl_vec_at(&tables->frames, i);
        expect(f->key >= before && file.data[f->key] == '"');
        expect(f->text > f->key && f->text <= f->text_end);
        expect(f->text_end < file.size && file.data[f->text_end] == '"');
        before = f->text_end;
    }
    for (size_t i = 0; i < tables->uses.len; i++) {
        const struct wndl_dmd_use *use = wndl_vec_at(&tables->uses, i);
        expect(use->at < file.size && file.data[use->at] == '"');
        expect(use->id.size < file.size - use->at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes file = {data, size};
    struct wndl_arena arena;
    struct wndl_dmd_tables tables;
    struct wndl_error err = {0};
    wndl_arena_init(&arena, wndl_mem_libc());
    enum wndl_status status = wndl_dmd_tables_read(file, &arena, &tables, &err);
    if (status == WNDL_OK)
        expect(wndl_dmd_guess(file) != WNDL_DMD_TOO_SHORT);
    else
        expect(err.offset <= size && err.what[0] != '\0');
    check(&tables, file);
    wndl_arena_free(&arena);
    return 0;
}
