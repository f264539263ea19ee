/* SPDX-License-Identifier: MIT */
/* windlass report: shows where the time or memory of a recording went. */
#include "analyze/heap/spans.h"
#include "analyze/heap/suggest.h"
#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/core/shell_word.h"
#include "cli/core/terminal.h"
#include "cli/report/held.h"
#include "cli/report/selected.h"
#include "cli/shared/debug_packages.h"
#include "cli/shared/dmd_report.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/known_file.h"
#include "cli/shared/newest.h"
#include "cli/shared/recording.h"
#include "cli/view/page.h"
#include "out/report_json/report_json.h"
#include "out/report_text/report_text.h"
#include "out/report_text/suggest.h"

#include <string.h>

struct report_options {
    struct wndl_option_choice by;   /* enum wndl_view */
    struct wndl_option_choice time; /* enum wndl_time */
    bool tree;
    bool marks;
    uint64_t rows; /* 0: not given */
    double min_percent;
    bool full_names;
    bool json;
    const char *out; /* NULL: standard output */
    bool no_pager;
    bool verbose;
    bool of_heap;
    bool suggest;
    struct wndl_selected_options selected;
    struct wndl_held_options held;
    struct wndl_heap_options heap;
    struct wndl_symbol_options symbols;
};

enum { USUAL_ROWS = 30 };

static const struct wndl_option option_table[] = {
    {0, "by", "WHAT", "fn|line|module|thread|file|address|tag||function", "fn",
        NULL,
        "show one row for each function, line, module, thread, source file or "
        "address of code, or of a heap for each tag",
        WNDL_OPT_CHOSEN, offsetof(struct report_options, by)},
    {0, "time", "KIND", "cpu|blocked|wall", "cpu", NULL,
        "which time to show: cpu: using the CPU; blocked: waiting for a lock, "
        "I/O or the like; wall: both, and waiting for a CPU",
        WNDL_OPT_CHOSEN, offsetof(struct report_options, time)},
    {0, "tree", NULL, NULL, NULL, NULL,
        "show the call tree instead of the table", WNDL_OPT_FLAG,
        offsetof(struct report_options, tree)},
    {0, "marks", NULL, NULL, NULL, NULL,
        "show the marks of the program (windlass/profile.h) instead of the "
        "table",
        WNDL_OPT_FLAG, offsetof(struct report_options, marks)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "show N rows of the table or N records of a heap (default: 30; all "
        "with --json or --marks)",
        WNDL_OPT_COUNT, offsetof(struct report_options, rows)},
    {0, "min-percent", "PERCENT", NULL, "0.5", NULL,
        "leave out branches of the tree with less than PERCENT of the time",
        WNDL_OPT_REAL, offsetof(struct report_options, min_percent)},
    WNDL_OPTION_OLD_NAME(
        "min", WNDL_OPT_REAL, offsetof(struct report_options, min_percent)),
    {0, "full-names", NULL, NULL, NULL, NULL,
        "show long C++ names in full, not as Class<...>::function(...)",
        WNDL_OPT_FLAG, offsetof(struct report_options, full_names)},
    {0, "json", NULL, NULL, NULL, NULL,
        "write JSON, with the whole tree for --tree and all marks for --marks",
        WNDL_OPT_FLAG, offsetof(struct report_options, json)},
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write to OUT, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct report_options, out)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write directly to the terminal, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct report_options, no_pager)},
    {'v', "verbose", NULL, NULL, NULL, NULL,
        "print on standard error which file the names of each module come from",
        WNDL_OPT_FLAG, offsetof(struct report_options, verbose)},
    {0, "heap", NULL, NULL, NULL, NULL,
        "show the heap of a recording that also has samples", WNDL_OPT_FLAG,
        offsetof(struct report_options, of_heap)},
    {0, "suggest", NULL, NULL, NULL, NULL,
        "of a heap recorded in dark-matter mode: show the fewest functions "
        "that hold most of the blocks that no memory reporter reports",
        WNDL_OPT_FLAG, offsetof(struct report_options, suggest)},
    WNDL_SELECTED_ROWS(struct report_options, selected),
    WNDL_HEAP_OPTION_ROWS(struct report_options, heap),
    WNDL_HELD_ROWS(struct report_options, held),
    WNDL_SYMBOL_OPTION_ROWS(struct report_options, symbols),
    WNDL_OPTION_OF_OTHERS(
        'i', "input", "did you mean 'windlass report FILE'? It needs no -i"),
    WNDL_OPTION_OF_OTHERS(0, "stdio",
        "the report is text already; leave it out ('windlass view' is the "
        "nearest to a TUI)"),
    WNDL_OPTION_OF_OTHERS('g', "call-graph", "did you mean '--tree'?"),
    WNDL_OPTION_OF_OTHERS(0, "sort", "did you mean '--by WHAT'?"),
    WNDL_OPTION_OF_OTHERS('F', "fields", "the nearest option is '--by WHAT'"),
    WNDL_OPTION_OF_OTHERS(
        0, "percent-limit", "did you mean '--min-percent PERCENT'?"),
    WNDL_OPTION_OF_OTHERS(0, "children",
        "the table has self and total already; leave it out ('--tree' is the "
        "nearest)"),
    WNDL_OPTION_OF_OTHERS(0, "no-children",
        "the table is by self already; leave it out ('--tree' is the "
        "nearest)"),
    WNDL_OPTION_OF_OTHERS(0, "flamegraph",
        "did you mean 'windlass view', which draws flame graphs?"),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass report app.4711.cpu.wndl",
        "show the 30 functions that used the CPU most"},
    {"windlass report --tree app.4711.cpu.wndl",
        "show the call tree, from main down"},
    {"windlass report --by line -n 10 app.4711.cpu.wndl",
        "show the ten hottest lines"},
    {"windlass report --callers malloc app.4711.cpu.wndl",
        "show who calls malloc"},
    {"windlass report --by file -o files.txt app.4711.cpu.wndl",
        "write which source files use the CPU"},
    {"windlass report --thread main --from 2ms --to 1s app.4711.cpu.wndl",
        "show what the first thread did in the first second"},
    {"windlass report --filter parse_ --blocks peak app.4711.heap.wndl",
        "show what functions with parse_ in their names held at the peak"},
    {"windlass report --invert --blocks peak app.4711.heap.wndl",
        "show which functions held memory at the peak, and their callers"},
    {"windlass report --sort-by num-blocks dmd-browser-4711.json.gz",
        "show a DMD file of Mozilla, most blocks first"},
    {"windlass report --suggest app.4711.heap.wndl",
        "show the functions whose blocks no memory reporter reports"},
    {"windlass report --time blocked --tree app.4711.cpu.wndl",
        "show where threads waited"},
    {NULL, NULL},
};

/* A table of stacks that are upside down would say nothing. */
static bool shows_tree(const struct report_options *o)
{
    return o->tree || wndl_selected_turns(&o->selected);
}

/* The kind of time that the recording has, if it lacks the one shown. */
static const char *other_time(const struct wndl_report *report)
{
    const struct wndl_profile *p = report->symbolized->profile;
    return p->samples.len != 0 ? "cpu" : "blocked";
}

/* The command after a table or tree of a heap. */
static const char *next_of_heap(const struct report_options *o)
{
    if (!shows_tree(o))
        return o->of_heap ? "windlass report --heap --tree "
                          : "windlass report --tree ";
    return wndl_view_page().size != 0
               ? "windlass view "
               : "windlass export -f folded --value bytes -o heap.folded ";
}

static void next_command(struct wndl_buf *command,
    const struct wndl_report *report, const struct report_options *o,
    const char *path)
{
    static const char *const times[] = {"", "--time blocked ", "--time wall "};
    if (report->time == WNDL_TIME_BYTES)
        wndl_buf_text(command, next_of_heap(o));
    else if (!wndl_report_has_rows(report))
        wndl_buf_printf(
            command, "windlass report --time %s ", other_time(report));
    else if (o->marks)
        wndl_buf_text(command, "windlass report ");
    else if (shows_tree(o) && wndl_view_page().size != 0)
        wndl_buf_text(command, "windlass view ");
    else if (shows_tree(o))
        wndl_buf_printf(command,
            "windlass export -f folded %s-o stacks.folded ",
            times[o->time.index]);
    else
        wndl_buf_printf(
            command, "windlass report --tree %s", times[o->time.index]);
    wndl_shell_word(command, path);
    wndl_buf_byte(command, '\0');
}

static void write_text(const struct wndl_report *report,
    const struct report_options *o, const char *path, struct wndl_buf *out)
{
    struct wndl_buf next;
    struct wndl_buf packages;
    wndl_buf_init(&next, out->mem);
    wndl_buf_init(&packages, out->mem);
    next_command(&next, report, o, path);
    wndl_debug_packages(report, &packages);
    struct wndl_text_layout layout = {
        .width = o->full_names || o->out != NULL ? 0 : wndl_terminal_width(),
        .full_names = o->full_names,
        .utf8 = wndl_terminal_utf8(),
        .marks = o->marks,
        .max_rows = o->rows != 0 ? o->rows
                    : o->marks   ? SIZE_MAX
                                 : USUAL_ROWS,
        .min_percent = o->min_percent,
        .next = next.failed ? NULL : (const char *)next.data,
        .packages = packages.failed ? NULL : (const char *)packages.data,
    };
    /* That is used up; and the next would not be about the same part. */
    if (strcmp(path, "-") == 0 || report->symbolized->profile->is_selected)
        layout.next = NULL;
    wndl_report_text(report, &layout, out);
    out->failed |= next.failed || packages.failed;
    wndl_buf_free(&packages);
    wndl_buf_free(&next);
}

static void write_json(const struct wndl_report *report,
    const struct report_options *o, struct wndl_buf *out)
{
    struct wndl_json_layout layout = {
        .max_rows = o->rows == 0 ? SIZE_MAX : o->rows,
        .marks = o->marks,
    };
    wndl_report_json(report, &layout, out);
}

/* `heap` is the blocks that the costs are of; NULL: they are times. */
static int make_report(struct wndl_cli_recording *loaded,
    const struct report_options *o, const struct wndl_heap_choice *heap,
    const char *path)
{
    struct wndl_symbolized *s = &loaded->symbolized;
    struct wndl_report report;
    const enum wndl_time time =
        heap != NULL ? WNDL_TIME_BYTES : (enum wndl_time)o->time.index;
    bool made =
        wndl_report_fill(&report, s, o->by.index, time, wndl_mem_libc()) &&
        (!shows_tree(o) ||
            wndl_calltree_build(&report.tree, s, WNDL_TREE_FOR_READING, time));
    report.set = heap != NULL ? heap->set : WNDL_HEAP_SET_LIVE;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_FAILURE;
    if (!made) {
        wndl_cli_error("out of memory");
    } else {
        if (o->json)
            write_json(&report, o, &text);
        else
            write_text(&report, o, path, &text);
        exit_code = wndl_show(&text, o->out, !o->no_pager && !o->json);
    }
    wndl_buf_free(&text);
    wndl_report_free(&report);
    return exit_code;
}

/* Options that would have no effect; in JSON there is room for all. */
static const char *contradiction(const struct report_options *o)
{
    if (o->json)
        return NULL;
    if (shows_tree(o) && o->marks)
        return "a tree and --marks do not go together";
    if (shows_tree(o) && o->by.given)
        return "--by is for the table, which the tree replaces";
    if (shows_tree(o) && o->rows != 0)
        return "-n is for the table; --min-percent PERCENT makes a tree "
               "smaller";
    if (o->marks && o->by.given)
        return "--by is for the table, which --marks replaces";
    return NULL;
}

/* After those of model/report.h. */
enum { BY_TAG = 6 };

static bool is_by_tag(const struct report_options *o)
{
    return o->by.given && o->by.index == BY_TAG;
}

/* Whether a heap is shown by functions, not as records. */
static bool is_by_function(const struct report_options *o)
{
    return shows_tree(o) || o->by.given || wndl_selected_given(&o->selected);
}

static bool is_for_records(const struct wndl_heap_options *o)
{
    return o->sort != WNDL_HEAP_BY_USABLE ||
           o->max_frames != WNDL_HEAP_USUAL_FRAMES || o->ignore_alloc_fns ||
           o->alloc_fns;
}

/* Why the options do not fit a heap; NULL: they do. */
static const char *problem_with_heap(const struct report_options *o)
{
    const struct wndl_selected_options *selected = &o->selected;
    if (o->time.given || o->marks)
        return "--time and --marks are for samples; this report is on a heap";
    if (selected->threads != NULL ||
        (o->by.given && o->by.index == WNDL_BY_THREAD))
        return "the blocks of a heap belong to a process, not to a thread; "
               "--process PID chooses one";
    if (selected->from != NULL || selected->to != NULL ||
        selected->around != NULL || selected->before != NULL)
        return "a heap is a snapshot, which --snapshot N chooses: --from, "
               "--to, --around and --before are for samples";
    if (is_by_tag(o) &&
        (wndl_selected_given(&o->selected) || o->heap.filters.count != 0))
        return "--by tag sums up whole heaps, which --process, --snapshot and "
               "--blocks choose";
    if (o->suggest && (is_by_function(o) || is_for_records(&o->heap) ||
                          o->json || o->rows != 0 || o->heap.of.blocks != 0 ||
                          o->heap.filters.count != 0))
        return "--suggest is about all live blocks; only --snapshot, --process "
               "and -o go with it";
    if (is_by_function(o) && is_for_records(&o->heap))
        return "-f, -s and -a are for the records of a heap, which this table "
               "or tree replaces";
    return NULL;
}

/* The heap by functions: a table or tree of bytes. */
static int report_bytes(struct wndl_cli_recording *loaded,
    const struct report_options *o, const char *path)
{
    const struct wndl_heap_choice choice =
        wndl_heap_choose(&o->heap.of, loaded, 1);
    if (!wndl_heap_has(&loaded->profile, &choice, path))
        return WNDL_EXIT_FAILURE;
    if (!wndl_heap_as_spans(&loaded->profile, &choice))
        return wndl_cli_error("out of memory");
    int exit_code = wndl_selected_apply(
        &o->selected, o->heap.of.process, o->heap.filters.texts, loaded);
    return exit_code != 0 ? exit_code : make_report(loaded, o, &choice, path);
}

static int report_held(const struct wndl_cli_recording *loaded,
    const struct report_options *o, const char *path)
{
    const struct wndl_held_show show = {
        .options = &o->held,
        .symbols = &o->symbols,
        .path = path,
        .process = o->heap.of.process,
        .rows = o->rows,
        .out = o->out,
        .paged = !o->no_pager && !o->json,
        .json = o->json,
    };
    if (is_by_function(o) || is_for_records(&o->heap)) {
        wndl_cli_error(
            "--retained, --who-holds, --block and --site show the "
            "scan of a heap: of the other options only -n, -o, --json and "
            "--process go with them");
        return WNDL_EXIT_USAGE;
    }
    return wndl_held_report(loaded, &show);
}

static bool is_dark(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (heaps[i].dark)
            return true;
    }
    return false;
}

/* The functions that hold what no reporter reports. */
static int report_suggestions(struct wndl_cli_recording *loaded,
    const struct report_options *o, const char *path)
{
    const struct wndl_heap_choice choice =
        wndl_heap_choose(&o->heap.of, loaded, 1);
    struct wndl_suggestions suggestions;
    struct wndl_buf text, plain;
    if (!wndl_heap_has(&loaded->profile, &choice, path))
        return WNDL_EXIT_FAILURE;
    if (!is_dark(&loaded->profile))
        return wndl_cli_error("%s was not recorded with 'windlass heap --mode "
                              "dark-matter': --suggest needs that",
            path);
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_buf_init(&plain, wndl_mem_libc());
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_suggestions_fill(
            &suggestions, &loaded->symbolized, &choice, wndl_mem_libc())) {
        wndl_report_text_suggestions(&suggestions, &text);
        wndl_utf8_plain_lines(&plain, &text);
        exit_code = wndl_show(&plain, o->out, !o->no_pager);
    } else {
        wndl_cli_error("out of memory");
    }
    wndl_suggestions_free(&suggestions);
    wndl_buf_free(&plain);
    wndl_buf_free(&text);
    return exit_code;
}

static int report_heap(struct wndl_cli_recording *loaded,
    const struct report_options *o, const char *path)
{
    const char *problem = problem_with_heap(o);
    if (problem != NULL) {
        wndl_cli_error("%s", problem);
        return WNDL_EXIT_USAGE;
    }
    if (wndl_held_given(&o->held))
        return report_held(loaded, o, path);
    if (o->suggest)
        return report_suggestions(loaded, o, path);
    const struct wndl_heap_show show = {
        .options = &o->heap,
        .path = path,
        .rows = o->rows,
        .json = o->json,
        .out = o->out,
        .paged = !o->no_pager && !o->json,
        .next = wndl_view_page().size != 0
                    ? "windlass view"
                    : "windlass export -f folded -o heap.folded",
    };
    if (is_by_tag(o))
        return wndl_heap_report_tags(loaded, &show);
    if (is_by_function(o))
        return report_bytes(loaded, o, path);
    return wndl_heap_report(loaded, &show);
}

static bool is_for_heaps(const struct wndl_heap_options *o)
{
    return o->of.blocks != 0 || o->of.snapshot != 0 || o->of.tag != NULL ||
           is_for_records(o);
}

static int refuse_for_heaps(const struct wndl_profile *p, const char *options)
{
    wndl_cli_error("%s for heaps; this report is on samples%s", options,
        p->heaps.len == 0 ? "" : "; --heap shows the heap");
    return WNDL_EXIT_USAGE;
}

static int report_time(struct wndl_cli_recording *loaded,
    const struct report_options *o, const char *path)
{
    if (o->suggest)
        return refuse_for_heaps(&loaded->profile, "--suggest is");
    if (wndl_held_given(&o->held))
        return refuse_for_heaps(
            &loaded->profile, "--retained, --who-holds and --block are");
    if (is_for_heaps(&o->heap) || is_by_tag(o))
        return refuse_for_heaps(&loaded->profile,
            "--blocks, --snapshot, --tag, --by tag, -f, -s and -a are");
    int exit_code = wndl_selected_apply(
        &o->selected, o->heap.of.process, o->heap.filters.texts, loaded);
    return exit_code != 0 ? exit_code : make_report(loaded, o, NULL, path);
}

static int report_recording(
    const struct wndl_input *input, const struct report_options *o)
{
    struct wndl_cli_recording loaded;
    if (!wndl_cli_recording_open(
            &loaded, input, &o->symbols, o->heap.of.snapshot, o->verbose) ||
        !wndl_heap_keep_tag(&loaded, &o->heap.of,
            wndl_heap_shown_of(&loaded.profile, o->of_heap), input->path))
        return WNDL_EXIT_FAILURE;
    int exit_code = wndl_heap_shown_of(&loaded.profile, o->of_heap)
                        ? report_heap(&loaded, o, input->path)
                        : report_time(&loaded, o, input->path);
    wndl_cli_recording_close(&loaded);
    return exit_code;
}

/* Options that would have no effect. */
static bool is_for_dmd(const struct report_options *o)
{
    return !o->json && !o->tree && !o->marks && !o->suggest && !o->by.given &&
           !o->time.given && !wndl_selected_given(&o->selected);
}

static int report_dmd(const struct wndl_input *input,
    const struct wndl_input *later, const struct report_options *o)
{
    if (!is_for_dmd(o)) {
        wndl_cli_error("%s is a DMD file: --tree, --json and the like are for "
                       "recordings; see 'windlass report --help'",
            input->name);
        return WNDL_EXIT_USAGE;
    }
    const struct wndl_dmd_report report = {
        .command = "report",
        .inputs = {input, later},
        .count = later == NULL ? 1 : 2,
        .heap = &o->heap,
        .symbols = &o->symbols,
        .rows = o->rows,
        .out = o->out,
        .paged = !o->no_pager,
    };
    return wndl_dmd_report(&report);
}

/* Compares two DMD files, as DMD's own tool does. */
static int report_two(const struct wndl_input *earlier, const char *path,
    const struct report_options *o)
{
    struct wndl_input later;
    if (!wndl_input_open(&later, path))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_USAGE;
    if (!wndl_known_file_is_taken(&later, WNDL_TAKES_DMD))
        exit_code = WNDL_EXIT_FAILURE;
    else if (wndl_dmd_json_guess(earlier->bytes) &&
             wndl_dmd_json_guess(later.bytes))
        exit_code = report_dmd(earlier, &later, o);
    else
        wndl_cli_error("to compare %s and %s, use 'windlass diff'",
            earlier->name, later.name);
    wndl_input_close(&later);
    return exit_code;
}

static int report_files(const void *options, struct wndl_operands operands)
{
    const struct report_options *o = options;
    struct wndl_input input;
    const char *problem = contradiction(o);
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass report --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    if (!wndl_input_open(&input, operands.texts[0]))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_FAILURE;
    if (!wndl_known_file_is_taken(&input, WNDL_TAKES_DMD))
        ; /* it is said */
    else if (operands.count == 2)
        exit_code = report_two(&input, operands.texts[1], o);
    else if (wndl_dmd_json_guess(input.bytes))
        exit_code = report_dmd(&input, NULL, o);
    else
        exit_code = report_recording(&input, o);
    wndl_input_close(&input);
    return exit_code;
}

static int run_report(const void *options, struct wndl_operands operands)
{
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &operands, 1))
        exit_code = report_files(options, operands);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_report = {
    .name = "report",
    .group = WNDL_GROUP_LOOK,
    .summary = "show where the time or the memory of a recording went",
    .operands = "[FILE [LATER-FILE]]",
    .description =
        "Shows how complete the samples of a recording are, and in which "
        "functions, lines, modules or threads its time went. Self is the time "
        "in the function itself, where inlined code counts for the inlined "
        "function; total adds the functions that it called, and counts each "
        "sample once, also for recursive functions.\n\n"
        "The time is CPU time; --time blocked shows where threads were "
        "blocked, if that was recorded. Without FILE, it is the newest "
        "recording in this folder that is yours; FILE may be - for standard "
        "input.\n\n"
        "For a heap (windlass heap) it shows which stacks allocated how much, "
        "and findings: leaks, buffers that grow just enough, temporary "
        "allocations and others (docs/heap-report.md).\n\n"
        "DMD files of Mozilla (JSON, version 5, plain or gzip) are shown in "
        "DMD's own layout; two files are compared. Frames without names are "
        "named from the binaries as they are now; the file itself is not "
        "changed.\n\n"
        "Names come from the binaries and their debug files as they are now; a "
        "binary of another build than the recorded one is not used. Modules "
        "without symbols are listed with their share of the time.",
    .options = option_table,
    .options_size = sizeof(struct report_options),
    .examples = examples,
    .takes_recordings = true,
    .max_operands = 2,
    .run = run_report,
};
