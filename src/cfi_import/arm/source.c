/* SPDX-License-Identifier: MIT */
#include "cfi_import/arm/source.h"

#include <elf.h>

/* How often code may be followed; with entries in order it is once. */
enum { TIMES_MAX = 8 };

/*
 * Whether entries are in order. One that is not might claim all of the code
 * after it.
 */
static bool is_in_order(const struct wndl_arm_source *source)
{
    const uint64_t code_end = source->code_addr + source->code.size;
    uint64_t left = source->code.size * (uint64_t)TIMES_MAX;
    for (size_t i = 0; i < wndl_exidx_count(&source->exidx); i++) {
        const uint64_t start = wndl_exidx_start(&source->exidx, i);
        uint64_t end = wndl_arm_source_end(source, i);
        end = end < code_end ? end : code_end;
        if (start < source->code_addr || start >= end)
            continue;
        if (end - start > left)
            return false;
        left -= end - start;
    }
    return true;
}

enum wndl_status wndl_arm_source_open(struct wndl_arm_source *source,
    struct wndl_object *object, struct wndl_error *err)
{
    struct wndl_section info;
    struct wndl_exidx *x = &source->exidx;
    *source = (struct wndl_arm_source){0};
    x->big_endian = wndl_object_is_big_endian(object);
    if (wndl_object_machine(object) != EM_ARM ||
        !wndl_object_has_section(object, ".ARM.exidx"))
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_object_section_bytes(object, ".ARM.exidx", &x->index, &info, err);
    if (status != WNDL_OK)
        return status;
    x->index_addr = info.addr.v;
    if (wndl_object_has_section(object, ".ARM.extab")) {
        status = wndl_object_section_bytes(
            object, ".ARM.extab", &x->table, &info, err);
        x->table_addr = info.addr.v;
    }
    if (status == WNDL_OK && wndl_object_has_section(object, ".text")) {
        status = wndl_object_section_bytes(
            object, ".text", &source->code, &info, err);
        source->code_addr = info.addr.v;
    }
    if (status == WNDL_OK && !is_in_order(source))
        return wndl_fail_at(err, WNDL_MALFORMED, ".ARM.exidx", 0,
            "entries that are not in order");
    return status;
}

uint64_t wndl_arm_source_end(const struct wndl_arm_source *source, size_t i)
{
    if (i + 1 < wndl_exidx_count(&source->exidx))
        return wndl_exidx_start(&source->exidx, i + 1);
    return source->code_addr + source->code.size;
}

enum wndl_status wndl_arm_source_rows(const struct wndl_arm_source *source,
    size_t i, bool (*visit)(void *context, const struct wndl_cfi_row *row),
    void *context, struct wndl_error *err)
{
    struct wndl_exidx_entry entry;
    struct wndl_cfi_row body;
    enum wndl_status status = wndl_exidx_read(&source->exidx, i, &entry, err);
    if (status != WNDL_OK)
        return status;
    status = wndl_exidx_row(&entry, &body, err);
    if (status != WNDL_OK)
        return status;
    const struct wndl_arm_function function = {
        .code = source->code,
        .code_addr = source->code_addr,
        .start = entry.start,
        .end = wndl_arm_source_end(source, i),
        .body = &body,
    };
    (void)wndl_arm_rows(&function, visit, context);
    return WNDL_OK;
}
