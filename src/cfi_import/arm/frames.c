/* SPDX-License-Identifier: MIT */
#include "cfi_import/arm/frames.h"
#include "cfi_import/arm/source.h"
#include "cfi_import/core/source_impl.h"

enum { ENTRY = 8, WORD = 4 };

/* A function whose rows are being written. */
struct writing {
    struct wndl_frame_writer *writer;
    struct wndl_frame_function function;
    bool begun, failed;
};

static bool visit(void *context, const struct wndl_cfi_row *row)
{
    struct writing *w = context;
    if (!w->begun)
        w->failed = !wndl_frame_writer_begin(w->writer, &w->function);
    w->begun = true;
    if (!w->failed)
        wndl_frame_writer_row(w->writer, row);
    return !w->failed;
}

static void lose_more(struct wndl_cfi_source *cfi, uint64_t entry)
{
    struct wndl_error err = {0};
    wndl_fail_at(&err, WNDL_LIMIT, ".ARM.exidx", entry,
        "more rules than a file of this size has");
    wndl_cfi_source_lose(cfi, &err);
}

enum wndl_status wndl_arm_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_arm_source source;
    struct wndl_frame_writer writer;
    enum wndl_status status = wndl_arm_source_open(&source, object, err);
    if (status != WNDL_OK)
        return status;
    wndl_frame_writer_init(&writer, arena, WORD, WNDL_ARM_LR);
    wndl_frame_writer_bound(&writer,
        source.exidx.index.size + source.exidx.table.size + source.code.size);
    for (size_t i = 0; i < wndl_exidx_count(&source.exidx); i++) {
        struct wndl_error why = {0};
        const struct wndl_frame_function function = {
            wndl_exidx_start(&source.exidx, i), wndl_arm_source_end(&source, i),
            (uint64_t)i * ENTRY, false};
        struct writing w = {&writer, function, false, false};
        if (function.start >= function.end)
            continue;
        status = wndl_arm_source_rows(&source, i, visit, &w, &why);
        /* Code that cannot be unwound is marked as such: nothing is lost. */
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            wndl_cfi_source_lose(cfi, &why);
        if (w.failed || (w.begun && !wndl_frame_writer_end(&writer)))
            lose_more(cfi, function.origin);
    }
    cfi->name = ".ARM.exidx";
    cfi->size = source.exidx.index.size + source.exidx.table.size;
    return wndl_cfi_source_finish(cfi, &writer, arena, err);
}
