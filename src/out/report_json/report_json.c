/* SPDX-License-Identifier: MIT */
#include "out/report_json/report_json.h"

#include "base/json.h"
#include "model/certainty.h"
#include "model/frame_key.h"
#include "model/remedy.h"

#include <inttypes.h>
#include <string.h>

enum { SCHEMA_VERSION = 2 };

static void put_costs(struct wndl_json *j, const struct wndl_row *row)
{
    wndl_json_put_number(j, "self", row->self.samples);
    wndl_json_put_number(j, "total", row->total.samples);
    bool bytes = j->r->time == WNDL_TIME_BYTES;
    wndl_json_put_number(j, bytes ? "self_bytes" : "self_ns", row->self.time);
    wndl_json_put_number(
        j, bytes ? "total_bytes" : "total_ns", row->total.time);
}

static void put_certainty(struct wndl_json *j, const struct wndl_row *row)
{
    if (row->checked != 0)
        wndl_json_put_number(j, "checked", row->checked);
    if (row->guessed != 0)
        wndl_json_put_number(j, "guessed", row->guessed);
}

/* ---- quality */

/* Writes the counts that are not 0. */
static void counts_by_name(struct wndl_json *j, const uint64_t *counts,
    const char *const *names, unsigned count)
{
    wndl_json_put_open(j, '{');
    for (unsigned i = 0; i < count; i++) {
        if (counts[i] != 0)
            wndl_json_put_number(j, names[i], counts[i]);
    }
    wndl_json_put_close(j, '}');
}

static void walk_ends(struct wndl_json *j, const uint64_t *ends)
{
    static const char *const names[WNDL_WALK_ENDS] = {"complete", "truncated",
        "no-rule", "bad-read", "no-progress", "bad-cfi", "bad-pc", "fp-root",
        "other"};
    wndl_json_put_key(j, "ends");
    counts_by_name(j, ends, names, WNDL_WALK_ENDS);
}

static void sample_drops(struct wndl_json *j)
{
    static const char *const names[WNDL_LOST_REASONS] = {"damaged", "ring-full",
        "tree-full", "threads-full", "modules-full", "busy", "no-stack",
        "overrun", "other"};
    wndl_json_put_key(j, "dropped_by");
    counts_by_name(
        j, j->r->symbolized->profile->lost, names, WNDL_LOST_REASONS);
}

static void quality_fields(struct wndl_json *j, const struct wndl_quality *q)
{
    wndl_json_put_number(j, "kept", q->kept);
    wndl_json_put_number(j, "complete", q->complete);
    wndl_json_put_number(j, "guessed", q->guessed);
    wndl_json_put_number(j, "truncated", q->truncated);
    wndl_json_put_number(j, "lost", q->lost);
    wndl_json_put_number(j, "dropped", q->dropped);
}

static void put_lost_place(
    struct wndl_json *j, const struct wndl_lost_place *place)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_function *f = wndl_vec_at(&s->functions, place->function);
    const struct wndl_module *module = wndl_vec_at(&s->modules, f->module);
    wndl_json_put_open_line(j);
    wndl_json_put_string(j, "function", wndl_intern_get(&s->strings, f->name));
    wndl_json_put_string(
        j, "module", wndl_intern_get(&s->strings, module->name));
    wndl_json_put_number(j, "samples", place->count);
    wndl_json_put_text(j, "remedy", wndl_remedy_of(j->r, place));
    wndl_json_put_close(j, '}');
}

/* The functions in which most of the lost stacks end, if there are many. */
static void put_lost_in(struct wndl_json *j)
{
    const struct wndl_lost_in *in = &j->r->lost_in;
    if (in->count == 0)
        return;
    wndl_json_put_key(j, "lost_in");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < in->count; i++)
        put_lost_place(j, &in->places[i]);
    wndl_json_put_close(j, ']');
}

static void put_samples(struct wndl_json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    wndl_json_put_key(j, "samples");
    wndl_json_put_open(j, '{');
    quality_fields(j, &j->r->quality);
    if (p->is_selected)
        wndl_json_put_number(j, "selected_of", p->unselected.samples);
    wndl_json_put_number(j, "discarded", p->discarded);
    if (p->unwritten.times != 0)
        wndl_json_put_number(j, "unwritten", p->unwritten.samples);
    if (p->command_cpu != 0)
        wndl_json_put_number(j, "command_cpu_ns", p->command_cpu);
    wndl_json_put_number(j, "cpu_ns", j->r->times.sampled_cpu);
    wndl_json_put_number(j, "unsampled_cpu_ns", j->r->times.unsampled_cpu);
    if (j->r->times.loading_cpu != 0)
        wndl_json_put_number(j, "loading_cpu_ns", j->r->times.loading_cpu);
    if (j->r->times.starting_cpu != 0)
        wndl_json_put_number(j, "starting_cpu_ns", j->r->times.starting_cpu);
    wndl_json_put_number(j, "overruns", j->r->quality.overruns);
    walk_ends(j, p->ends);
    put_lost_in(j);
    sample_drops(j);
    wndl_json_put_close(j, '}');
}

static void put_blocks(struct wndl_json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    wndl_json_put_key(j, "blocks");
    wndl_json_put_open(j, '{');
    quality_fields(j, &j->r->blocked);
    if (p->is_selected)
        wndl_json_put_number(j, "selected_of", p->unselected.blocks);
    if (j->r->time == WNDL_TIME_BYTES) {
        wndl_json_put_number(j, "bytes", j->r->times.blocked);
    } else {
        wndl_json_put_number(j, "blocked_ns", j->r->times.blocked);
        wndl_json_put_number(j, "waiting_ns", j->r->times.waiting);
    }
    walk_ends(j, p->block_ends);
    wndl_json_put_close(j, '}');
}

static const char *reason_name(uint32_t reason)
{
    static const char *const names[] = {"unknown", "static", "setuid", "libc",
        "go", "emulated", "environment", "machine", "descriptors", "memory",
        "sandbox", "clone", "version"};
    return names[reason < sizeof names / sizeof names[0] ? reason : 0];
}

static void put_unfollowed(struct wndl_json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    wndl_json_put_key(j, "unfollowed");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < p->unrecorded_processes.len; i++) {
        const struct wndl_unrecorded_process *process =
            wndl_vec_at(&p->unrecorded_processes, i);
        wndl_json_put_open_line(j);
        wndl_json_put_number(j, "pid", process->pid);
        if (process->parent != WNDL_NO_INDEX)
            wndl_json_put_number(j, "parent", process->parent);
        wndl_json_put_number(j, "time_ns", process->time);
        wndl_json_put_text(j, "reason", reason_name(process->reason));
        wndl_json_put_string(j, "executable", process->executable);
        wndl_json_command(j, process->command);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_processes(struct wndl_json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    wndl_json_put_key(j, "processes");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < j->r->processes.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->processes, i);
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, row->key);
        wndl_json_put_open_line(j);
        wndl_json_put_number(j, "index", row->key);
        wndl_json_put_number(j, "pid", process->pid);
        wndl_json_put_number(j, "generation", process->generation);
        if (process->parent != WNDL_NO_INDEX)
            wndl_json_put_number(j, "parent", process->parent);
        wndl_json_put_string(j, "executable", process->executable);
        wndl_json_command(j, process->command);
        wndl_json_put_number(j, "start_ns", process->start);
        wndl_json_put_number(j, "end_ns", process->end);
        put_costs(j, row);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void thread_fields(struct wndl_json *j, const struct wndl_row *row)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, row->key);
    wndl_json_put_string(j, "name", thread->name);
    wndl_json_put_number(j, "tid", thread->tid);
    wndl_json_put_number(j, "process", thread->process);
    const struct wndl_times *times = &j->r->times_of_thread[row->key];
    wndl_json_put_number(j, "start_ns", thread->start);
    wndl_json_put_number(j, "end_ns", thread->end);
    wndl_json_put_number(
        j, "cpu_ns", times->sampled_cpu + times->unsampled_cpu);
    wndl_json_put_number(j, "unsampled_cpu_ns", times->unsampled_cpu);
    wndl_json_put_number(j, "blocked_ns", times->blocked);
    wndl_json_put_number(j, "waiting_ns", times->waiting);
}

/* Bytes of a heap belong to none of them. */
static void put_threads(struct wndl_json *j)
{
    if (j->r->time == WNDL_TIME_BYTES)
        return;
    wndl_json_put_key(j, "threads");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < j->r->threads.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->threads, i);
        wndl_json_put_open_line(j);
        thread_fields(j, row);
        put_costs(j, row);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* ---- modules, functions, lines */

static const char *state_name(enum wndl_symbols_state state)
{
    static const char *const names[] = {
        [WNDL_SYMBOLS_LINES] = "lines",
        [WNDL_SYMBOLS_NAMES] = "names",
        [WNDL_SYMBOLS_EXPORTED] = "exported",
        [WNDL_SYMBOLS_REPLACED] = "replaced",
        [WNDL_SYMBOLS_UNREADABLE] = "unreadable",
        [WNDL_SYMBOLS_NO_FILE] = "no-file",
        [WNDL_SYMBOLS_NOWHERE] = "nowhere",
        [WNDL_SYMBOLS_GENERATED] = "generated",
    };
    return names[state];
}

static void module_fields(struct wndl_json *j, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_module *module = wndl_vec_at(&s->modules, row->key);
    wndl_json_put_id(j, "module", module->path);
    wndl_json_put_text(j, "symbols", state_name(module->state));
    if (module->detail != 0)
        wndl_json_put_id(j, "detail", module->detail);
    if (module->units_damaged != 0)
        wndl_json_put_number(j, "units_damaged", module->units_damaged);
}

static void function_part(
    struct wndl_json *j, const struct wndl_function *function)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, function->module);
    wndl_json_put_id(j, "function", function->name);
    wndl_json_put_id(j, "module", module->path);
}

static void function_fields(struct wndl_json *j, const struct wndl_row *row)
{
    const struct wndl_function *function =
        wndl_vec_at(&j->r->symbolized->functions, row->key);
    function_part(j, function);
    if (function->file != 0)
        wndl_json_put_id(j, "file", function->file);
    if (function->line != 0)
        wndl_json_put_number(j, "line", function->line);
}

static void line_fields(struct wndl_json *j, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_location *location = wndl_vec_at(&s->locations, row->key);
    function_part(j, wndl_vec_at(&s->functions, location->function));
    if (location->file != 0)
        wndl_json_put_id(j, "file", location->file);
    if (location->line != 0)
        wndl_json_put_number(j, "line", location->line);
}

static void file_fields(struct wndl_json *j, const struct wndl_row *row)
{
    if (row->key != 0)
        wndl_json_put_id(j, "file", row->key);
}

/* The byte that was running, from the start of the module on if it has one. */
static void address_fields(struct wndl_json *j, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_frame_key *key =
        wndl_vec_at(&s->profile->frames, row->key);
    const struct wndl_span *span = wndl_vec_at(&s->spans, row->key);
    const struct wndl_location *location = wndl_symbolized_location(s, span, 0);
    wndl_json_put_number(j, "address", wndl_frame_key_byte(key));
    function_part(j, wndl_vec_at(&s->functions, location->function));
    if (location->file != 0)
        wndl_json_put_id(j, "file", location->file);
    if (location->line != 0)
        wndl_json_put_number(j, "line", location->line);
}

static void put_unnamed(struct wndl_json *j)
{
    wndl_json_put_key(j, "without_symbols");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < j->r->unnamed.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->unnamed, i);
        wndl_json_put_open_line(j);
        module_fields(j, row);
        put_costs(j, row);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_rows(struct wndl_json *j, size_t max_rows)
{
    static const struct {
        const char *name;
        void (*fields)(struct wndl_json *j, const struct wndl_row *row);
    } views[] = {
        [WNDL_BY_FUNCTION] = {"function", function_fields},
        [WNDL_BY_LINE] = {"line", line_fields},
        [WNDL_BY_MODULE] = {"module", module_fields},
        [WNDL_BY_THREAD] = {"thread", thread_fields},
        [WNDL_BY_FILE] = {"file", file_fields},
        [WNDL_BY_ADDRESS] = {"address", address_fields},
    };
    wndl_json_put_text(j, "by", views[j->r->view].name);
    wndl_json_put_number(j, "row_count", j->r->rows.len);
    wndl_json_put_key(j, "rows");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < j->r->rows.len && i < max_rows; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->rows, i);
        wndl_json_put_open_line(j);
        if (row->label != WNDL_LABEL_NONE)
            wndl_json_put_text(j, "label", wndl_label_text(row->label));
        else
            views[j->r->view].fields(j, row);
        put_costs(j, row);
        put_certainty(j, row);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* ---- the tree */

static void tree_node(
    struct wndl_json *j, const struct wndl_calltree_node *node)
{
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "parent", node->parent);
    if (node->kind == WNDL_TREE_LABEL) {
        wndl_json_put_id(j, "label", node->key);
    } else {
        function_fields(j, &(struct wndl_row){.key = node->key});
        wndl_json_put_truth(j, "called", node->called);
        wndl_json_put_truth(j, "inlined", node->inlined);
        wndl_json_put_text(
            j, "certainty", wndl_certainty_name(node->certainty));
    }
    put_costs(j, &(struct wndl_row){.self = node->self, .total = node->total});
    wndl_json_put_close(j, '}');
}

/* Node 0, of which all others are below, has no key. */
static void put_tree(struct wndl_json *j)
{
    const struct wndl_calltree *t = &j->r->tree;
    if (t->nodes.len == 0)
        return;
    wndl_json_put_key(j, "tree");
    wndl_json_put_open(j, '[');
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "total", wndl_calltree_at(t, 0)->total.samples);
    wndl_json_put_number(j,
        j->r->time == WNDL_TIME_BYTES ? "total_bytes" : "total_ns",
        wndl_calltree_at(t, 0)->total.time);
    wndl_json_put_close(j, '}');
    for (uint32_t i = 1; i < t->nodes.len; i++)
        tree_node(j, wndl_calltree_at(t, i));
    wndl_json_put_close(j, ']');
}

/* ---- marks */

static void mark_fields(struct wndl_json *j, const struct wndl_mark *mark)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, mark->thread);
    wndl_json_put_number(j, "time_ns", mark->time);
    wndl_json_put_number(j, "duration_ns", mark->duration);
    wndl_json_put_truth(j, "missed_deadline", mark->missed_deadline);
    wndl_json_put_number(j, "process", thread->process);
    wndl_json_put_number(j, "tid", thread->tid);
    wndl_json_put_string(j, "text", mark->text);
}

static void put_marks(struct wndl_json *j, bool with_list)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    wndl_json_put_number(j, "mark_count", p->marks.len);
    if (!with_list)
        return;
    wndl_json_put_key(j, "marks");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < j->r->marks.len; i++) {
        const uint32_t *mark = wndl_vec_at(&j->r->marks, i);
        wndl_json_put_open_line(j);
        mark_fields(j, wndl_vec_at(&p->marks, *mark));
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

void wndl_report_json(const struct wndl_report *r,
    const struct wndl_json_layout *layout, struct wndl_buf *out)
{
    static const char *const times[] = {
        [WNDL_TIME_CPU] = "cpu",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
        [WNDL_TIME_BYTES] = "bytes",
    };
    static const char *const sets[WNDL_HEAP_SETS] = {
        [WNDL_HEAP_SET_LIVE] = "live",
        [WNDL_HEAP_SET_PEAK] = "peak",
        [WNDL_HEAP_SET_ALL] = "all",
        [WNDL_HEAP_SET_TEMPORARY] = "temporary",
    };
    struct wndl_json j = {.out = out, .r = r, .s = r->symbolized};
    wndl_json_put_open(&j, '{');
    wndl_json_put_text(&j, "format", "windlass-report");
    wndl_json_put_number(&j, "version", SCHEMA_VERSION);
    wndl_json_recording(&j);
    put_samples(&j);
    put_blocks(&j);
    put_unfollowed(&j);
    put_marks(&j, layout->marks);
    wndl_json_put_text(&j, "time", times[r->time]);
    if (r->time == WNDL_TIME_BYTES)
        wndl_json_put_text(&j, "heap_blocks", sets[r->set]);
    put_processes(&j);
    put_threads(&j);
    put_unnamed(&j);
    put_rows(&j, layout->max_rows);
    put_tree(&j);
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
}
