/* SPDX-License-Identifier: MIT */
#include "out/check/check_json.h"

#include "out/core/json_put.h"

#include <inttypes.h>
#include <stdio.h>

struct writing {
    struct wndl_json j;
    const struct wndl_finding_list *list;
    const struct wndl_check *check;
};

static const char *const groups[WNDL_FINDING_GROUPS] = {
    "error", "order", "leak", "foreign"};

static void put_id(struct writing *w, const char *name, uint32_t id)
{
    if (id != 0)
        wndl_json_put_string(
            &w->j, name, wndl_intern_get(&w->check->texts, id));
}

static void open_list(struct writing *w, const char *name)
{
    wndl_json_put_key(&w->j, name);
    wndl_json_put_open(&w->j, '[');
}

static void put_frame(struct writing *w, const struct wndl_check_frame *frame)
{
    wndl_json_put_open(&w->j, '{');
    put_id(w, "function", frame->function);
    put_id(w, "module", frame->module);
    put_id(w, "folder", frame->folder);
    put_id(w, "file", frame->file);
    if (frame->line != 0)
        wndl_json_put_number(&w->j, "line", frame->line);
    wndl_json_put_close(&w->j, '}');
}

static void put_stacks(struct writing *w, const struct wndl_check_error *e)
{
    open_list(w, "stacks");
    for (uint32_t i = 0; i < e->stacks; i++) {
        const struct wndl_check_stack *stack =
            wndl_vec_at(&w->check->stacks, e->first + i);
        wndl_json_put_element(&w->j);
        wndl_json_put_open(&w->j, '{');
        put_id(w, "note", stack->note);
        open_list(w, "frames");
        for (uint32_t f = 0; f < stack->count; f++) {
            wndl_json_put_element(&w->j);
            put_frame(w, wndl_vec_at(&w->check->frames, stack->first + f));
        }
        wndl_json_put_close(&w->j, ']');
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

/* A frame's place, of an index + 1. */
static void put_place(struct writing *w, const char *name, uint32_t place)
{
    struct wndl_buf text;
    if (place == 0)
        return;
    wndl_buf_init(&text, w->j.out->mem);
    wndl_check_put_place(
        &text, w->check, wndl_vec_at(&w->check->frames, place - 1), false);
    w->j.out->failed |= text.failed;
    wndl_json_put_string(
        &w->j, name, (struct wndl_bytes){text.data, text.size});
    wndl_buf_free(&text);
}

static void put_finding(struct writing *w, const struct wndl_finding *f)
{
    const struct wndl_check_error *e = wndl_vec_at(&w->check->errors, f->error);
    char key[24];
    snprintf(key, sizeof key, "%016" PRIx64, f->key);
    wndl_json_put_open_line(&w->j);
    wndl_json_put_text(&w->j, "key", key);
    wndl_json_put_text(&w->j, "group", groups[f->group]);
    put_id(w, "kind", e->kind);
    put_id(w, "what", e->what);
    put_place(w, "place", f->place);
    wndl_json_put_truth(&w->j, "new", f->is_new);
    wndl_json_put_number(&w->j, "times", f->times);
    wndl_json_put_number(&w->j, "runs", f->runs);
    if (f->blocks != 0) {
        wndl_json_put_number(&w->j, "bytes", f->bytes);
        wndl_json_put_number(&w->j, "blocks", f->blocks);
    }
    if (f->remark != NULL)
        wndl_json_put_text(&w->j, "remark", f->remark);
    put_place(w, "allocated_by", f->allocated_by);
    put_place(w, "freed_by", f->freed_by);
    put_stacks(w, e);
    wndl_json_put_close(&w->j, '}');
}

static void put_findings(struct writing *w)
{
    open_list(w, "errors");
    for (size_t i = 0; i < w->list->findings.len; i++)
        put_finding(w, wndl_vec_at(&w->list->findings, i));
    wndl_json_put_close(&w->j, ']');
}

static void put_gone(struct writing *w)
{
    open_list(w, "gone");
    for (size_t i = 0; i < w->list->known.len; i++) {
        const struct wndl_known_finding *k = wndl_vec_at(&w->list->known, i);
        char key[24];
        if (k->is_seen)
            continue;
        snprintf(key, sizeof key, "%016" PRIx64, k->key);
        wndl_json_put_open_line(&w->j);
        wndl_json_put_text(&w->j, "key", key);
        wndl_json_put_string(&w->j, "kind", k->kind);
        wndl_json_put_string(&w->j, "place", k->place);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_kinds(struct writing *w)
{
    open_list(w, "kinds");
    for (size_t i = 0; i < w->list->kinds.len; i++) {
        const struct wndl_kind_count *k = wndl_vec_at(&w->list->kinds, i);
        wndl_json_put_open_line(&w->j);
        put_id(w, "kind", k->kind);
        wndl_json_put_number(&w->j, "distinct", k->distinct);
        wndl_json_put_number(&w->j, "times", k->times);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_processes(struct writing *w)
{
    open_list(w, "processes");
    for (size_t i = 0; i < w->check->processes.len; i++) {
        const struct wndl_check_process *p =
            wndl_vec_at(&w->check->processes, i);
        if (p->is_left_out)
            continue;
        wndl_json_put_open_line(&w->j);
        wndl_json_put_number(&w->j, "pid", p->pid);
        put_id(w, "command", p->command);
        wndl_json_put_truth(&w->j, "finished", p->is_finished);
        put_id(w, "signal", p->signal);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_suppressed(struct writing *w)
{
    open_list(w, "suppressed");
    for (size_t i = 0; i < w->check->suppressions.len; i++) {
        const struct wndl_check_suppression *s =
            wndl_vec_at(&w->check->suppressions, i);
        wndl_json_put_open_line(&w->j);
        put_id(w, "name", s->name);
        wndl_json_put_number(&w->j, "times", s->times);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_notes(struct writing *w)
{
    open_list(w, "notes");
    for (const char *const *note = w->list->notes; *note != NULL; note++) {
        wndl_json_put_element(&w->j);
        wndl_json_text(w->j.out, *note);
    }
    wndl_json_put_close(&w->j, ']');
}

bool wndl_check_json(struct wndl_buf *out, const struct wndl_finding_list *list)
{
    struct writing w = {
        .j = {.out = out, .first = true}, .list = list, .check = list->check};
    wndl_json_put_open(&w.j, '{');
    wndl_json_put_number(&w.j, "version", 1);
    wndl_json_put_text(&w.j, "tool", list->tool);
    wndl_json_put_text(&w.j, "command", list->command);
    wndl_json_put_number(&w.j, "runs", list->runs);
    wndl_json_put_number(&w.j, "damaged", list->check->damaged);
    put_findings(&w);
    put_gone(&w);
    put_kinds(&w);
    put_processes(&w);
    put_suppressed(&w);
    put_notes(&w);
    wndl_json_put_close(&w.j, '}');
    wndl_buf_byte(out, '\n');
    return !out->failed;
}
