/* SPDX-License-Identifier: MIT */
#include "out/vm/mvp_json.h"

#include "out/core/json_put.h"

#include <inttypes.h>
#include <stdio.h>

static void put_hex(struct wndl_json *j, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    wndl_json_put_text(j, name, text);
}

static void put_place(
    struct wndl_json *j, const struct wndl_callgraph *g, uint32_t index)
{
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, place->function);
    const uint32_t file = place->file == 0 ? f->file : place->file;
    wndl_json_put_text(j, "function", wndl_intern_text(&g->strings, f->name));
    wndl_json_put_text(j, "object", wndl_intern_text(&g->strings, f->object));
    wndl_json_put_text(j, "file", wndl_intern_text(&g->strings, file));
    wndl_json_put_number(j, "line", place->line);
}

static void put_bits(struct wndl_json *j, const struct wndl_mvp_site *site)
{
    wndl_json_put_number(j, "wasted", wndl_mvp_wasted(site));
    wndl_json_put_number(j, "constant_bits", wndl_mvp_constant_bits(site));
    put_hex(j, "first", site->first);
    put_hex(j, "varying", site->varying);
    put_hex(j, "sign_bits", site->signs);
}

static void put_site(struct wndl_json *j, const struct wndl_mvp_view *view,
    const struct wndl_mvp_row *row)
{
    const struct wndl_mvp_site *site = row->site;
    wndl_json_put_open_line(j);
    put_hex(j, "address", site->ip);
    put_place(j, view->graph, row->place);
    wndl_json_put_number(j, "index", site->index);
    wndl_json_put_number(j, "bytes", site->size);
    wndl_json_put_number(j, "loads", site->loads);
    wndl_json_put_number(j, "sectors", site->sectors);
    wndl_json_put_number(j, "pages", site->pages);
    if (!site->is_wide)
        put_bits(j, site);
    wndl_json_put_close(j, '}');
}

static void put_sites(struct wndl_json *j, const struct wndl_mvp_view *view,
    const char *name, bool are_wide)
{
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < view->rows->len; i++) {
        const struct wndl_mvp_row *row = wndl_vec_at(view->rows, i);
        if (row->site->is_wide == are_wide)
            put_site(j, view, row);
    }
    wndl_json_put_close(j, ']');
}

/* ---- blocks */

static void put_values(struct wndl_json *j, const struct wndl_mvp_field *field)
{
    wndl_json_put_key(j, "values");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0;
         i < field->value_count && field->value_count <= WNDL_MVP_VALUES; i++) {
        wndl_json_put_element(j);
        wndl_buf_printf(j->out, "\"0x%" PRIx64 "\"", field->values[i]);
    }
    wndl_json_put_close(j, ']');
}

static void put_field(struct wndl_json *j, const struct wndl_mvp_field *field)
{
    static const char *const wastes[] = {
        [WNDL_MVP_CONSTANT] = "constant",
        [WNDL_MVP_EQUAL] = "equal",
        [WNDL_MVP_POINTER] = "pointer",
        [WNDL_MVP_FEW] = "few",
        [WNDL_MVP_NARROW] = "narrow",
        [WNDL_MVP_FULL] = "full",
    };
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "offset", field->offset);
    wndl_json_put_number(j, "bytes", field->size);
    wndl_json_put_text(j, "name", field->name);
    wndl_json_put_number(j, "loads", field->loads);
    put_hex(j, "first", field->first);
    put_hex(j, "varying", field->varying);
    put_hex(j, "sign_bits", field->signs);
    put_values(j, field);
    wndl_json_put_text(j, "waste", wastes[field->waste]);
    wndl_json_put_number(j, "needed", field->needed);
    if (field->waste == WNDL_MVP_EQUAL)
        wndl_json_put_number(j, "equals", field->same);
    wndl_json_put_close(j, '}');
}

static void put_gap(struct wndl_json *j, const struct wndl_mvp_gap *gap)
{
    wndl_json_put_open_line(j);
    wndl_json_put_number(j, "start", gap->start);
    wndl_json_put_number(j, "end", gap->end);
    wndl_json_put_truth(j, "is_unread", gap->is_unread);
    wndl_json_put_truth(j, "is_unwritten", gap->is_unwritten);
    wndl_json_put_text(j, "name", gap->name);
    wndl_json_put_close(j, '}');
}

static void put_data(struct wndl_json *j, const struct wndl_mvp_data *data)
{
    wndl_json_put_open_line(j);
    wndl_json_put_text(j, "allocated_by", data->text);
    wndl_json_put_text(j, "type", data->type);
    wndl_json_put_truth(j, "type_is_inferred", data->type_is_inferred);
    wndl_json_put_number(j, "blocks", data->blocks);
    wndl_json_put_number(j, "block_bytes", data->bytes);
    wndl_json_put_number(j, "element_bytes", data->size);
    wndl_json_put_number(j, "elements", data->count);
    wndl_json_put_truth(j, "is_array", data->is_array);
    wndl_json_put_number(j, "needed", data->needed);
    wndl_json_put_number(j, "saved", data->saved);
    wndl_json_put_number(j, "pointer_bits", data->pointer_bits);
    wndl_json_put_number(j, "ordered", data->ordered);
    wndl_json_put_text(j, "order", data->order);
    wndl_json_put_key(j, "fields");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < data->field_count; i++)
        put_field(j, &data->fields[i]);
    wndl_json_put_close(j, ']');
    wndl_json_put_key(j, "gaps");
    wndl_json_put_open(j, '[');
    for (uint32_t i = 0; i < data->gap_count; i++)
        put_gap(j, &data->gaps[i]);
    wndl_json_put_close(j, ']');
    wndl_json_put_close(j, '}');
}

static void put_twins(struct wndl_json *j, const struct wndl_mvp_twins *twins)
{
    wndl_json_put_open_line(j);
    wndl_json_put_text(j, "allocated_by", twins->text);
    wndl_json_put_text(j, "child_allocated_by", twins->child);
    wndl_json_put_number(j, "offset", twins->offset);
    wndl_json_put_text(j, "name", twins->name);
    wndl_json_put_number(j, "bytes", twins->size);
    wndl_json_put_number(j, "child_bytes", twins->child_size);
    wndl_json_put_number(j, "pairs", twins->blocks);
    wndl_json_put_number(j, "saved", twins->saved);
    wndl_json_put_close(j, '}');
}

static void put_mappings(struct wndl_json *j, const struct wndl_mvp *mvp)
{
    wndl_json_put_key(j, "mappings");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < mvp->mappings.len; i++) {
        const struct wndl_mvp_mapping *m = wndl_vec_at(&mvp->mappings, i);
        wndl_json_put_open_line(j);
        wndl_json_put_text(j, "name", m->name);
        wndl_json_put_number(j, "loads", m->loads);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_heap(struct wndl_json *j, const struct wndl_mvp_view *view)
{
    const struct wndl_mvp_heap_view *heap = &view->heap;
    wndl_json_put_number(j, "loads_in_blocks", heap->loads_in_blocks);
    put_mappings(j, view->mvp);
    wndl_json_put_number(j, "saved", heap->saved);
    wndl_json_put_number(j, "pointer_bits", heap->pointer_bits);
    wndl_json_put_key(j, "data");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < heap->data->len; i++)
        put_data(j, wndl_vec_at(heap->data, i));
    wndl_json_put_close(j, ']');
    wndl_json_put_key(j, "pairs");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < heap->twins->len; i++)
        put_twins(j, wndl_vec_at(heap->twins, i));
    wndl_json_put_close(j, ']');
}

bool wndl_mvp_json(struct wndl_buf *out, const struct wndl_mvp_view *view)
{
    struct wndl_json j = {.out = out, .first = true};
    wndl_json_put_open(&j, '{');
    wndl_json_put_number(&j, "version", 1);
    wndl_json_put_text(&j, "command", view->mvp->command);
    wndl_json_put_number(&j, "pid", view->mvp->pid);
    wndl_json_put_truth(&j, "is_running", view->mvp->is_running);
    wndl_json_put_number(&j, "loads", view->totals.loads);
    wndl_json_put_number(&j, "vector_loads", view->totals.wide_loads);
    put_sites(&j, view, "sites", false);
    put_sites(&j, view, "vectors", true);
    if (view->mvp->heaps.len != 0)
        put_heap(&j, view);
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
    return !out->failed;
}
