/* SPDX-License-Identifier: MIT */
#include "cfi_import/open.h"
#include "unwind_tables/table/rows.h"
#include "unwind_tables/table/table.h"

#include <stdlib.h>

static bool is_code(
    const struct wndl_object *object, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        const struct wndl_segment s = wndl_object_segment(object, i);
        if (s.executable && start >= s.addr.v && end - s.addr.v <= s.mem_size)
            return true;
    }
    return false;
}

static int compare_functions(const void *a, const void *b)
{
    const struct wndl_table_function *f = a, *g = b;
    if (f->start != g->start)
        return f->start < g->start ? -1 : 1;
    return f->fde < g->fde ? -1 : f->fde > g->fde;
}

/* Where two overlap, lookups find the one that starts last. */
static void sort_functions(struct wndl_table_source *source)
{
    struct wndl_vec *v = &source->functions;
    if (v->len > 1)
        qsort(v->data, v->len, v->element, compare_functions);
    for (size_t i = 0; i + 1 < v->len; i++) {
        struct wndl_table_function *f = wndl_vec_at(v, i);
        if (f->end > f[1].start)
            f->end = f[1].start;
    }
}

/* False if memory is out. */
static bool list_functions(
    struct wndl_table_source *source, const struct wndl_object *object)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < source->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        next = source->frame.bytes.size;
        enum wndl_status status =
            wndl_fde_parse(&source->frame, at, &fde, &next, NULL);
        source->lost += status != WNDL_OK && status != WNDL_NOT_FOUND;
        if (status != WNDL_OK || fde.start >= fde.end ||
            !is_code(object, fde.start, fde.end))
            continue;
        struct wndl_table_function *f = wndl_vec_push(&source->functions);
        if (f == NULL)
            return false;
        *f = (struct wndl_table_function){fde.start, fde.end, fde.offset};
    }
    sort_functions(source);
    return true;
}

enum wndl_status wndl_table_source_open(struct wndl_table_source *source,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    *source = (struct wndl_table_source){
        .arch = wndl_arch_of(wndl_object_machine(object))};
    wndl_vec_init(
        &source->functions, arena, sizeof(struct wndl_table_function));
    if (!wndl_object_is_image(object))
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "not a program or a shared library");
    if (wndl_object_machine(object) == 0 || source->arch == NULL)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "unsupported machine (supported: x86-64, i386, AArch64 and Arm)");
    struct wndl_cfi_source cfi;
    enum wndl_status status = wndl_cfi_source_open(&cfi, object, arena, err);
    source->name = cfi.name;
    source->size = cfi.size;
    source->frame = cfi.frame;
    source->lost = cfi.damaged.count + cfi.unsupported.count;
    if (status == WNDL_OK && !list_functions(source, object))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (status == WNDL_OK && source->functions.len == 0)
        return wndl_fail(
            err, WNDL_NOT_FOUND, "%s has no rules for any code", source->name);
    return status;
}
