/* SPDX-License-Identifier: MIT */
#include "out/report_json.h"

#include "base/json.h"

#include <inttypes.h>

enum { SCHEMA_VERSION = 1, SIGNALED = 256 };

/* An object or array being written; `first` as long as it is empty. */
struct json {
    struct wndl_buf *out;
    const struct wndl_report *r;
    bool first;
};

/* ---- punctuation */

static void element(struct json *j)
{
    if (!j->first)
        wndl_buf_byte(j->out, ',');
    j->first = false;
}

static void key(struct json *j, const char *name)
{
    element(j);
    wndl_json_text(j->out, name);
    wndl_buf_byte(j->out, ':');
}

static void open(struct json *j, char bracket)
{
    wndl_buf_byte(j->out, (uint8_t)bracket);
    j->first = true;
}

static void close(struct json *j, char bracket)
{
    wndl_buf_byte(j->out, (uint8_t)bracket);
    j->first = false;
}

/* Elements of the long arrays stand on lines of their own. */
static void open_line(struct json *j)
{
    element(j);
    wndl_buf_byte(j->out, '\n');
    open(j, '{');
}

static void number(struct json *j, const char *name, uint64_t value)
{
    key(j, name);
    wndl_buf_printf(j->out, "%" PRIu64, value);
}

static void truth(struct json *j, const char *name, bool value)
{
    key(j, name);
    wndl_buf_text(j->out, value ? "true" : "false");
}

static void text(struct json *j, const char *name, const char *value)
{
    key(j, name);
    wndl_json_text(j->out, value);
}

static void string(struct json *j, const char *name, struct wndl_bytes value)
{
    key(j, name);
    wndl_json_string(j->out, value);
}

static void string_id(struct json *j, const char *name, uint32_t id)
{
    string(j, name, wndl_intern_get(&j->r->symbolized->strings, id));
}

static void costs(struct json *j, const struct wndl_row *row)
{
    number(j, "self", row->self.samples);
    number(j, "total", row->total.samples);
    number(j, "self_cpu_ns", row->self.cpu);
    number(j, "total_cpu_ns", row->total.cpu);
}

/* ---- the recording */

static void strings(
    struct json *j, const char *name, const struct wndl_vec *list)
{
    key(j, name);
    open(j, '[');
    const struct wndl_bytes *texts = list->data;
    for (size_t i = 0; i < list->len; i++) {
        element(j);
        wndl_json_string(j->out, texts[i]);
    }
    close(j, ']');
}

static const char *engine_name(uint32_t engine)
{
    static const char *const names[] = {
        "unknown", "perf-task-clock", "thread-cpu-timers"};
    return names[engine < sizeof names / sizeof names[0] ? engine : 0];
}

static void recording(struct json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    key(j, "recording");
    open(j, '{');
    strings(j, "command", &p->arguments);
    string(j, "cwd", p->cwd);
    string(j, "host", p->host);
    string(j, "recorder_version", p->recorder_version);
    number(j, "realtime_ns", p->realtime);
    number(j, "duration_ns", p->duration);
    number(j, "interval_ns", p->interval);
    text(j, "engine", engine_name(p->engine));
    truth(j, "kernel_sampled", p->kernel_sampled);
    truth(j, "finished", p->finished);
    if (p->finished && p->status < SIGNALED)
        number(j, "exit_code", p->status);
    if (p->finished && p->status >= SIGNALED)
        number(j, "signal", p->status - SIGNALED);
    number(j, "unfollowed_processes", p->unfollowed);
    truth(j, "cut", p->cut);
    number(j, "chunks_damaged", p->chunks_damaged);
    number(j, "chunks_unknown", p->chunks_unknown);
    close(j, '}');
}

/* Those that are not 0. */
static void counts_by_name(struct json *j, const uint64_t *counts,
    const char *const *names, unsigned count)
{
    open(j, '{');
    for (unsigned i = 0; i < count; i++) {
        if (counts[i] != 0)
            number(j, names[i], counts[i]);
    }
    close(j, '}');
}

static void sample_ends(struct json *j)
{
    static const char *const names[WNDL_WALK_ENDS] = {"complete", "truncated",
        "no-rule", "bad-read", "no-progress", "bad-cfi", "bad-pc", "fp-root",
        "other"};
    key(j, "ends");
    counts_by_name(j, j->r->symbolized->profile->ends, names, WNDL_WALK_ENDS);
}

static void sample_drops(struct json *j)
{
    static const char *const names[WNDL_LOST_REASONS] = {"damaged", "ring-full",
        "tree-full", "threads-full", "modules-full", "busy", "no-stack",
        "overrun", "other"};
    key(j, "dropped_by");
    counts_by_name(
        j, j->r->symbolized->profile->lost, names, WNDL_LOST_REASONS);
}

static void samples(struct json *j)
{
    const struct wndl_quality *q = &j->r->quality;
    key(j, "samples");
    open(j, '{');
    number(j, "kept", q->kept);
    number(j, "complete", q->complete);
    number(j, "guessed", q->guessed);
    number(j, "truncated", q->truncated);
    number(j, "lost", q->lost);
    number(j, "dropped", q->dropped);
    number(j, "cpu_ns", j->r->all.cpu);
    number(j, "overruns", q->overruns);
    sample_ends(j);
    sample_drops(j);
    close(j, '}');
}

static void processes(struct json *j)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    key(j, "processes");
    open(j, '[');
    for (size_t i = 0; i < j->r->processes.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->processes, i);
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, row->key);
        open_line(j);
        number(j, "index", row->key);
        number(j, "pid", process->pid);
        number(j, "generation", process->generation);
        if (process->parent != WNDL_NO_INDEX)
            number(j, "parent", process->parent);
        string(j, "executable", process->executable);
        number(j, "start_ns", process->start);
        number(j, "end_ns", process->end);
        costs(j, row);
        close(j, '}');
    }
    close(j, ']');
}

static void thread_fields(struct json *j, const struct wndl_row *row)
{
    const struct wndl_profile *p = j->r->symbolized->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, row->key);
    string(j, "name", thread->name);
    number(j, "tid", thread->tid);
    number(j, "process", thread->process);
}

static void threads(struct json *j)
{
    key(j, "threads");
    open(j, '[');
    for (size_t i = 0; i < j->r->threads.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->threads, i);
        open_line(j);
        thread_fields(j, row);
        costs(j, row);
        close(j, '}');
    }
    close(j, ']');
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
    };
    return names[state];
}

static void module_fields(struct json *j, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_module *module = wndl_vec_at(&s->modules, row->key);
    string_id(j, "module", module->path);
    text(j, "symbols", state_name(module->state));
    if (module->detail != 0)
        string_id(j, "detail", module->detail);
    if (module->units_damaged != 0)
        number(j, "units_damaged", module->units_damaged);
}

static void function_part(struct json *j, const struct wndl_function *function)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_module *module =
        wndl_vec_at(&s->modules, function->module);
    string_id(j, "function", function->name);
    string_id(j, "module", module->path);
}

static void function_fields(struct json *j, const struct wndl_row *row)
{
    const struct wndl_function *function =
        wndl_vec_at(&j->r->symbolized->functions, row->key);
    function_part(j, function);
    if (function->file != 0)
        string_id(j, "file", function->file);
    if (function->line != 0)
        number(j, "line", function->line);
}

static void line_fields(struct json *j, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = j->r->symbolized;
    const struct wndl_location *location = wndl_vec_at(&s->locations, row->key);
    function_part(j, wndl_vec_at(&s->functions, location->function));
    if (location->file != 0)
        string_id(j, "file", location->file);
    if (location->line != 0)
        number(j, "line", location->line);
}

static void unnamed(struct json *j)
{
    key(j, "without_symbols");
    open(j, '[');
    for (size_t i = 0; i < j->r->unnamed.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->unnamed, i);
        open_line(j);
        module_fields(j, row);
        costs(j, row);
        close(j, '}');
    }
    close(j, ']');
}

static void rows(struct json *j, size_t max_rows)
{
    static const struct {
        const char *name;
        void (*fields)(struct json *j, const struct wndl_row *row);
    } views[] = {
        [WNDL_BY_FUNCTION] = {"function", function_fields},
        [WNDL_BY_LINE] = {"line", line_fields},
        [WNDL_BY_MODULE] = {"module", module_fields},
        [WNDL_BY_THREAD] = {"thread", thread_fields},
    };
    text(j, "by", views[j->r->view].name);
    number(j, "row_count", j->r->rows.len);
    key(j, "rows");
    open(j, '[');
    for (size_t i = 0; i < j->r->rows.len && i < max_rows; i++) {
        const struct wndl_row *row = wndl_vec_at(&j->r->rows, i);
        open_line(j);
        views[j->r->view].fields(j, row);
        costs(j, row);
        close(j, '}');
    }
    close(j, ']');
}

/* ---- the tree */

static void tree_node(struct json *j, const struct wndl_calltree_node *node)
{
    open_line(j);
    number(j, "parent", node->parent);
    if (node->kind == WNDL_TREE_LABEL) {
        string_id(j, "label", node->key);
    } else {
        function_fields(j, &(struct wndl_row){.key = node->key});
        truth(j, "called", node->called);
        truth(j, "inlined", node->inlined);
    }
    number(j, "self", node->self.samples);
    number(j, "total", node->total.samples);
    close(j, '}');
}

/* Node 0, of which all others are below, has no key. */
static void tree(struct json *j)
{
    const struct wndl_calltree *t = &j->r->tree;
    if (t->nodes.len == 0)
        return;
    key(j, "tree");
    open(j, '[');
    open_line(j);
    number(j, "total", wndl_calltree_at(t, 0)->total.samples);
    close(j, '}');
    for (uint32_t i = 1; i < t->nodes.len; i++)
        tree_node(j, wndl_calltree_at(t, i));
    close(j, ']');
}

void wndl_report_json(
    const struct wndl_report *r, size_t max_rows, struct wndl_buf *out)
{
    struct json j = {.out = out, .r = r};
    open(&j, '{');
    text(&j, "format", "windlass-report");
    number(&j, "version", SCHEMA_VERSION);
    recording(&j);
    samples(&j);
    processes(&j);
    threads(&j);
    unnamed(&j);
    rows(&j, max_rows);
    tree(&j);
    close(&j, '}');
    wndl_buf_byte(out, '\n');
}
