/* SPDX-License-Identifier: MIT */
#include "out/vm/json.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

static const char *const event_names[WNDL_VM_EVENTS] = {
    [WNDL_VM_IA] = "ia",
    [WNDL_VM_IF1] = "if1",
    [WNDL_VM_IFC] = "ifc",
    [WNDL_VM_IFD] = "ifd",
    [WNDL_VM_DA] = "da",
    [WNDL_VM_DF1] = "df1",
    [WNDL_VM_DFC] = "dfc",
    [WNDL_VM_DFD] = "dfd",
};

static void add_key(struct wndl_buf *out, const char *key)
{
    if (out->size != 0 && out->data[out->size - 1] != '{' &&
        out->data[out->size - 1] != '[')
        wndl_buf_byte(out, ',');
    wndl_json_text(out, key);
    wndl_buf_byte(out, ':');
}

static void add_number(struct wndl_buf *out, const char *key, uint64_t value)
{
    add_key(out, key);
    wndl_buf_decimal(out, value);
}

static void add_text(struct wndl_buf *out, const char *key, const char *text)
{
    add_key(out, key);
    wndl_json_text(out, text);
}

/* Opens the next element of an array. */
static void begin_element(struct wndl_buf *out)
{
    if (out->size != 0 && out->data[out->size - 1] != '[')
        wndl_buf_byte(out, ',');
    wndl_buf_text(out, "\n{");
}

static void begin_array(struct wndl_buf *out, const char *key)
{
    add_key(out, key);
    wndl_buf_byte(out, '[');
}

static void add_counts(struct wndl_buf *out, const struct wndl_vm_counts *c)
{
    for (int fault = 0; fault < WNDL_VM_FAULTS; fault++)
        add_number(
            out, event_names[WNDL_VM_IF1 + fault], c->n[WNDL_VM_FETCH][fault]);
    for (int fault = 0; fault < WNDL_VM_FAULTS; fault++)
        add_number(
            out, event_names[WNDL_VM_DF1 + fault], c->n[WNDL_VM_DATA][fault]);
}

static void add_costs(
    struct wndl_buf *out, const char *key, const uint64_t *costs)
{
    add_key(out, key);
    wndl_buf_byte(out, '{');
    for (int event = 0; event < WNDL_VM_EVENTS; event++)
        if (costs[event] != 0)
            add_number(out, event_names[event], costs[event]);
    wndl_buf_byte(out, '}');
}

static void add_memories(struct wndl_buf *out, const struct wndl_vm *vm)
{
    begin_array(out, "memories");
    for (uint32_t i = 0; i < vm->memory_count; i++) {
        begin_element(out);
        add_number(out, "bytes", vm->memories[i].bytes);
        add_number(out, "most_pages_in_swap", vm->memories[i].swapped);
        add_counts(out, &vm->memories[i].total);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static bool is_zero(const uint64_t *costs)
{
    for (int event = 0; event < WNDL_VM_EVENTS; event++)
        if (costs[event] != 0)
            return false;
    return true;
}

static const char *text_of(const struct wndl_callgraph *g, uint32_t id)
{
    return wndl_intern_text(&g->strings, id);
}

static void add_lines(struct wndl_buf *out, const struct wndl_callgraph *g)
{
    begin_array(out, "lines");
    for (uint32_t i = 0; i < g->places.len; i++) {
        const struct wndl_callgraph_place *place =
            wndl_callgraph_place_at(g, i);
        const struct wndl_callgraph_function *f =
            wndl_callgraph_function_at(g, place->function);
        const uint64_t *self = wndl_callgraph_costs(&g->self, i);
        if (is_zero(self))
            continue;
        begin_element(out);
        add_text(out, "function", text_of(g, f->name));
        add_text(out, "object", text_of(g, f->object));
        add_text(
            out, "file", text_of(g, place->file == 0 ? f->file : place->file));
        add_number(out, "line", place->line);
        add_costs(out, "self", self);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static void add_functions(struct wndl_buf *out, const struct wndl_callgraph *g)
{
    begin_array(out, "functions");
    for (uint32_t i = 0; i < g->functions.len; i++) {
        const struct wndl_callgraph_function *f =
            wndl_callgraph_function_at(g, i);
        const uint64_t *through = wndl_callgraph_costs(&g->through, i);
        if (i == 0 || is_zero(through))
            continue;
        begin_element(out);
        add_text(out, "function", text_of(g, f->name));
        add_text(out, "object", text_of(g, f->object));
        add_costs(out, "with_callees", through);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static void add_rows(struct wndl_buf *out, const struct wndl_vm_view *view,
    const char *key, enum wndl_vm_row_kind kind)
{
    begin_array(out, key);
    for (size_t i = 0; i < view->vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&view->vm->rows, i);
        if (row->kind != kind || row->memory != view->memory)
            continue;
        begin_element(out);
        if (row->name != NULL)
            add_text(out, "name", row->name);
        else
            add_number(out, "from", row->index * view->vm->span_length);
        add_counts(out, &row->counts);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static void add_sites(struct wndl_buf *out, const struct wndl_vec *sites)
{
    begin_array(out, "sites");
    for (size_t i = 0; i < sites->len; i++) {
        const struct wndl_vm_site *site = wndl_vec_at(sites, i);
        begin_element(out);
        add_text(out, "allocated_by", site->text);
        add_number(out, "blocks", site->blocks);
        add_number(out, "bytes", site->bytes);
        add_counts(out, &site->counts);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static void add_paths(struct wndl_buf *out, const struct wndl_vm_paths *paths)
{
    add_key(out, "paths");
    wndl_buf_byte(out, '{');
    add_number(out, "complete", paths->complete);
    add_number(out, "cut", paths->cut);
    add_number(out, "lost", paths->lost);
    wndl_buf_byte(out, '}');
}

static void add_startup(
    struct wndl_buf *out, const struct wndl_vm_startup *startup)
{
    begin_array(out, "startup");
    for (size_t i = 0; i < startup->files.len; i++) {
        const struct wndl_vm_startup_file *file =
            wndl_vec_at(&startup->files, i);
        begin_element(out);
        add_text(out, "file", file->path);
        add_number(out, "pages", file->pages);
        add_number(out, "pages_if_packed", file->packed_pages);
        add_number(out, "functions", file->functions.len);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

bool wndl_vm_json(struct wndl_buf *out, const struct wndl_vm_view *view)
{
    const struct wndl_vm *vm = view->vm;
    wndl_buf_byte(out, '{');
    add_number(out, "version", 1);
    add_text(out, "command", vm->command);
    add_number(out, "pid", vm->pid);
    add_number(out, "is_running", vm->is_running);
    add_number(out, "page_bytes", vm->page);
    add_number(out, "memory_bytes", vm->memories[view->memory].bytes);
    add_number(out, "ia", vm->instructions);
    add_number(out, "da", vm->data);
    add_number(out, "pages", vm->pages);
    add_number(out, "most_bytes_mapped", vm->mapped);
    add_memories(out, vm);
    add_paths(out, view->paths);
    add_functions(out, view->graph);
    add_lines(out, view->graph);
    add_rows(out, view, "mappings", WNDL_VM_MAPPING);
    add_rows(out, view, "time", WNDL_VM_SPAN);
    add_sites(out, view->sites);
    add_startup(out, view->startup);
    wndl_buf_text(out, "}\n");
    return !out->failed;
}
