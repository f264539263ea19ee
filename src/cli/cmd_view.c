/* SPDX-License-Identifier: MIT */
/* windlass view: a recording, or how two differ, as a page for a browser. */
#include "analyze/tables.h"
#include "cli/command.h"
#include "cli/loaded.h"
#include "cli/output.h"
#include "cli/view_page.h"
#include "out/report_text.h"
#include "out/view.h"

struct view_options {
    const char *out;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'o', "output", "OUT", NULL, NULL, NULL,
        "the file to write, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct view_options, out)},
    WNDL_SYMBOL_OPTION_ROWS(struct view_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass view -o app.html app.4711.cpu.wndl",
        "write a page that can be sent to others"},
    {"windlass view -o app.html monday.cpu.wndl friday.cpu.wndl",
        "show what became slower and faster"},
    {NULL, NULL},
};

/* The recordings that are shown. */
struct shown {
    struct wndl_loaded loaded[WNDL_MERGED_MAX];
    struct wndl_buf summaries[WNDL_MERGED_MAX];
    struct wndl_viewed view;
};

static bool sum_up(const struct wndl_symbolized *s, struct wndl_buf *lines)
{
    struct wndl_report report;
    bool filled = wndl_report_fill(
        &report, s, WNDL_BY_THREAD, WNDL_TIME_WALL, wndl_mem_libc());
    if (filled)
        wndl_report_text_figures(&report, lines);
    wndl_report_free(&report);
    return filled && !lines->failed;
}

static bool load(struct shown *shown, const char *path,
    const struct wndl_symbol_options *symbols)
{
    struct wndl_loaded *loaded = &shown->loaded[shown->view.count];
    struct wndl_buf *summary = &shown->summaries[shown->view.count];
    struct wndl_input input;
    if (!wndl_input_open(&input, path))
        return false;
    bool is_loaded = wndl_load(loaded, &input, symbols, 0, false);
    wndl_input_close(&input);
    if (!is_loaded)
        return false;
    wndl_buf_init(summary, wndl_mem_libc());
    bool is_whole = sum_up(&loaded->symbolized, summary);
    if (!is_whole)
        wndl_cli_error("out of memory");
    shown->view.recordings[shown->view.count++] = (struct wndl_view_recording){
        path, &loaded->symbolized, {summary->data, summary->size}};
    return is_whole;
}

static void unload(struct shown *shown)
{
    for (size_t i = 0; i < shown->view.count; i++) {
        wndl_buf_free(&shown->summaries[i]);
        wndl_unload(&shown->loaded[i]);
    }
}

static bool write_page(FILE *out, void *context)
{
    const struct shown *shown = context;
    return wndl_view_write(out, &shown->view, wndl_mem_libc());
}

static int show(const struct view_options *o, struct shown *shown)
{
    const struct wndl_output output = {
        .path = o->out,
        .write = write_page,
        .context = shown,
        .open_with = "a web browser",
    };
    return wndl_output_write(&output);
}

static int run_view(const void *options, struct wndl_operands operands)
{
    const struct view_options *o = options;
    struct shown shown = {.view = {.page = wndl_view_page()}};
    if (shown.view.page.size == 0)
        return wndl_cli_error(
            "this windlass was built without its viewer, for which npm is "
            "needed; see 'windlass export --help' for other ones");
    bool loaded = true;
    for (size_t i = 0; i < operands.count && loaded; i++)
        loaded = load(&shown, operands.texts[i], &o->symbols);
    int exit_code = loaded ? show(o, &shown) : WNDL_EXIT_FAILURE;
    unload(&shown);
    return exit_code;
}

const struct wndl_command wndl_cmd_view = {
    .name = "view",
    .summary = "show a recording in a web browser",
    .operands = "FILE [LATER]",
    .description =
        "Writes a page that shows a recording, of time, of heaps or of both, "
        "or how a later one differs from FILE. The page holds all of it and "
        "asks nobody for anything.",
    .options = option_table,
    .options_size = sizeof(struct view_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 2,
    .run = run_view,
};
