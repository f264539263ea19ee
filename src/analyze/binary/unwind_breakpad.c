/* SPDX-License-Identifier: MIT */
/* A function's rows as STACK CFI records. */
#include "analyze/binary/unwind_info_parts.h"

/* A function's STACK CFI records being written. */
struct records {
    struct wndl_buf *text;
    const struct wndl_unwind_info *info;
    const struct wndl_unwind_function *function;
    struct wndl_cfi_row before;
    bool begun;
};

static bool visit_record(void *context, const struct wndl_cfi_row *row)
{
    struct records *r = context;
    const struct wndl_unwind_function *f = r->function;
    const uint64_t base = wndl_object_image_base(r->info->object).v;
    if (row->cfa.kind == WNDL_RULE_UNSET || row->start >= f->end)
        return row->start < f->end;
    if (!r->begun)
        wndl_buf_printf(r->text, "STACK CFI INIT %llx %llx ",
            (unsigned long long)(row->start - base),
            (unsigned long long)(f->end - row->start));
    else
        wndl_buf_printf(r->text, "STACK CFI %llx ",
            (unsigned long long)(row->start - base));
    size_t said = r->text->size;
    wndl_cfi_text_breakpad(
        r->text, r->info->machine, row, r->begun ? &r->before : NULL);
    if (r->begun && r->text->size == said) {
        /* The row differs only in registers for which Breakpad has no name. */
        while (r->text->size > 0 && r->text->data[r->text->size - 1] != '\n')
            r->text->size--;
    } else {
        wndl_buf_byte(r->text, '\n');
    }
    r->before = *row;
    r->begun = true;
    return true;
}

void wndl_unwind_info_breakpad(struct wndl_buf *text,
    const struct wndl_unwind_info *info,
    const struct wndl_unwind_function *function)
{
    struct wndl_fde fde;
    struct records records = {text, info, function, {0}, false};
    if (function->start >= function->end)
        return;
    enum wndl_status status;
    if (info->by_exidx)
        status = wndl_arm_source_rows(&info->arm,
            wndl_unwind_info_entry_of(function), visit_record, &records, NULL);
    else
        status = wndl_fde_parse(&info->frame, function->fde, &fde, NULL, NULL);
    if (status == WNDL_OK && !info->by_exidx)
        status =
            wndl_cfi_rows(&info->frame, &fde, visit_record, &records, NULL);
    /* Damage has been counted when the file was opened. */
    (void)status;
}
