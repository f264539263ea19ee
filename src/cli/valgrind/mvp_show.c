/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/mvp_show.h"

#include "analyze/callgraph/callgraph.h"
#include "analyze/vm/mvp_graph.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/shared/known_file.h"
#include "cli/valgrind/profile_show.h"
#include "in/mvp.h"
#include "model/graph_stack.h"
#include "out/vm/mvp_json.h"
#include "out/vm/mvp_text.h"

#include <stdio.h>
#include <string.h>

/* Results that were read and named. */
struct profile {
    struct wndl_mvp mvp;
    struct wndl_callgraph graph;
    struct wndl_mvp_graph found;
    struct wndl_mvp_given_type types[WNDL_OPTION_LIST_MAX];
};

/* ---- types that the user gave */

static bool read_type(const char *text, struct wndl_mvp_given_type *type)
{
    const char *sign = strrchr(text, '=');
    if (sign == NULL || sign == text || sign[1] == '\0')
        return false;
    *type = (struct wndl_mvp_given_type){
        .site = {(const uint8_t *)text, (size_t)(sign - text)},
        .type = sign + 1,
    };
    return true;
}

const char *wndl_mvp_types_problem(const struct wndl_mvp_options *o)
{
    struct wndl_mvp_given_type type;
    for (size_t i = 0; i < o->types.count; i++)
        if (!read_type(o->types.texts[i], &type))
            return "--type needs SITE=TYPE, such as tree.c:41=node";
    return NULL;
}

static void take_types(struct profile *p, const struct wndl_mvp_options *o)
{
    p->found.given = p->types;
    for (size_t i = 0; i < o->types.count; i++)
        p->found.given_count += read_type(o->types.texts[i], &p->types[i]);
}

static void warn_of_types(
    const struct profile *p, const struct wndl_mvp_options *o)
{
    static const char *const whys[] = {
        [WNDL_MVP_TYPE_NO_SITE] = "no line that allocates has that text",
        [WNDL_MVP_TYPE_NO_TYPE] = "debug information has no such type",
        [WNDL_MVP_TYPE_NO_FIT] = "the type is larger than the blocks",
        [WNDL_MVP_TYPE_USED] = NULL,
    };
    for (size_t i = 0; i < p->found.given_count; i++)
        if (whys[p->types[i].use] != NULL)
            wndl_cli_note("warning: --type %s is not used: %s",
                o->types.texts[i], whys[p->types[i].use]);
}

/* ---- reading */

static bool name_code(struct profile *p,
    const struct wndl_symbol_options *symbols, struct wndl_error *err)
{
    struct wndl_profile_sources from;
    wndl_profile_sources_init(&from, symbols);
    p->found.graph = &p->graph;
    enum wndl_status status = wndl_mvp_graph(&p->found, &p->mvp, &from.sources);
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
    const struct wndl_mvp_options *o)
{
    struct wndl_error err = {0};
    char text[512];
    *p = (struct profile){0};
    take_types(p, o);
    wndl_mvp_init(&p->mvp, wndl_mem_libc());
    bool is_open = wndl_callgraph_init(&p->graph, wndl_mem_libc());
    if (!is_open)
        wndl_fail(&err, WNDL_NOMEM, "out of memory");
    is_open = is_open &&
              wndl_mvp_read(&p->mvp, input->bytes, &err) == WNDL_OK &&
              name_code(p, &o->shared.symbols, &err);
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
    return wndl_profile_write_callgrind(out, &p->graph, p->mvp.command);
}

static bool put_json(struct wndl_buf *out, const void *view)
{
    return wndl_mvp_json(out, view);
}

static bool put_text(struct wndl_buf *out, const void *view, size_t rows)
{
    return wndl_mvp_text(out, view, rows);
}

static int show_profile(const struct wndl_profile_options *o, struct profile *p)
{
    const struct wndl_output callgrind = {
        o->callgrind, write_callgrind, p, "kcachegrind"};
    const struct wndl_mvp_view view = {&p->mvp, &p->graph, &p->found.rows,
        p->found.totals, p->found.found.view};
    const struct wndl_profile_report report = {put_json, put_text, &view};
    return o->callgrind != NULL ? wndl_output_write(&callgrind)
                                : wndl_profile_print(o, &report);
}

int wndl_mvp_show(const struct wndl_mvp_options *o, const char *path)
{
    struct wndl_input input;
    struct profile profile;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    const bool is_open = wndl_known_file_is_taken(&input, WNDL_TAKES_MVP) &&
                         open_profile(&profile, &input, o);
    wndl_input_close(&input);
    if (!is_open)
        return WNDL_EXIT_FAILURE;
    warn_of_types(&profile, o);
    const int exit_code = show_profile(&o->shared, &profile);
    close_profile(&profile);
    return exit_code;
}
