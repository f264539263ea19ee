/* SPDX-License-Identifier: MIT */
#include "out/check/check_text.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

struct writing {
    struct wndl_buf *out;
    const struct wndl_finding_list *list;
    const struct wndl_check *check;
    uint64_t rows;
};

const char *wndl_check_group_title(enum wndl_finding_group group)
{
    static const char *const titles[WNDL_FINDING_GROUPS] = {"Errors",
        "Order of locks", "Leaks", "In modules that are not the program's own"};
    return titles[group];
}

static void put_text(struct writing *w, uint32_t id)
{
    wndl_utf8_plain(w->out, wndl_intern_get(&w->check->texts, id));
}

static const struct wndl_check_error *error_of(
    const struct writing *w, const struct wndl_finding *f)
{
    return wndl_vec_at(&w->check->errors, f->error);
}

/* ---- a finding */

static void put_count(struct writing *w, uint64_t count, const char *what)
{
    wndl_buf_printf(
        w->out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void put_frames(struct writing *w, const struct wndl_check_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct wndl_check_frame *frame =
            wndl_vec_at(&w->check->frames, stack->first + i);
        if (wndl_check_is_hidden(w->check, frame))
            continue;
        wndl_buf_text(w->out, "        ");
        wndl_check_put_place(w->out, w->check, frame, true);
        wndl_buf_byte(w->out, '\n');
    }
}

static void put_stacks(struct writing *w, const struct wndl_check_error *e)
{
    for (uint32_t i = 0; i < e->stacks; i++) {
        const struct wndl_check_stack *stack =
            wndl_vec_at(&w->check->stacks, e->first + i);
        if (stack->note != 0) {
            wndl_buf_text(w->out, "      ");
            put_text(w, stack->note);
            wndl_buf_byte(w->out, '\n');
        }
        put_frames(w, stack);
    }
}

static void put_module(struct writing *w, const char *what, uint32_t place)
{
    const struct wndl_check_frame *frame =
        wndl_vec_at(&w->check->frames, place - 1);
    wndl_buf_text(w->out, what);
    wndl_check_put_place(w->out, w->check, frame, true);
    wndl_buf_text(w->out, " of ");
    put_text(w, frame->module);
}

static void put_remarks(struct writing *w, const struct wndl_finding *f)
{
    if (f->remark != NULL)
        wndl_buf_printf(w->out, "      Perhaps: %s\n", f->remark);
    if (f->allocated_by == 0 || f->freed_by == 0)
        return;
    put_module(w, "      Allocated by ", f->allocated_by);
    put_module(w, ",\n      freed by ", f->freed_by);
    wndl_buf_byte(w->out, '\n');
}

static void put_finding(struct writing *w, const struct wndl_finding *f)
{
    const struct wndl_check_error *e = error_of(w, f);
    wndl_buf_text(w->out, w->list->has_baseline && f->is_new ? "NEW " : "    ");
    put_text(w, e->kind);
    if (f->place != 0) {
        wndl_buf_text(w->out, "  ");
        wndl_check_put_place(w->out, w->check,
            wndl_vec_at(&w->check->frames, f->place - 1), true);
    }
    wndl_buf_text(w->out, "  ");
    put_count(w, f->times, "time");
    if (f->blocks != 0)
        wndl_buf_printf(w->out, ", %" PRIu64 " bytes in %" PRIu64 " blocks",
            f->bytes, f->blocks);
    if (w->list->runs > 1)
        wndl_buf_printf(w->out, ", in %" PRIu32 " of %" PRIu32 " runs", f->runs,
            w->list->runs);
    wndl_buf_text(w->out, "\n      ");
    put_text(w, e->what);
    wndl_buf_byte(w->out, '\n');
    put_stacks(w, e);
    put_remarks(w, f);
    wndl_buf_byte(w->out, '\n');
}

/* ---- the list */

static uint64_t size_of(const struct writing *w, enum wndl_finding_group group)
{
    uint64_t count = 0;
    for (size_t i = 0; i < w->list->findings.len; i++) {
        const struct wndl_finding *f = wndl_vec_at(&w->list->findings, i);
        count += f->group == group;
    }
    return count;
}

static void put_group(struct writing *w, enum wndl_finding_group group)
{
    const uint64_t size = size_of(w, group);
    uint64_t shown = 0;
    if (size == 0)
        return;
    wndl_buf_printf(
        w->out, "%s (%" PRIu64 "):\n\n", wndl_check_group_title(group), size);
    for (size_t i = 0; i < w->list->findings.len && shown < w->rows; i++) {
        const struct wndl_finding *f = wndl_vec_at(&w->list->findings, i);
        if (f->group != group)
            continue;
        put_finding(w, f);
        shown++;
    }
    if (shown < size)
        wndl_buf_printf(w->out, "    %" PRIu64 " more: -n N\n\n", size - shown);
}

static void put_gone(struct writing *w)
{
    const uint64_t gone = wndl_finding_gone_count(w->list);
    if (gone == 0)
        return;
    wndl_buf_printf(w->out, "Gone (%" PRIu64 "):\n\n", gone);
    for (size_t i = 0; i < w->list->known.len; i++) {
        const struct wndl_known_finding *k = wndl_vec_at(&w->list->known, i);
        if (k->is_seen)
            continue;
        wndl_buf_text(w->out, "    ");
        wndl_utf8_plain(w->out, k->kind);
        wndl_buf_text(w->out, "  ");
        wndl_utf8_plain(w->out, k->place);
        wndl_buf_byte(w->out, '\n');
    }
    wndl_buf_byte(w->out, '\n');
}

static void put_kinds(struct writing *w)
{
    for (size_t i = 0; i < w->list->kinds.len; i++) {
        const struct wndl_kind_count *k = wndl_vec_at(&w->list->kinds, i);
        wndl_buf_printf(w->out, "%6" PRIu64 "  %8" PRIu64 " times  ",
            k->distinct, k->times);
        put_text(w, k->kind);
        wndl_buf_byte(w->out, '\n');
    }
}

static void put_summary(struct writing *w)
{
    uint64_t suppressed = 0;
    for (size_t i = 0; i < w->check->suppressions.len; i++) {
        const struct wndl_check_suppression *s =
            wndl_vec_at(&w->check->suppressions, i);
        suppressed += s->times;
    }
    wndl_buf_printf(w->out, "%s: ", w->list->tool);
    put_count(w, w->list->findings.len, "distinct error");
    if (w->list->has_baseline)
        wndl_buf_printf(w->out, ", %" PRIu64 " new, %" PRIu64 " gone",
            wndl_finding_new_count(w->list), wndl_finding_gone_count(w->list));
    wndl_buf_text(w->out, "; ");
    const uint64_t processes = wndl_check_process_count(w->check);
    wndl_buf_printf(w->out, "%" PRIu64 " process%s, ", processes,
        processes == 1 ? "" : "es");
    put_count(w, w->list->runs, "run");
    if (suppressed != 0)
        wndl_buf_printf(w->out, "; %" PRIu64 " times suppressed", suppressed);
    wndl_buf_byte(w->out, '\n');
}

bool wndl_check_text(
    struct wndl_buf *out, const struct wndl_finding_list *list, uint64_t rows)
{
    struct writing w = {out, list, list->check, rows};
    for (int g = 0; g < WNDL_FINDING_GROUPS; g++)
        put_group(&w, (enum wndl_finding_group)g);
    put_gone(&w);
    put_kinds(&w);
    put_summary(&w);
    for (const char *const *note = list->notes; *note != NULL; note++)
        wndl_buf_printf(out, "note: %s\n", *note);
    return !out->failed;
}
