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
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
    return !out->failed;
}
