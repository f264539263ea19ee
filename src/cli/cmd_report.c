/* SPDX-License-Identifier: MIT */
/* windlass report: where the time of a recording went. */
#include "analyze/calltree.h"
#include "analyze/tables.h"
#include "cli/command.h"
#include "cli/loaded.h"
#include "cli/shell_word.h"
#include "cli/terminal.h"
#include "out/report_json.h"
#include "out/report_text.h"

struct report_options {
    unsigned by; /* enum wndl_view */
    bool tree;
    uint64_t rows; /* 0: not given */
    double min_percent;
    bool full_names;
    bool json;
    bool no_pager;
    bool verbose;
    struct wndl_option_list debug_dirs;
};

enum { USUAL_ROWS = 30 };

static const struct wndl_option option_table[] = {
    {0, "by", "WHAT", "fn|line|module|thread", "fn", NULL,
        "what the rows of the table are", WNDL_OPT_CHOICE,
        offsetof(struct report_options, by)},
    {0, "tree", NULL, NULL, NULL, NULL,
        "show the call tree instead of the table", WNDL_OPT_FLAG,
        offsetof(struct report_options, tree)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "how many rows of the table to show: 30, or all of them with --json",
        WNDL_OPT_COUNT, offsetof(struct report_options, rows)},
    {0, "min", "PERCENT", NULL, "0.5", NULL,
        "leave out what has a smaller share of the samples from the tree",
        WNDL_OPT_REAL, offsetof(struct report_options, min_percent)},
    {0, "full-names", NULL, NULL, NULL, NULL,
        "show long C++ names whole, not as Class<...>::function(...)",
        WNDL_OPT_FLAG, offsetof(struct report_options, full_names)},
    {0, "json", NULL, NULL, NULL, NULL,
        "write JSON for programs to read, the whole tree with --tree",
        WNDL_OPT_FLAG, offsetof(struct report_options, json)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write to the terminal itself, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct report_options, no_pager)},
    {'v', "verbose", NULL, NULL, NULL, NULL,
        "say on standard error which file each module's names come from",
        WNDL_OPT_FLAG, offsetof(struct report_options, verbose)},
    {0, "debug-dir", "DIR", NULL, NULL, NULL,
        "look for separate debug files here, before /usr/lib/debug; may be "
        "given again",
        WNDL_OPT_LIST, offsetof(struct report_options, debug_dirs)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass report app.4711.cpu.wndl", "the 30 functions that cost most"},
    {"windlass report --tree app.4711.cpu.wndl",
        "the same as a call tree, from main down"},
    {"windlass report --by line -n 10 app.4711.cpu.wndl",
        "the ten hottest lines"},
    {NULL, NULL},
};

static void next_command(
    struct wndl_buf *command, const struct report_options *o, const char *path)
{
    if (o->tree) {
        wndl_buf_text(command, "windlass export -f folded -o stacks.folded ");
    } else {
        wndl_buf_text(command, "windlass report --tree ");
    }
    wndl_shell_word(command, path);
    wndl_buf_byte(command, '\0');
}

static void write_text(const struct wndl_report *report,
    const struct report_options *o, const char *path, struct wndl_buf *out)
{
    struct wndl_buf next;
    wndl_buf_init(&next, out->mem);
    next_command(&next, o, path);
    struct wndl_text_layout layout = {
        .width = o->full_names ? 0 : wndl_terminal_width(),
        .full_names = o->full_names,
        .utf8 = wndl_terminal_utf8(),
        .max_rows = o->rows == 0 ? USUAL_ROWS : o->rows,
        .min_percent = o->min_percent,
        .next = next.failed ? NULL : (const char *)next.data,
    };
    wndl_report_text(report, &layout, out);
    wndl_buf_free(&next);
}

static int show(const struct wndl_buf *text, bool paged)
{
    if (text->failed)
        return wndl_cli_error("out of memory");
    FILE *out = wndl_pager_open(paged);
    fwrite(text->data, 1, text->size, out);
    if (!wndl_pager_close(out))
        return wndl_cli_error("cannot write the report: standard output "
                              "does not take it");
    return WNDL_EXIT_OK;
}

static int make_report(struct wndl_loaded *loaded,
    const struct report_options *o, const char *path)
{
    struct wndl_symbolized *s = &loaded->symbolized;
    struct wndl_report report;
    bool made = wndl_report_fill(&report, s, o->by, wndl_mem_libc()) &&
                (!o->tree || wndl_calltree_build(
                                 &report.tree, s, WNDL_TREE_FOR_READING));
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_FAILURE;
    if (!made) {
        wndl_cli_error("out of memory");
    } else {
        if (o->json)
            wndl_report_json(&report, o->rows == 0 ? SIZE_MAX : o->rows, &text);
        else
            write_text(&report, o, path, &text);
        exit_code = show(&text, !o->no_pager && !o->json);
    }
    wndl_buf_free(&text);
    wndl_report_free(&report);
    return exit_code;
}

static int run_report(const void *options, struct wndl_operands operands)
{
    const struct report_options *o = options;
    struct wndl_loaded loaded;
    if (!wndl_load(&loaded, operands.texts[0], &o->debug_dirs, o->verbose))
        return WNDL_EXIT_FAILURE;
    int exit_code = make_report(&loaded, o, operands.texts[0]);
    wndl_unload(&loaded);
    return exit_code;
}

const struct wndl_command wndl_cmd_report = {
    .name = "report",
    .summary = "show where the time of a recording went",
    .operands = "FILE",
    .description =
        "Shows how good the samples of a recording are, and which functions, "
        "lines, modules or threads they were taken in. Self is what ran in "
        "the function itself, inlined code counted for the inlined function; "
        "total adds what it called, each sample once however deep the "
        "recursion.\n\n"
        "Names come from the binaries and their debug files as they are now; "
        "one that is not the build that was recorded is not used. Modules "
        "without symbols are listed with their share of the samples.",
    .options = option_table,
    .options_size = sizeof(struct report_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_report,
};
