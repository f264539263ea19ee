/* SPDX-License-Identifier: MIT */
#include "out/vm/mvp_text.h"

#include "base/utf8.h"
#include "out/vm/text.h"

#include <inttypes.h>
#include <string.h>

static void add_number(struct wndl_buf *out, uint64_t value)
{
    char text[32];
    wndl_buf_text(out, wndl_vm_number(value, text));
}

/* ---- totals */

static void add_loads(
    struct wndl_buf *out, const char *what, uint64_t loads, uint64_t sites)
{
    wndl_buf_text(out, what);
    add_number(out, loads);
    wndl_buf_text(out, " at ");
    add_number(out, sites);
    wndl_buf_text(out, sites == 1 ? " site\n" : " sites\n");
}

static void add_head(struct wndl_buf *out, const struct wndl_mvp_view *view)
{
    const struct wndl_mvp_totals *t = &view->totals;
    wndl_buf_printf(
        out, "%s: process %" PRIu64 "\n", view->mvp->command, view->mvp->pid);
    if (view->mvp->is_running)
        wndl_buf_text(out, "A part of the run: the program went on, and was "
                           "killed or started another in its place\n");
    add_loads(out, "Loads that are not of a stack: ", t->loads, t->sites);
    add_loads(out, "Of vectors, which are counted apart: ", t->wide_loads,
        t->wide_sites);
}

/* ---- sites */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "0x40057E: main (file:25)" */
static void add_place(struct wndl_buf *out, const struct wndl_callgraph *g,
    uint64_t ip, uint32_t index)
{
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, place->function);
    const uint32_t file = place->file == 0 ? f->file : place->file;
    wndl_buf_printf(
        out, "0x%" PRIX64 ": %s ", ip, wndl_intern_text(&g->strings, f->name));
    if (file == 0)
        wndl_buf_printf(out, "(in %s)\n",
            base_name(wndl_intern_text(&g->strings, f->object)));
    else
        wndl_buf_printf(out, "(%s:%u)\n",
            base_name(wndl_intern_text(&g->strings, file)), place->line);
}

static void add_site(struct wndl_buf *out, const struct wndl_mvp_site *site)
{
    wndl_buf_text(out, "wasted ");
    add_number(out, wndl_mvp_wasted(site));
    wndl_buf_printf(
        out, "  (%u/%u cbs, ", wndl_mvp_constant_bits(site), 8 * site->size);
    add_number(out, site->sectors);
    wndl_buf_text(out, " sects)  ");
}

static void add_wide_site(
    struct wndl_buf *out, const struct wndl_mvp_site *site)
{
    add_number(out, site->loads);
    wndl_buf_printf(out, " loads of %u bytes  (", site->size);
    add_number(out, site->sectors);
    wndl_buf_text(out, " sects)  ");
}

static void add_sites(struct wndl_buf *out, const struct wndl_mvp_view *view,
    bool are_wide, size_t max_rows)
{
    size_t count = 0;
    for (size_t i = 0; i < view->rows->len; i++) {
        const struct wndl_mvp_row *row = wndl_vec_at(view->rows, i);
        if (row->site->is_wide != are_wide || count++ >= max_rows)
            continue;
        if (are_wide)
            add_wide_site(out, row->site);
        else
            add_site(out, row->site);
        add_place(out, view->graph, row->site->ip, row->place);
    }
    if (count > max_rows) {
        add_number(out, count - max_rows);
        wndl_buf_text(out, " more sites: -n N\n");
    }
}

/* Names of a binary may hold any bytes. */
bool wndl_mvp_text(
    struct wndl_buf *out, const struct wndl_mvp_view *view, size_t max_rows)
{
    struct wndl_buf text;
    wndl_buf_init(&text, out->mem);
    add_head(&text, view);
    wndl_buf_byte(&text, '\n');
    add_sites(&text, view, false, max_rows);
    if (view->totals.wide_sites != 0) {
        wndl_buf_text(&text, "\nLoads of vectors, whose bits are not known:\n");
        add_sites(&text, view, true, max_rows);
    }
    wndl_utf8_plain_lines(out, &text);
    wndl_buf_free(&text);
    return !out->failed;
}
