/* SPDX-License-Identifier: MIT */
#include "dbg/breakpad/stack.h"

#include "dbg/breakpad/internal.h"

#include <stdio.h>

static enum wndl_status refuse(const struct wndl_breakpad_stack *record,
    const char *what, struct wndl_error *err)
{
    char text[160];
    snprintf(text, sizeof text, "line %llu: %s",
        (unsigned long long)record->line, what);
    return wndl_fail_at(err, WNDL_MALFORMED, "symbols", record->at, text);
}

/* Takes start and size. False if they are missing, or overflow an address. */
static bool take_range(
    struct wndl_bp_fields *fields, struct wndl_breakpad_stack *record)
{
    uint64_t end;
    return wndl_bp_take_hex(fields, &record->start) &&
           wndl_bp_take_hex(fields, &record->size) &&
           !__builtin_add_overflow(record->start, record->size, &end);
}

static enum wndl_status read_cfi(struct wndl_bp_fields *fields,
    struct wndl_breakpad_stack *record, struct wndl_error *err)
{
    const bool init = wndl_bp_take_if(fields, "INIT");
    record->kind = init ? WNDL_BREAKPAD_CFI_INIT : WNDL_BREAKPAD_CFI;
    if (!(init ? take_range(fields, record)
               : wndl_bp_take_hex(fields, &record->start)))
        return refuse(record, "STACK CFI record without its addresses", err);
    record->rules = wndl_bp_rest(*fields);
    return WNDL_OK;
}

/*
 * "4 1000 20 3 0 8 4 c 0 1 PROGRAM" or "0 1000 20 3 0 8 4 c 0 0 1": the last
 * number says whether there is a program; without one, EBP's use follows it.
 */
static enum wndl_status read_win(struct wndl_bp_fields *fields,
    struct wndl_breakpad_stack *record, struct wndl_error *err)
{
    uint64_t n[7] = {0}, type, flag = 0;
    bool whole = wndl_bp_take_hex(fields, &type) && take_range(fields, record);
    for (size_t i = 0; i < sizeof n / sizeof n[0] && whole; i++)
        whole = wndl_bp_take_hex(fields, &n[i]) && n[i] <= UINT32_MAX;
    if (whole && n[6] == 0)
        whole = wndl_bp_take_hex(fields, &flag);
    if (!whole || type > UINT8_MAX)
        return refuse(record, "STACK WIN record without its numbers", err);
    record->kind = WNDL_BREAKPAD_WIN;
    record->type = (uint8_t)type;
    record->parameters = (uint32_t)n[2];
    record->saved = (uint32_t)n[3];
    record->locals = (uint32_t)n[4];
    record->allocates_bp = flag != 0;
    if (n[6] != 0)
        record->rules = wndl_bp_rest(*fields);
    return WNDL_OK;
}

static enum wndl_status read_record(struct wndl_bp_fields *fields,
    struct wndl_breakpad_stack *record, struct wndl_error *err)
{
    if (wndl_bp_take_if(fields, "CFI"))
        return read_cfi(fields, record, err);
    if (wndl_bp_take_if(fields, "WIN"))
        return read_win(fields, record, err);
    return refuse(record, "STACK record of neither CFI nor WIN", err);
}

enum wndl_status wndl_breakpad_stack_next(struct wndl_breakpad_stacks *stacks,
    struct wndl_breakpad_stack *record, struct wndl_error *err)
{
    const struct wndl_bytes text = stacks->text;
    while (stacks->next < text.size) {
        const uint64_t at = stacks->next;
        stacks->next = wndl_bp_next(text, at);
        stacks->line++;
        if (text.data[at] != 'S')
            continue;
        struct wndl_bp_fields fields = wndl_bp_line_at(text, at);
        if (wndl_bp_take_kind(&fields) != WNDL_BP_STACK)
            continue;
        *record = (struct wndl_breakpad_stack){.at = at, .line = stacks->line};
        enum wndl_status status = read_record(&fields, record, err);
        /* A record without a line end may be cut off and still look valid. */
        if (status == WNDL_OK && text.data[stacks->next - 1] != '\n')
            status = refuse(record, "the text ends in this record", err);
        return status;
    }
    return WNDL_NOT_FOUND;
}

/* ---- the module */

static void widen(struct wndl_breakpad_extent *extent, uint64_t start,
    uint64_t size, uint64_t limit)
{
    if (size == 0 || start >= limit)
        return;
    const uint64_t end = size < limit - start ? start + size : limit;
    if (extent->end == 0 || start < extent->start)
        extent->start = start;
    if (end > extent->end)
        extent->end = end;
}

static void read_line(struct wndl_breakpad_extent *extent,
    struct wndl_bp_fields fields, uint64_t limit)
{
    struct wndl_bp_head head;
    struct wndl_breakpad_stack record = {0};
    switch (wndl_bp_take_kind(&fields)) {
    case WNDL_BP_FUNC:
        if (wndl_bp_take_head(&fields, WNDL_BP_FUNC, &head))
            widen(extent, head.start, head.size, limit);
        break;
    case WNDL_BP_STACK:
        if (read_record(&fields, &record, NULL) == WNDL_OK)
            widen(extent, record.start, record.size, limit);
        break;
    case WNDL_BP_INFO:
        if (extent->code_id.size == 0 && wndl_bp_take_if(&fields, "CODE_ID"))
            (void)wndl_bp_take_word(&fields, &extent->code_id);
        break;
    default:
        break;
    }
}

struct wndl_breakpad_extent wndl_breakpad_read_extent(
    struct wndl_bytes text, uint64_t limit)
{
    struct wndl_breakpad_extent extent = {0};
    for (uint64_t at = 0; at < text.size; at = wndl_bp_next(text, at)) {
        const uint8_t c = text.data[at];
        if (c == 'F' || c == 'S' || c == 'I')
            read_line(&extent, wndl_bp_line_at(text, at), limit);
    }
    return extent;
}
