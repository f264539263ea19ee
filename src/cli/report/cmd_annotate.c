/* SPDX-License-Identifier: MIT */
/* windlass annotate: shows which lines of a function cost what. */
#include "analyze/annotate/annotate.h"
#include "analyze/annotate/code.h"
#include "analyze/annotate/source_text.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/core/terminal.h"
#include "cli/report/selected.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/newest.h"
#include "out/report_json/annotated.h"
#include "out/report_text/annotated.h"

struct annotate_options {
    struct wndl_option_choice time; /* enum wndl_time */
    bool code;                      /* instructions */
    unsigned syntax;                /* enum syntax */
    bool callers;
    uint64_t around; /* 0: the whole function */
    uint64_t functions;
    struct wndl_option_list maps;
    bool full_names;
    bool json;
    const char *out; /* NULL: standard output */
    bool no_pager;
    bool of_heap;
    struct wndl_selected_options selected;
    struct wndl_option_list filters;
    struct wndl_heap_set_options heap;
    struct wndl_symbol_options symbols;
};

enum syntax { SYNTAX_ATT, SYNTAX_INTEL };

static const struct wndl_option option_table[] = {
    {0, "time", "KIND", "cpu|blocked|wall", "cpu", NULL,
        "which time to show: cpu: using the CPU; blocked: waiting for a lock, "
        "I/O or the like; wall: both, and waiting for a CPU",
        WNDL_OPT_CHOSEN, offsetof(struct annotate_options, time)},
    {0, "asm", NULL, NULL, NULL, NULL,
        "show the instructions, below the lines that they come from",
        WNDL_OPT_FLAG, offsetof(struct annotate_options, code)},
    {0, "syntax", "SYNTAX", "att|intel", "att", NULL,
        "the syntax of instructions", WNDL_OPT_CHOICE,
        offsetof(struct annotate_options, syntax)},
    {0, "callers", NULL, NULL, NULL, NULL,
        "show the lines that call the function, too", WNDL_OPT_FLAG,
        offsetof(struct annotate_options, callers)},
    {0, "context", "N", NULL, NULL, NULL,
        "show only the lines with a cost, and N lines before and after each "
        "(default: the whole function)",
        WNDL_OPT_COUNT, offsetof(struct annotate_options, around)},
    {'n', "max-functions", "N", NULL, "3", NULL,
        "of several functions with this name, show the N with the most time",
        WNDL_OPT_COUNT, offsetof(struct annotate_options, functions)},
    {0, "source-map", "FROM=TO", NULL, NULL, NULL,
        "read the sources that were below FROM when they were compiled below "
        "TO; may be repeated, and the first that fits is used",
        WNDL_OPT_LIST, offsetof(struct annotate_options, maps)},
    {0, "full-names", NULL, NULL, NULL, NULL,
        "show long C++ names in full, not as Class<...>::function(...)",
        WNDL_OPT_FLAG, offsetof(struct annotate_options, full_names)},
    {0, "json", NULL, NULL, NULL, NULL,
        "write JSON, with lines, instructions and callers", WNDL_OPT_FLAG,
        offsetof(struct annotate_options, json)},
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write to OUT, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct annotate_options, out)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write directly to the terminal, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct annotate_options, no_pager)},
    {0, "heap", NULL, NULL, NULL, NULL,
        "show the heap of a recording that also has samples", WNDL_OPT_FLAG,
        offsetof(struct annotate_options, of_heap)},
    WNDL_SELECTED_PART_ROWS(struct annotate_options, selected),
    {0, "filter", "TEXT", NULL, NULL, NULL,
        "samples: only stacks with TEXT in a frame, or with '!' before TEXT "
        "only those without it; may be repeated",
        WNDL_OPT_LIST, offsetof(struct annotate_options, filters)},
    WNDL_HEAP_SET_ROWS(struct annotate_options, heap),
    WNDL_SYMBOL_OPTION_ROWS(struct annotate_options, symbols),
    WNDL_OPTION_OF_OTHERS('i', "input",
        "did you mean 'windlass annotate FUNCTION FILE'? It needs no -i"),
    WNDL_OPTION_OF_OTHERS('s', "symbol",
        "did you mean 'windlass annotate FUNCTION'? It needs no -s"),
    WNDL_OPTION_OF_OTHERS(
        'M', "disassembler-style", "did you mean '--asm --syntax intel'?"),
    WNDL_OPTION_OF_OTHERS(
        0, "stdio", "the output is text already; leave it out"),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass annotate main app.4711.cpu.wndl",
        "show which lines of main use the CPU"},
    {"windlass annotate --asm main app.4711.cpu.wndl",
        "show which instructions do"},
    {"windlass annotate --time wall --callers main app.4711.cpu.wndl",
        "show at which lines its time passes, and what calls it"},
    {"windlass annotate --source-map /build/app=src main app.4711.cpu.wndl",
        "read the sources below src that were compiled in /build/app"},
    {"windlass annotate main app.4711.heap.wndl",
        "show which lines of main allocate memory"},
    {NULL, NULL},
};

static int out_of_memory(void)
{
    return wndl_cli_error("out of memory");
}

/* ---- what is refused */

static bool are_maps(const struct annotate_options *o)
{
    for (size_t i = 0; i < o->maps.count; i++) {
        if (wndl_source_map_is_valid(o->maps.texts[i]))
            continue;
        wndl_cli_error("--source-map %s: write FROM=TO, two folders; see "
                       "'windlass annotate --help'",
            o->maps.texts[i]);
        return false;
    }
    return true;
}

static bool is_contradiction(const struct annotate_options *o, bool of_heap)
{
    bool samples = o->time.given || wndl_selected_given(&o->selected) ||
                   o->filters.count != 0;
    bool heaps = o->heap.blocks != 0 || o->heap.snapshot != 0;
    if (of_heap && samples)
        wndl_cli_error("--time, --thread, --filter and the like are for "
                       "samples, not for a heap; see 'windlass annotate "
                       "--help'");
    else if (!of_heap && heaps)
        wndl_cli_error("--blocks and --snapshot are for heaps, not for "
                       "samples; see 'windlass annotate --help'");
    else if (o->around != 0 && (o->code || o->json))
        wndl_cli_error("--context is for lines; see 'windlass annotate "
                       "--help'");
    else
        return false;
    return true;
}

/* Says why no function of the name has a cost. */
static int say_none(const struct wndl_annotation *of, const char *name)
{
    static const char *const times[] = {
        [WNDL_TIME_CPU] = "CPU",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
    };
    const struct wndl_profile *p = of->symbolized->profile;
    if (of->of_heap)
        return wndl_cli_error(
            "%s: none of the blocks was allocated by it", name);
    if (p->samples.len + p->blocks.len == 0)
        return wndl_cli_error("%s: the recording holds no samples", name);
    return wndl_cli_error("%s: no %s time of the selected stacks is in it%s",
        name, times[of->time],
        of->time == WNDL_TIME_CPU       ? "; try --time wall"
        : of->time == WNDL_TIME_BLOCKED ? "; try --time cpu"
                                        : "");
}

/* ---- making it */

static bool fill_functions(struct wndl_annotator *x,
    const struct annotate_options *o, const struct wndl_annotate_code *how)
{
    struct wndl_vec *functions = &x->of->functions;
    for (size_t i = 0; i < functions->len && i < o->functions; i++) {
        struct wndl_annotated *a = wndl_vec_at(functions, i);
        if (!wndl_annotate_read_code(x->of, a, how) ||
            !wndl_annotator_fill(x, a) ||
            !wndl_annotate_read_sources(x->of, a, o->maps.texts))
            return false;
    }
    return true;
}

static bool annotate_functions(
    struct wndl_annotator *x, const struct annotate_options *o)
{
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    wndl_debug_dirs_init(&dirs, &o->symbols.debug_dirs);
    const struct wndl_symbol_sources sources = {.debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(&o->symbols),
        .cache = wndl_symbol_cache(&o->symbols, &cache)};
    const struct wndl_annotate_code how = {
        .sources = &sources, .intel = o->syntax == SYNTAX_INTEL};
    return fill_functions(x, o, &how);
}

/* Output that lacks what memory or descriptors were out for is not whole. */
static void say_lack(const struct wndl_error *lack)
{
    char text[600];
    wndl_cli_incomplete();
    wndl_cli_error("code or sources are missing: %s",
        wndl_error_text(lack, text, sizeof text));
}

static int show(
    const struct wndl_annotation *of, const struct annotate_options *o)
{
    const struct wndl_annotated_layout layout = {
        .width = o->full_names || o->out != NULL ? 0 : wndl_terminal_width(),
        .full_names = o->full_names,
        .code = o->code,
        .callers = o->callers,
        .around = o->around,
        .functions = o->functions,
    };
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    if (o->json)
        wndl_annotated_json(of, o->functions, &text);
    else
        wndl_annotated_text(of, &layout, &text);
    int exit_code = wndl_show(&text, o->out, !o->no_pager && !o->json);
    wndl_buf_free(&text);
    return exit_code;
}

static int annotate(struct wndl_symbolized *s, const struct annotate_options *o,
    const struct wndl_annotate_choice *choice)
{
    struct wndl_annotator x;
    struct wndl_annotation of;
    bool lacked = s->lack.status != WNDL_OK; /* which was reported */
    int exit_code;
    if (!wndl_annotator_init(&x, &of, s, choice))
        exit_code = out_of_memory();
    else if (of.functions.len == 0)
        exit_code = say_none(&of, choice->name);
    else if (!annotate_functions(&x, o))
        exit_code = out_of_memory();
    else
        exit_code = show(&of, o);
    if (!lacked && s->lack.status != WNDL_OK)
        say_lack(&s->lack);
    wndl_annotator_free(&x);
    return exit_code;
}

static int annotate_recording(struct wndl_cli_recording *recording,
    const struct annotate_options *o, const char *name, const char *file)
{
    const struct wndl_profile *p = &recording->profile;
    bool of_heap = wndl_heap_shown_of(p, o->of_heap);
    const struct wndl_heap_choice heap =
        wndl_heap_choose(&o->heap, recording, 1);
    const struct wndl_annotate_choice choice = {
        .name = name,
        .time = o->time.index,
        .heap = of_heap ? &heap : NULL,
    };
    if (is_contradiction(o, of_heap))
        return WNDL_EXIT_USAGE;
    if (of_heap && !wndl_heap_has(p, &heap, file))
        return WNDL_EXIT_FAILURE;
    if (!wndl_selected_is_function(&recording->symbolized, "FUNCTION", name))
        return WNDL_EXIT_USAGE;
    int exit_code = of_heap ? 0
                            : wndl_selected_apply(&o->selected, o->heap.process,
                                  o->filters.texts, recording);
    return exit_code != 0 ? exit_code
                          : annotate(&recording->symbolized, o, &choice);
}

static int annotate_file(
    const struct annotate_options *o, const char *name, const char *file)
{
    struct wndl_cli_recording recording;
    struct wndl_input input;
    if (!wndl_input_open(&input, file))
        return WNDL_EXIT_FAILURE;
    bool is_loaded = wndl_cli_recording_open(&recording, &input, &o->symbols,
                         o->heap.snapshot, false) &&
                     wndl_heap_keep_tag(&recording, &o->heap, true, input.path);
    wndl_input_close(&input);
    if (!is_loaded)
        return WNDL_EXIT_FAILURE;
    wndl_cli_recording_note_whole(&recording, file, "annotated");
    int exit_code = annotate_recording(&recording, o, name, file);
    wndl_cli_recording_close(&recording);
    return exit_code;
}

static int run_annotate(const void *options, struct wndl_operands operands)
{
    const struct annotate_options *o = options;
    struct wndl_operands files = {operands.texts + 1, operands.count - 1};
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (!are_maps(o))
        return WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &files, 1))
        exit_code = annotate_file(o, operands.texts[0], files.texts[0]);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_annotate = {
    .name = "annotate",
    .group = WNDL_GROUP_LOOK,
    .summary = "show which lines of a function cost what",
    .operands = "FUNCTION [FILE]",
    .description =
        "Shows the source of a function with the cost of each line. Self is "
        "the time in the function itself, with the code of other functions "
        "that the compiler inlined: that code has rows of its own below the "
        "line at which it was inlined. Total adds the functions that were "
        "called at a line, and counts each sample once. Each column adds up "
        "to 100 %, if the function is not recursive.\n\n"
        "FUNCTION may leave out parameters, template arguments and "
        "namespaces. The time is CPU time; --time blocked shows the lines at "
        "which threads were blocked. For a heap (windlass heap) the cost is "
        "usable bytes of the blocks that a line allocated. Without FILE, it is "
        "the newest recording in this folder that is yours; FILE may be - for "
        "standard input.\n\n"
        "Sources are read where they were compiled; --source-map names other "
        "folders. Without them, lines are numbers.",
    .options = option_table,
    .options_size = sizeof(struct annotate_options),
    .examples = examples,
    .takes_recordings = true,
    .min_operands = 1,
    .max_operands = 2,
    .run = run_annotate,
};
