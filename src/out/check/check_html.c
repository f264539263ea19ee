/* SPDX-License-Identifier: MIT */
#include "out/check/check_html.h"

#include "base/utf8.h"
#include "out/check/check_text.h"

#include <inttypes.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>windlass check</title>\n<style>\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;"
    "padding:0 1em;color:#1b1b1b;background:#fff}\n"
    "summary{cursor:pointer}pre{overflow-x:auto;background:#f4f4f4;"
    "padding:.6em}\n.new{color:#a00000;font-weight:bold}"
    "td{padding:.1em 1em .1em 0;text-align:right}"
    "td:last-child{text-align:left}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}"
    "pre{background:#242424}.new{color:#ff8a80}}\n"
    "</style></head><body>\n";

struct writing {
    struct wndl_buf *out;
    const struct wndl_finding_list *list;
    const struct wndl_check *check;
    struct wndl_buf text; /* before it is escaped */
};

/* Text from outside, with what HTML would take for its own escaped. */
static void put_escaped(struct wndl_buf *out, struct wndl_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        switch (text.data[i]) {
        case '<':
            wndl_buf_text(out, "&lt;");
            break;
        case '>':
            wndl_buf_text(out, "&gt;");
            break;
        case '&':
            wndl_buf_text(out, "&amp;");
            break;
        case '"':
            wndl_buf_text(out, "&quot;");
            break;
        default:
            wndl_buf_byte(out, text.data[i]);
            break;
        }
    }
}

static void put_collected(struct writing *w)
{
    w->out->failed |= w->text.failed;
    put_escaped(w->out, (struct wndl_bytes){w->text.data, w->text.size});
    wndl_buf_clear(&w->text);
}

static void put_string(struct writing *w, const char *text)
{
    wndl_utf8_plain(
        &w->text, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
    put_collected(w);
}

static void put_id(struct writing *w, uint32_t id)
{
    put_string(w, wndl_intern_text(&w->check->texts, id));
}

static void put_place(struct writing *w, uint32_t index)
{
    wndl_check_put_place(
        &w->text, w->check, wndl_vec_at(&w->check->frames, index), true);
    put_collected(w);
}

static void put_stacks(struct writing *w, const struct wndl_check_error *e)
{
    wndl_buf_text(w->out, "<pre>");
    for (uint32_t i = 0; i < e->stacks; i++) {
        const struct wndl_check_stack *stack =
            wndl_vec_at(&w->check->stacks, e->first + i);
        if (stack->note != 0) {
            put_id(w, stack->note);
            wndl_buf_byte(w->out, '\n');
        }
        for (uint32_t f = 0; f < stack->count; f++) {
            if (wndl_check_is_hidden(
                    w->check, wndl_vec_at(&w->check->frames, stack->first + f)))
                continue;
            wndl_buf_text(w->out, "    ");
            put_place(w, stack->first + f);
            wndl_buf_byte(w->out, '\n');
        }
    }
    wndl_buf_text(w->out, "</pre>");
}

static void put_remarks(struct writing *w, const struct wndl_finding *f)
{
    if (f->remark != NULL) {
        wndl_buf_text(w->out, "<p>Perhaps: ");
        put_string(w, f->remark);
        wndl_buf_text(w->out, "</p>");
    }
    if (f->allocated_by == 0 || f->freed_by == 0)
        return;
    wndl_buf_text(w->out, "<p>Allocated by ");
    put_place(w, f->allocated_by - 1);
    wndl_buf_text(w->out, ", freed by ");
    put_place(w, f->freed_by - 1);
    wndl_buf_text(w->out, "</p>");
}

static void put_finding(struct writing *w, const struct wndl_finding *f)
{
    const struct wndl_check_error *e = wndl_vec_at(&w->check->errors, f->error);
    wndl_buf_text(w->out, "<details><summary>");
    if (w->list->has_baseline && f->is_new)
        wndl_buf_text(w->out, "<span class=\"new\">new</span> ");
    put_id(w, e->kind);
    wndl_buf_text(w->out, " <b>");
    if (f->place != 0)
        put_place(w, f->place - 1);
    wndl_buf_printf(w->out, "</b> %" PRIu64 "&times;", f->times);
    if (w->list->runs > 1)
        wndl_buf_printf(w->out, ", in %" PRIu32 " of %" PRIu32 " runs", f->runs,
            w->list->runs);
    wndl_buf_text(w->out, "</summary><p>");
    put_id(w, e->what);
    wndl_buf_text(w->out, "</p>");
    put_stacks(w, e);
    put_remarks(w, f);
    wndl_buf_text(w->out, "</details>\n");
}

static void put_group(struct writing *w, enum wndl_finding_group group)
{
    bool has_title = false;
    for (size_t i = 0; i < w->list->findings.len; i++) {
        const struct wndl_finding *f = wndl_vec_at(&w->list->findings, i);
        if (f->group != group)
            continue;
        if (!has_title)
            wndl_buf_printf(
                w->out, "<h2>%s</h2>\n", wndl_check_group_title(group));
        has_title = true;
        put_finding(w, f);
    }
}

static void put_gone(struct writing *w)
{
    if (wndl_finding_gone_count(w->list) == 0)
        return;
    wndl_buf_text(w->out, "<h2>Gone</h2>\n<ul>");
    for (size_t i = 0; i < w->list->known.len; i++) {
        const struct wndl_known_finding *k = wndl_vec_at(&w->list->known, i);
        if (k->is_seen)
            continue;
        wndl_buf_text(w->out, "<li>");
        wndl_utf8_plain(&w->text, k->kind);
        wndl_buf_byte(&w->text, ' ');
        wndl_utf8_plain(&w->text, k->place);
        put_collected(w);
    }
    wndl_buf_text(w->out, "</ul>\n");
}

static void put_head(struct writing *w)
{
    wndl_buf_text(w->out, head);
    wndl_buf_printf(
        w->out, "<h1>windlass check %s</h1>\n<p><code>", w->list->tool);
    put_string(w, w->list->command);
    wndl_buf_printf(
        w->out, "</code></p>\n<p>%zu distinct errors", w->list->findings.len);
    if (w->list->has_baseline)
        wndl_buf_printf(w->out, ", %" PRIu64 " new, %" PRIu64 " gone",
            wndl_finding_new_count(w->list), wndl_finding_gone_count(w->list));
    wndl_buf_text(w->out, "</p>\n<table>");
    for (size_t i = 0; i < w->list->kinds.len; i++) {
        const struct wndl_kind_count *k = wndl_vec_at(&w->list->kinds, i);
        wndl_buf_printf(w->out,
            "<tr><td>%" PRIu64 "</td><td>%" PRIu64 "&times;</td><td>",
            k->distinct, k->times);
        put_id(w, k->kind);
        wndl_buf_text(w->out, "</td></tr>");
    }
    wndl_buf_text(w->out, "</table>\n");
}

bool wndl_check_html(struct wndl_buf *out, const struct wndl_finding_list *list)
{
    struct writing w = {.out = out, .list = list, .check = list->check};
    wndl_buf_init(&w.text, out->mem);
    put_head(&w);
    for (const char *const *note = list->notes; *note != NULL; note++) {
        wndl_buf_text(out, "<p>Note: ");
        put_string(&w, *note);
        wndl_buf_text(out, "</p>\n");
    }
    for (int g = 0; g < WNDL_FINDING_GROUPS; g++)
        put_group(&w, (enum wndl_finding_group)g);
    put_gone(&w);
    wndl_buf_text(out, "</body></html>\n");
    wndl_buf_free(&w.text);
    return !out->failed;
}
