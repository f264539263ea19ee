/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/mvp_show.h"

#include "analyze/callgraph/callgraph.h"
#include "analyze/vm/mvp_graph.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/known_file.h"
#include "in/mvp.h"
#include "model/graph_stack.h"
#include "out/callgrind.h"
#include "out/vm/mvp_json.h"
#include "out/vm/mvp_text.h"

#include <stdio.h>
#include <string.h>

enum { USUAL_ROWS = 20 };

/* Results that were read and named. */
struct profile {
    struct wndl_mvp mvp;
    struct wndl_callgraph graph;
    struct wndl_mvp_graph found;
};

/* ---- reading */

static bool name_code(struct profile *p,
    const struct wndl_symbol_options *symbols, struct wndl_error *err)
{
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    wndl_debug_dirs_init(&dirs, &symbols->debug_dirs);
    const struct wndl_symbol_sources sources = {
        .debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(symbols),
        .cache = wndl_symbol_cache(symbols, &cache),
    };
    p->found.graph = &p->graph;
    enum wndl_status status = wndl_mvp_graph(&p->found, &p->mvp, &sources);
    if (status != WNDL_OK) {
        wndl_graph_fail(status, 0, err);
        return false;
    }
    if (wndl_callgraph_finish(&p->graph, true))
        return true;
    wndl_fail(err, WNDL_NOMEM, "out of memory");
    return false;
}

static void close_profile(struct profile *p)
{
    wndl_callgraph_free(&p->graph);
    wndl_mvp_free(&p->mvp);
}

static bool open_profile(struct profile *p, const struct wndl_input *input,
    const struct wndl_symbol_options *symbols)
{
    struct wndl_error err = {0};
    char text[512];
    *p = (struct profile){0};
    wndl_mvp_init(&p->mvp, wndl_mem_libc());
    bool is_open = wndl_callgraph_init(&p->graph, wndl_mem_libc());
    if (!is_open)
        wndl_fail(&err, WNDL_NOMEM, "out of memory");
    is_open = is_open &&
              wndl_mvp_read(&p->mvp, input->bytes, &err) == WNDL_OK &&
              name_code(p, symbols, &err);
    if (is_open)
        return true;
    wndl_cli_error(
        "%s: %s", input->name, wndl_error_text(&err, text, sizeof text));
    close_profile(p);
    return false;
}

/* ---- writing */

static bool write_callgrind(FILE *out, void *context)
{
    const struct profile *p = context;
    const char *command = p->mvp.command;
    return wndl_callgrind_write(out, &p->graph,
        (struct wndl_bytes){(const uint8_t *)command, strlen(command)},
        wndl_mem_libc());
}

static int show_report(
    const struct wndl_mvp_options *o, const struct profile *p)
{
    struct wndl_buf text;
    const struct wndl_mvp_view view = {
        &p->mvp, &p->graph, &p->found.rows, p->found.totals};
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_OK;
    const bool whole = o->json ? wndl_mvp_json(&text, &view)
                               : wndl_mvp_text(&text, &view,
                                     o->rows == 0 ? USUAL_ROWS : o->rows);
    if (whole)
        fwrite(text.data, 1, text.size, o->show != NULL ? stdout : stderr);
    else
        exit_code = wndl_cli_error("out of memory");
    wndl_buf_free(&text);
    return exit_code;
}

static int show_profile(const struct wndl_mvp_options *o, struct profile *p)
{
    const struct wndl_output callgrind = {
        o->callgrind, write_callgrind, p, "kcachegrind"};
    return o->callgrind != NULL ? wndl_output_write(&callgrind)
                                : show_report(o, p);
}

int wndl_mvp_show(const struct wndl_mvp_options *o, const char *path)
{
    struct wndl_input input;
    struct profile profile;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    const bool is_open = wndl_known_file_is_taken(&input, WNDL_TAKES_MVP) &&
                         open_profile(&profile, &input, &o->symbols);
    wndl_input_close(&input);
    if (!is_open)
        return WNDL_EXIT_FAILURE;
    const int exit_code = show_profile(o, &profile);
    close_profile(&profile);
    return exit_code;
}
