/* SPDX-License-Identifier: MIT */
/* A binary's functions, from its records or entries. */
#include "analyze/binary/unwind_info_parts.h"

#include <stdlib.h>

static int compare_functions(const void *a, const void *b)
{
    const struct wndl_unwind_function *f = a, *g = b;
    if (f->start != g->start)
        return f->start < g->start ? -1 : 1;
    return f->fde < g->fde ? -1 : f->fde > g->fde;
}

/* Where two functions overlap, lookups find the one that starts last. */
static void cut_overlaps(struct wndl_unwind_info *info)
{
    for (size_t i = 0; i + 1 < info->functions.len; i++) {
        struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->end <= f[1].start)
            continue;
        wndl_unwind_info_count_reject(
            info, WNDL_REJECT_OVERLAP, f->end - f[1].start, NULL);
        f->end = f[1].start;
    }
}

static bool add_function(
    struct wndl_unwind_info *info, const struct wndl_unwind_function *function)
{
    if (function->start >= function->end ||
        !wndl_unwind_info_touches_code(info, function->start, function->end)) {
        wndl_unwind_info_count_reject(info, WNDL_REJECT_NO_CODE, 0, NULL);
        return true;
    }
    struct wndl_unwind_function *f = wndl_vec_push(&info->functions);
    if (f == NULL)
        return false;
    *f = *function;
    return true;
}

static bool list_entries(struct wndl_unwind_info *info)
{
    const struct wndl_arm_source *arm = &info->arm;
    for (size_t i = 0; i < wndl_exidx_count(&arm->exidx); i++) {
        const struct wndl_unwind_function f = {
            wndl_exidx_start(&arm->exidx, i),
            wndl_arm_source_end(arm, i),
            (uint64_t)i * WNDL_EXIDX_ENTRY,
        };
        if (!add_function(info, &f))
            return false;
    }
    return true;
}

/* A record whose length cannot be read loses the rest of the section. */
static bool list_records(struct wndl_unwind_info *info)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < info->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        struct wndl_error err = {0};
        next = info->frame.bytes.size;
        enum wndl_status status =
            wndl_fde_parse(&info->frame, at, &fde, &next, &err);
        if (status == WNDL_UNSUPPORTED)
            wndl_unwind_info_count_reject(
                info, WNDL_REJECT_UNSUPPORTED_RECORD, 0, &err);
        else if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            wndl_unwind_info_count_reject(
                info, WNDL_REJECT_DAMAGED_RECORD, 0, &err);
        const struct wndl_unwind_function f = {fde.start, fde.end, fde.offset};
        if (status == WNDL_OK && !add_function(info, &f))
            return false;
    }
    return true;
}

bool wndl_unwind_info_list_functions(struct wndl_unwind_info *info)
{
    if (info->by_exidx ? !list_entries(info) : !list_records(info))
        return false;
    if (info->functions.len > 1)
        qsort(info->functions.data, info->functions.len,
            info->functions.element, compare_functions);
    cut_overlaps(info);
    return true;
}
