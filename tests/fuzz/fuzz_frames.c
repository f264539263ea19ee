/* SPDX-License-Identifier: MIT */
/* Any bytes as a binary: its call frame information, in whatever form, comes
 * as records that can be read, each read row by row. */
#include "base/arena.h"
#include "cfi_import/open.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool visit(void *context, const struct wndl_cfi_row *row)
{
    uint64_t *rows = context;
    *rows += row->cfa.kind != WNDL_RULE_UNSET;
    return true;
}

/* What was written by us is whole; what is used in place need not be. */
static void read_records(const struct wndl_cfi_source *cfi)
{
    uint64_t next, rows = 0;
    const bool written = cfi->origins.len != 0;
    for (uint64_t at = 0; at < cfi->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        next = cfi->frame.bytes.size;
        enum wndl_status status =
            wndl_fde_parse(&cfi->frame, at, &fde, &next, NULL);
        if (written && status != WNDL_OK && status != WNDL_NOT_FOUND &&
            status != WNDL_MALFORMED)
            abort();
        (void)wndl_cfi_source_origin(cfi, at);
        if (status == WNDL_OK)
            (void)!wndl_cfi_rows(&cfi->frame, &fde, visit, &rows, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const struct wndl_bytes file = {data, size};
    if (wndl_object_open(file, "a", wndl_mem_libc(), &object, NULL) != WNDL_OK)
        return 0;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_cfi_source_open(&cfi, object, &arena, NULL) == WNDL_OK)
        read_records(&cfi);
    wndl_arena_free(&arena);
    wndl_object_close(object);
    return 0;
}
