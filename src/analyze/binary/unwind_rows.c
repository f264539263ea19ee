/* SPDX-License-Identifier: MIT */
/* A binary's ranges of equal rules, from its functions' rows. */
#include "analyze/binary/unwind_info_parts.h"

#include "unwind/core/rule.h"

/*
 * A common initial program may be run for each of very many functions. Real
 * files run less than their own size.
 */
enum { WORK_PER_BYTE = 16, WORK_AT_LEAST = 16 * 1024 * 1024 };

/* The state of reading a function's rows. */
struct reading {
    struct wndl_unwind_info *info;
    const struct wndl_unwind_function *function;
    struct wndl_buf text;
    uint64_t work;
    uint64_t done; /* code before it is accounted for, svma */
    bool failed;
};

static enum wndl_unwind_way way_of(const struct wndl_cfi_row *row)
{
    switch ((enum wndl_entry_kind)wndl_rule_of_row(row, row->start).kind) {
    case WNDL_ENTRY_SP:
    case WNDL_ENTRY_SP_LOW:
    case WNDL_ENTRY_FP:
        return WNDL_WAY_FAST;
    case WNDL_ENTRY_REALIGN:
        return WNDL_WAY_REALIGNED;
    case WNDL_ENTRY_SIGRETURN:
        return WNDL_WAY_SIGNAL;
    case WNDL_ENTRY_STOP:
        return WNDL_WAY_OUTERMOST;
    default:
        return WNDL_WAY_FULL;
    }
}

/* Adds a range, or extends the last one if its rule is the same. */
static bool add_range(
    struct wndl_unwind_info *info, uint64_t start, uint64_t end, uint32_t rule)
{
    struct wndl_vec *ranges = &info->ranges;
    struct wndl_unwind_range *last =
        ranges->len == 0 ? NULL : wndl_vec_at(ranges, ranges->len - 1);
    if (last == NULL || last->end != start || last->rule != rule) {
        last = wndl_vec_push(ranges);
        if (last == NULL)
            return false;
        *last = (struct wndl_unwind_range){start, end, rule};
    }
    last->end = end;
    return true;
}

static bool visit_row(void *context, const struct wndl_cfi_row *row)
{
    struct reading *r = context;
    struct wndl_unwind_info *info = r->info;
    uint64_t end = row->end < r->function->end ? row->end : r->function->end;
    uint32_t rule;
    if (row->start >= end)
        return false;
    info->rows++;
    r->done = end;
    if (row->cfa.kind == WNDL_RULE_UNSET) {
        wndl_unwind_info_count_reject(
            info, WNDL_REJECT_NO_CFA, end - row->start, NULL);
        return true;
    }
    wndl_buf_clear(&r->text);
    wndl_cfi_text_rule(&r->text, info->machine, row);
    info->ways[info->knows_ways ? way_of(row) : WNDL_WAY_FULL]++;
    wndl_unwind_info_cover_code(info, row->start, end);
    const struct wndl_bytes text = {r->text.data, r->text.size};
    r->failed = r->text.failed || !wndl_intern_add(&info->rules, text, &rule) ||
                !add_range(info, row->start, end, rule);
    return !r->failed;
}

/* Damaged instructions lose only the entry: the length of an index is known. */
static void read_entry(
    struct reading *r, const struct wndl_unwind_function *function)
{
    struct wndl_error err = {0};
    enum wndl_unwind_reject reason = WNDL_REJECT_DAMAGED_RECORD;
    const enum wndl_status status = wndl_arm_source_rows(
        &r->info->arm, wndl_unwind_info_entry_of(function), visit_row, r, &err);
    if (status == WNDL_NOT_FOUND)
        reason = WNDL_REJECT_CANTUNWIND;
    else if (status == WNDL_UNSUPPORTED)
        reason = WNDL_REJECT_UNSUPPORTED_RECORD;
    if (status != WNDL_OK)
        wndl_unwind_info_count_reject(r->info, reason,
            function->end - function->start,
            status == WNDL_NOT_FOUND ? NULL : &err);
}

static void read_rows(
    struct reading *r, const struct wndl_unwind_function *function)
{
    struct wndl_unwind_info *info = r->info;
    const uint64_t size = info->frame.bytes.size;
    struct wndl_fde fde;
    struct wndl_error err = {0};
    r->function = function;
    if (info->by_exidx) {
        read_entry(r, function);
        return;
    }
    enum wndl_status status =
        wndl_fde_parse(&info->frame, function->fde, &fde, NULL, &err);
    r->done = function->start;
    r->work += fde.cie.program.size + fde.program.size;
    if (r->work > size * WORK_PER_BYTE + WORK_AT_LEAST) {
        wndl_unwind_info_count_reject(
            info, WNDL_REJECT_LIMIT, function->end - function->start, NULL);
        return;
    }
    if (status == WNDL_OK)
        status = wndl_cfi_rows(&info->frame, &fde, visit_row, r, &err);
    if (status != WNDL_OK && r->done < function->end)
        wndl_unwind_info_count_reject(
            info, WNDL_REJECT_DAMAGED_PROGRAM, function->end - r->done, &err);
}

bool wndl_unwind_info_list_ranges(
    struct wndl_unwind_info *info, struct wndl_mem *mem)
{
    struct reading r = {.info = info};
    wndl_buf_init(&r.text, mem);
    for (size_t i = 0; i < info->functions.len && !r.failed; i++) {
        const struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->start < f->end)
            read_rows(&r, f);
    }
    wndl_buf_free(&r.text);
    return !r.failed;
}
