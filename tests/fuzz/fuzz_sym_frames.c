/* SPDX-License-Identifier: MIT */
/* Any text as a Breakpad symbol file: what its STACK records come to is call
 * frame information that can be read row by row, and made a table of. */
#include "cfi_import/open.h"
#include "cfi_import/stack_record/object.h"
#include "unwind_tables/table/table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool visit(void *context, const struct wndl_cfi_row *row)
{
    uint64_t *rows = context;
    *rows += row->cfa.kind != WNDL_RULE_UNSET;
    return true;
}

static void read_records(const struct wndl_cfi_source *cfi)
{
    uint64_t next, rows = 0;
    for (uint64_t at = 0; at < cfi->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        const enum wndl_status status =
            wndl_fde_parse(&cfi->frame, at, &fde, &next, NULL);
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            abort();
        if (status == WNDL_OK &&
            wndl_cfi_rows(&cfi->frame, &fde, visit, &rows, NULL) != WNDL_OK)
            abort();
    }
}

static void make_table(struct wndl_object *object)
{
    struct wndl_buf out;
    struct wndl_table table;
    struct wndl_table_stats stats;
    struct wndl_table_verdict verdict;
    wndl_buf_init(&out, wndl_mem_libc());
    if (wndl_table_build(object, &out, &stats, NULL) == WNDL_OK &&
        (wndl_table_open((struct wndl_bytes){out.data, out.size}, &table,
             NULL) != WNDL_OK ||
            wndl_table_verify(&table, object, &verdict, NULL) != WNDL_OK ||
            verdict.wrong != 0))
        abort();
    wndl_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    const struct wndl_object_source source = {{data, size}, "a.sym", NULL};
    if (wndl_symbol_file_object_open(&source, wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        return 0;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_object_has_section(object, WNDL_STACK_RECORD_SECTION)) {
        if (wndl_cfi_source_open(&cfi, object, &arena, NULL) == WNDL_OK)
            read_records(&cfi);
        make_table(object);
    }
    wndl_arena_free(&arena);
    wndl_object_close(object);
    return 0;
}
