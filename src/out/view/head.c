/* SPDX-License-Identifier: MIT */
/* view_head: a page's description of its recordings, for programs to read. */
#include "model/exported.h"
#include "out/core/json_put.h"
#include "out/view/view.h"

#include <string.h>
#include <windlass/version.h>

enum { FORMAT = 2, NS_PER_MS = 1000000 };

static struct wndl_bytes text_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void open_array(struct wndl_json *j, const char *name)
{
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
}

static void put_or_null(
    struct wndl_json *j, const char *name, bool known, uint64_t value)
{
    if (known) {
        wndl_json_put_number(j, name, value);
    } else {
        wndl_json_put_key(j, name);
        wndl_buf_text(j->out, "null");
    }
}

/* ---- recordings */

static void put_losses(struct wndl_json *j, const struct wndl_profile *p)
{
    open_array(j, "losses");
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++) {
        if (p->lost[i] == 0)
            continue;
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_text(j, "reason", wndl_loss_name(i));
        wndl_json_put_number(j, "count", p->lost[i]);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_ends(
    struct wndl_json *j, const char *name, const uint64_t ends[WNDL_WALK_ENDS])
{
    open_array(j, name);
    for (unsigned i = 0; i < WNDL_WALK_ENDS; i++) {
        if (ends[i] == 0)
            continue;
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_number(j, "end", i);
        wndl_json_put_text(j, "text", wndl_walk_end_text(i));
        wndl_json_put_number(j, "count", ends[i]);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_status(struct wndl_json *j, const struct wndl_profile *p)
{
    char text[48];
    uint32_t status = p->status;
    if (!p->finished)
        snprintf(text, sizeof text, "no end recorded");
    else if (status >= WNDL_STATUS_RUNNING)
        snprintf(text, sizeof text, "exit status not known");
    else if (status >= WNDL_STATUS_SIGNALED)
        snprintf(text, sizeof text, "killed by signal %u",
            (unsigned)(status - WNDL_STATUS_SIGNALED));
    else
        snprintf(text, sizeof text, "exit status %u", (unsigned)status);
    wndl_json_put_text(j, "status", text);
}

static void put_summary(struct wndl_json *j, struct wndl_bytes lines)
{
    open_array(j, "summary");
    for (size_t from = 0, at = 0; at < lines.size; at++) {
        if (lines.data[at] != '\n')
            continue;
        wndl_json_put_element(j);
        wndl_json_string(j->out, wndl_bytes_slice(lines, from, at - from));
        from = at + 1;
    }
    wndl_json_put_close(j, ']');
}

static void put_recording(
    struct wndl_json *j, const struct wndl_view_recording *recording)
{
    const struct wndl_profile *p = recording->symbolized->profile;
    wndl_json_put_open_line(j);
    wndl_json_put_string(j, "file", wndl_path_name(text_of(recording->file)));
    wndl_json_put_string(j, "host", p->host);
    wndl_json_put_strings(j, "command", &p->arguments);
    wndl_json_put_number(j, "start", p->realtime / NS_PER_MS);
    wndl_json_put_number(j, "duration_ns", p->duration);
    wndl_json_put_number(j, "interval_ns", p->interval);
    wndl_json_put_text(j, "engine", wndl_json_engine(p->engine));
    wndl_json_put_string(j, "recorder_version", p->recorder_version);
    put_status(j, p);
    wndl_json_put_truth(
        j, "whole", p->finished && !p->cut && p->chunks_damaged == 0);
    put_losses(j, p);
    put_ends(j, "ends", p->ends);
    put_ends(j, "block_ends", p->block_ends);
    put_summary(j, recording->summary);
    wndl_json_put_close(j, '}');
}

/* ---- processes and threads */

static void put_process(
    const struct wndl_view_writer *w, struct wndl_json *j, size_t r, uint32_t i)
{
    const struct wndl_profile *p = wndl_view_profile(w, r);
    const struct wndl_process *process = wndl_vec_at(&p->processes, i);
    bool has_parent = process->parent != WNDL_NO_INDEX;
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "recording", r);
    wndl_json_put_number(j, "pid", process->pid);
    wndl_json_put_number(j, "generation", process->generation);
    put_or_null(j, "parent", has_parent, w->first_process[r] + process->parent);
    wndl_json_put_string(j, "name", wndl_exported_program(p, i));
    wndl_json_command(j, process->command);
    wndl_json_put_number(j, "start_ns", process->start);
    wndl_json_put_number(j, "end_ns", process->end);
    wndl_json_put_close(j, '}');
}

static void put_thread(const struct wndl_view_writer *w, struct wndl_json *j,
    size_t r, const struct wndl_thread *thread)
{
    wndl_json_put_open_line(j);
    wndl_json_put_number(
        j, "process", (uint64_t)w->first_process[r] + thread->process);
    wndl_json_put_number(j, "tid", thread->tid);
    wndl_json_put_string(j, "name", thread->name);
    wndl_json_put_number(j, "start_ns", thread->start);
    wndl_json_put_number(j, "end_ns", thread->end);
    wndl_json_put_number(j, "unsampled_cpu_ns", thread->unsampled_cpu);
    wndl_json_put_close(j, '}');
}

static void put_processes(const struct wndl_view_writer *w, struct wndl_json *j)
{
    open_array(j, "processes");
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_profile *p = wndl_view_profile(w, r);
        for (uint32_t i = 0; i < p->processes.len; i++)
            put_process(w, j, r, i);
    }
    wndl_json_put_close(j, ']');
    open_array(j, "threads");
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_profile *p = wndl_view_profile(w, r);
        for (size_t i = 0; i < p->threads.len; i++)
            put_thread(w, j, r, wndl_vec_at(&p->threads, i));
    }
    wndl_json_put_close(j, ']');
}

/* ---- modules */

static void put_build_id(struct wndl_json *j, struct wndl_bytes id)
{
    wndl_json_put_key(j, "build_id");
    wndl_buf_byte(j->out, '"');
    for (size_t i = 0; i < id.size; i++)
        wndl_buf_printf(j->out, "%02x", id.data[i]);
    wndl_buf_byte(j->out, '"');
}

static void put_modules(const struct wndl_view_writer *w, struct wndl_json *j)
{
    const struct wndl_merged *m = &w->merged;
    open_array(j, "modules");
    for (size_t i = 0; i < m->symbolized.modules.len; i++) {
        const struct wndl_module *module =
            wndl_vec_at(&m->symbolized.modules, i);
        const struct wndl_merged_origin *origin = wndl_vec_at(&m->origins, i);
        wndl_json_put_open_line(j);
        wndl_json_put_id(j, "name", module->name);
        wndl_json_put_id(j, "path", module->path);
        wndl_json_put_text(j, "state", wndl_symbols_state_text(module->state));
        wndl_json_put_id(j, "detail", module->detail);
        wndl_json_put_number(j, "damaged_units", module->units_damaged);
        put_build_id(j, origin->build_id);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* ---- heaps */

static void put_heap_totals(
    struct wndl_json *j, const struct wndl_heap_snapshot *s)
{
    wndl_json_put_key(j, "totals");
    wndl_json_put_open(j, '{');
    if (s != NULL) {
        wndl_json_put_number(j, "live_blocks", wndl_heap_live_blocks(s));
        wndl_json_put_number(j, "live_bytes", wndl_heap_live_bytes(s));
        wndl_json_heap_totals(j, s->totals, s->missed);
    }
    wndl_json_put_close(j, '}');
}

static void put_finding(struct wndl_json *j,
    const struct wndl_merged_part *part,
    const struct wndl_view_finding *finding)
{
    wndl_json_put_open_line(j);
    wndl_json_put_text(j, "kind", finding->kind);
    wndl_json_put_text(j, "title", finding->title);
    wndl_json_put_string(j, "detail", finding->detail);
    wndl_json_put_number(j, "bytes", finding->bytes);
    wndl_json_put_number(j, "blocks", finding->blocks);
    put_or_null(j, "node", finding->node != 0, part->nodes[finding->node]);
    wndl_json_put_close(j, '}');
}

/* Findings of a recording that are still to be written; heaps come in order. */
struct findings {
    size_t recording;
    const struct wndl_view_finding *next, *end;
};

static struct findings findings_of(const struct wndl_view_writer *w, size_t r)
{
    const struct wndl_vec *list = w->view->recordings[r].findings;
    const struct wndl_view_finding *all = list == NULL ? NULL : list->data;
    return (struct findings){
        .recording = r,
        .next = all,
        .end = all == NULL ? NULL : all + list->len,
    };
}

static void put_findings(const struct wndl_view_writer *w, struct wndl_json *j,
    struct findings *left, uint32_t heap)
{
    open_array(j, "findings");
    for (; left->next != left->end && left->next->heap == heap; left->next++)
        put_finding(j, &w->merged.parts[left->recording], left->next);
    wndl_json_put_close(j, ']');
}

/* The snapshots whose live blocks are known. */
static void put_snapshots(
    struct wndl_json *j, const struct wndl_process_heap *heap)
{
    open_array(j, "snapshots");
    for (uint32_t i = 0; i < heap->snapshots.len; i++) {
        const struct wndl_heap_snapshot *s = wndl_vec_at(&heap->snapshots, i);
        if (!wndl_heap_knows_lived(heap, i))
            continue;
        wndl_json_put_open_line(j);
        wndl_json_put_number(j, "number", s->number + 1);
        wndl_json_put_number(j, "time_ns", s->time);
        wndl_json_put_text(j, "why", wndl_snapshot_trigger_text(s->why));
        wndl_json_put_string(j, "text", s->text);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_heap(const struct wndl_view_writer *w, struct wndl_json *j,
    struct findings *left, uint32_t number)
{
    size_t r = left->recording;
    const struct wndl_process_heap *heap =
        wndl_vec_at(&wndl_view_profile(w, r)->heaps, number);
    const struct wndl_heap_snapshot *kept = wndl_heap_kept(heap);
    wndl_json_put_open_line(j);
    wndl_json_put_number(
        j, "process", (uint64_t)w->first_process[r] + heap->process);
    wndl_json_put_truth(j, "tells_gone", heap->cumulative);
    wndl_json_put_truth(j, "sampled", heap->sample_below != 0);
    wndl_json_put_number(j, "sample_below", heap->sample_below);
    wndl_json_put_truth(j, "leaks_known", heap->leaks_known);
    put_or_null(
        j, "snapshot_time_ns", kept != NULL, kept != NULL ? kept->time : 0);
    put_heap_totals(j, kept);
    put_snapshots(j, heap);
    put_findings(w, j, left, number);
    wndl_json_put_close(j, '}');
}

static void put_heaps(const struct wndl_view_writer *w, struct wndl_json *j)
{
    open_array(j, "heaps");
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_profile *p = wndl_view_profile(w, r);
        struct findings left = findings_of(w, r);
        for (uint32_t i = 0; i < p->heaps.len; i++)
            put_heap(w, j, &left, i);
    }
    wndl_json_put_close(j, ']');
}

/* ---- all of it */

static void put_sources(const struct wndl_view_writer *w, struct wndl_json *j)
{
    const struct wndl_view_source_ids *ids = w->sources.data;
    open_array(j, "sources");
    for (size_t i = 0; i < w->sources.len; i++) {
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_number(j, "file", ids[i].file);
        wndl_json_put_number(j, "text", ids[i].text);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_codes(const struct wndl_view_writer *w, struct wndl_json *j)
{
    const struct wndl_view_code_ids *ids = w->codes.data;
    open_array(j, "code");
    for (size_t i = 0; i < w->codes.len; i++) {
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_number(j, "function", ids[i].function);
        wndl_json_put_number(j, "text", ids[i].text);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static struct wndl_bytes report_name(const struct wndl_vec *memory, size_t i)
{
    const struct wndl_view_report *report = wndl_vec_at(memory, i);
    return wndl_path_name(text_of(report->file));
}

/* The names of the first and the last file of memory reports. */
static void add_memory_title(const struct wndl_vec *memory, struct wndl_buf *to)
{
    const struct wndl_bytes first = report_name(memory, 0);
    const struct wndl_bytes last = report_name(memory, memory->len - 1);
    wndl_buf_add(to, first.data, first.size);
    if (wndl_bytes_equal(first, last))
        return;
    wndl_buf_text(to, " to ");
    wndl_buf_add(to, last.data, last.size);
}

static void put_title(const struct wndl_view_writer *w, struct wndl_json *j)
{
    const struct wndl_view_recording *r = w->view->recordings;
    struct wndl_buf title;
    wndl_buf_init(&title, j->out->mem);
    for (size_t i = w->view->count; i-- > 0;) {
        struct wndl_bytes name = wndl_path_name(text_of(r[i].file));
        wndl_buf_add(&title, name.data, name.size);
        wndl_buf_text(&title, i == 0 ? "" : " against ");
    }
    if (w->view->count == 0)
        add_memory_title(w->view->memory, &title);
    wndl_json_put_string(
        j, "title", (struct wndl_bytes){title.data, title.size});
    j->out->failed = j->out->failed || title.failed;
    wndl_buf_free(&title);
}

void wndl_view_put_head(struct wndl_view_writer *w, struct wndl_buf *to)
{
    struct wndl_json j = {.out = to, .s = &w->merged.symbolized, .first = true};
    char program[64];
    snprintf(program, sizeof program, "windlass %s", wndl_version());
    wndl_json_put_open(&j, '{');
    wndl_json_put_number(&j, "format", FORMAT);
    wndl_json_put_text(&j, "program", program);
    put_title(w, &j);
    open_array(&j, "recordings");
    for (size_t r = 0; r < w->view->count; r++)
        put_recording(&j, &w->view->recordings[r]);
    wndl_json_put_close(&j, ']');
    put_processes(w, &j);
    put_modules(w, &j);
    put_heaps(w, &j);
    put_sources(w, &j);
    put_codes(w, &j);
    wndl_view_put_memory(w, &j);
    open_array(&j, "columns");
    wndl_buf_add(to, w->columns.head.data, w->columns.head.size);
    wndl_buf_byte(to, ',');
    wndl_buf_add(to, w->later.head.data, w->later.head.size);
    wndl_json_put_close(&j, ']');
    wndl_json_put_close(&j, '}');
}
