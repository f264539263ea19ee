/* SPDX-License-Identifier: MIT */
/* windlass export: a recording for other tools. */
#include "analyze/callgraph/callgraph.h"
#include "analyze/heap/list.h"
#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/callgraph_options.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/loaded.h"
#include "out/callgrind.h"
#include "out/core/sink.h"
#include "out/dhat.h"
#include "out/dmd_json.h"
#include "out/firefox/firefox.h"
#include "out/folded.h"
#include "out/pprof.h"
#include "out/report_json/heap.h"
#include "out/report_json/report_json.h"
#include "out/speedscope.h"

#include <stdio.h>
#include <string.h>

struct export_options {
    unsigned format;                /* index into formats */
    struct wndl_option_choice time; /* enum wndl_time */
    unsigned value;                 /* enum value */
    unsigned cycles;                /* enum wndl_cycles */
    const char *out;
    struct wndl_heap_set_options heap;
    struct wndl_symbol_options symbols;
};

/* What the number of a stack is; of heaps all but the first. */
enum value { VALUE_USUAL, VALUE_BYTES, VALUE_BLOCKS, VALUE_TEMPORARY };

/* What is exported, and how. */
struct job {
    const struct export_options *o;
    struct wndl_loaded loaded;
    bool of_heap;
    struct wndl_heap_choice choice; /* of a heap */
};

/* What a line's number counts: the time a sample was asked to stand for. */
static uint64_t unit_of(const struct wndl_profile *p)
{
    enum { MILLISECOND = 1000000 };
    return p->interval == 0 ? MILLISECOND : p->interval;
}

static bool build_tree(struct job *job, struct wndl_calltree *tree)
{
    struct wndl_symbolized *s = &job->loaded.symbolized;
    return job->of_heap ? wndl_calltree_build_heap(tree, s, &job->choice,
                              job->o->value <= VALUE_BYTES)
                        : wndl_calltree_build(tree, s, WNDL_TREE_FOR_FOLDING,
                              job->o->time.index);
}

static bool export_folded(FILE *out, struct job *job)
{
    struct wndl_arena arena;
    struct wndl_calltree tree;
    uint64_t unit = job->of_heap ? 1 : unit_of(&job->loaded.profile);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    bool whole = build_tree(job, &tree) &&
                 wndl_folded_write(out, &tree, &job->loaded.symbolized.strings,
                     unit, wndl_mem_libc());
    wndl_arena_free(&arena);
    return whole;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

static bool export_dmd(FILE *out, struct job *job)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_init(&list, wndl_mem_libc()))
        return false;
    bool whole =
        wndl_heap_list_fill(&list, &job->loaded.symbolized, &job->choice) &&
        wndl_dmd_json_write(
            out, &list, ends_with(job->o->out, ".gz"), wndl_mem_libc());
    wndl_heap_list_free(&list);
    return whole;
}

/* For the formats that hold all of a recording. */
static struct wndl_exported all_of(const struct job *job)
{
    return (struct wndl_exported){
        .symbolized = &job->loaded.symbolized,
        .of_heap = job->of_heap,
        .pid = job->choice.pid,
        .tells_gone = wndl_heap_tells_gone(&job->loaded.profile),
        .time = job->o->time.index,
        .which = job->choice.which,
        .by_blocks = job->o->value > VALUE_BYTES,
        .zipped = ends_with(job->o->out, ".gz"),
    };
}

static bool export_pprof(FILE *out, struct job *job)
{
    const struct wndl_exported all = all_of(job);
    return wndl_pprof_write(out, &all, wndl_mem_libc());
}

static enum wndl_status fill_callgraph(
    struct wndl_callgraph *g, struct job *job)
{
    struct wndl_symbolized *s = &job->loaded.symbolized;
    return job->of_heap ? wndl_callgraph_add_heap(
                              g, s, &job->choice, job->o->value <= VALUE_BYTES)
                        : wndl_callgraph_add_time(g, s, job->o->time.index);
}

static void spell_command(const struct wndl_profile *p, struct wndl_buf *to)
{
    const struct wndl_bytes *arguments = p->arguments.data;
    for (size_t i = 0; i < p->arguments.len; i++) {
        if (i != 0)
            wndl_buf_byte(to, ' ');
        wndl_buf_add(to, arguments[i].data, arguments[i].size);
    }
}

static bool export_callgrind(FILE *out, struct job *job)
{
    struct wndl_callgraph g;
    struct wndl_buf command;
    if (!wndl_callgraph_init(&g, wndl_mem_libc()))
        return false;
    wndl_buf_init(&command, wndl_mem_libc());
    spell_command(&job->loaded.profile, &command);
    bool whole =
        !command.failed && fill_callgraph(&g, job) == WNDL_OK &&
        wndl_callgraph_finish(&g, job->o->cycles == WNDL_CYCLES_COLLAPSE) &&
        wndl_callgrind_write(out, &g,
            (struct wndl_bytes){command.data, command.size}, wndl_mem_libc());
    wndl_buf_free(&command);
    wndl_callgraph_free(&g);
    return whole;
}

static bool export_speedscope(FILE *out, struct job *job)
{
    const struct wndl_exported all = all_of(job);
    return wndl_speedscope_write(out, &all, wndl_mem_libc());
}

static bool export_dhat(FILE *out, struct job *job)
{
    const struct wndl_exported all = all_of(job);
    return wndl_dhat_write(out, &all, wndl_mem_libc());
}

static bool export_firefox(FILE *out, struct job *job)
{
    const struct wndl_exported all = all_of(job);
    return wndl_firefox_write(out, &all, wndl_mem_libc());
}

/* As `windlass report --json --tree --marks`. */
static bool report_time(struct job *job, struct wndl_buf *text)
{
    struct wndl_symbolized *s = &job->loaded.symbolized;
    const struct wndl_json_layout all = {.max_rows = SIZE_MAX, .marks = true};
    struct wndl_report report;
    bool whole = wndl_report_fill(&report, s, WNDL_BY_FUNCTION,
                     job->o->time.index, wndl_mem_libc()) &&
                 wndl_calltree_build(&report.tree, s, WNDL_TREE_FOR_READING,
                     job->o->time.index);
    if (whole)
        wndl_report_json(&report, &all, text);
    wndl_report_free(&report);
    return whole;
}

/* The same of heaps, with whole stacks. */
static bool report_heap(struct job *job, struct wndl_buf *text)
{
    struct wndl_heap_choice choice = job->choice;
    struct wndl_heap_report report;
    choice.grouping.max_frames = UINT32_MAX;
    bool whole = wndl_heap_report_fill(
        &report, &job->loaded.symbolized, &choice, wndl_mem_libc());
    if (whole)
        wndl_report_json_heap(&report, SIZE_MAX, text);
    wndl_heap_report_free(&report);
    return whole;
}

static bool export_json(FILE *out, struct job *job)
{
    struct wndl_sink sink;
    wndl_sink_open(&sink, out, ends_with(job->o->out, ".gz"), wndl_mem_libc());
    bool whole = job->of_heap ? report_heap(job, &sink.text)
                              : report_time(job, &sink.text);
    return wndl_sink_close(&sink) && whole;
}

/* A format is a row here and a word of FORMAT_NAMES, in the same order. */
#define FORMAT_NAMES "folded|dmd|pprof|callgrind|speedscope|dhat|firefox|json"

static const struct {
    /* False: no memory. */
    bool (*write)(FILE *out, struct job *job);
    const char *open_with;
    bool of_heap; /* and of nothing else */
    bool of_both; /* heaps too when it is of time */
} formats[] = {
    {export_folded, "flamegraph.pl, speedscope.app or profiler.firefox.com",
        false, false},
    {export_dmd, "Mozilla's dmd.py --no-fix-stacks, or windlass report", true,
        false},
    {export_pprof, "go tool pprof -http=:", false, false},
    {export_callgrind, "kcachegrind or callgrind_annotate", false, false},
    {export_speedscope, "speedscope, or www.speedscope.app", false, false},
    {export_dhat, "Valgrind's dh_view.html, or profiler.firefox.com", true,
        false},
    {export_firefox, "profiler.firefox.com", false, true},
    {export_json,
        "jq; docs/formats/report-json.md (of a heap heap-json.md) says what is "
        "in it",
        false, false},
};

static const struct wndl_option option_table[] = {
    {'f', "format", "FORMAT", FORMAT_NAMES, "folded", NULL,
        "folded: a stack a line, for flame graphs; dmd: a heap as JSON of "
        "Mozilla's DMD; pprof: all of the recording for Google's pprof; "
        "callgrind: a call graph for KCachegrind; speedscope: JSON, threads "
        "one by one; dhat: a heap as JSON of Valgrind's DHAT; firefox: all "
        "of it as JSON for the Firefox Profiler; json: as report --json with "
        "--tree and --marks. JSON is compressed if the name of OUT ends in "
        ".gz",
        WNDL_OPT_CHOICE, offsetof(struct export_options, format)},
    {0, "time", "KIND", "cpu|blocked|wall", "cpu", NULL,
        "which time to write the stacks of: using the CPU, blocked, or both "
        "with the time spent waiting for a CPU",
        WNDL_OPT_CHOSEN, offsetof(struct export_options, time)},
    {0, "value", "WHAT", "usual|bytes|blocks|temporary", "usual", NULL,
        "what to count of a heap: bytes, blocks, or the blocks that were "
        "freed before the next allocation; usual: time if there are samples, "
        "else bytes",
        WNDL_OPT_CHOICE, offsetof(struct export_options, value)},
    WNDL_HEAP_WHICH_ROWS(struct export_options, heap),
    WNDL_CYCLES_ROW("callgrind: ", struct export_options, cycles),
    {'o', "output", "OUT", NULL, "-", NULL,
        "where to write it, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct export_options, out)},
    WNDL_SYMBOL_OPTION_ROWS(struct export_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass export -f folded app.4711.cpu.wndl | flamegraph.pl > app.svg",
        "draw a flame graph"},
    {"windlass export --time wall -o app.folded app.4711.cpu.wndl",
        "write where all of the threads' time went"},
    {"windlass export -f firefox --time wall -o app.json.gz app.4711.cpu.wndl",
        "write all of it for profiler.firefox.com"},
    {"windlass export -f pprof -o app.pb.gz app.4711.cpu.wndl",
        "write it for go tool pprof"},
    {"windlass export --blocks peak app.4711.heap.wndl | flamegraph.pl > "
     "app.svg",
        "draw who held the memory at the peak"},
    {"windlass export -f dmd -o app.json.gz app.4711.heap.wndl",
        "write a heap as Mozilla's DMD would"},
    {"windlass export -f callgrind -o callgrind.out.app app.4711.cpu.wndl",
        "write a call graph for KCachegrind"},
    {NULL, NULL},
};

/* Empty output does not say that there is another time. */
static void say_if_none(
    const struct wndl_profile *p, const struct export_options *o)
{
    struct wndl_spent spent;
    size_t at = 0;
    if (wndl_spent_next(p, o->time.index, &at, &spent))
        return;
    static const char *const times[] = {"CPU", "blocked", "wall"};
    bool others = p->samples.len + p->blocks.len != 0;
    wndl_cli_note("warning: the recording holds no %s time%s",
        times[o->time.index],
        !others                              ? ""
        : o->time.index == WNDL_TIME_BLOCKED ? "; try --time cpu"
                                             : "; try --time blocked");
}

static bool write_job(FILE *out, void *context)
{
    struct job *job = context;
    return formats[job->o->format].write(out, job);
}

/* Options that would have no effect; says so. */
static bool is_contradiction(const struct job *job)
{
    const struct export_options *o = job->o;
    bool heaps = job->loaded.profile.heaps.len != 0;
    if (job->of_heap && o->time.given) {
        wndl_cli_error("--time is for samples, not for a heap; see 'windlass "
                       "export --help'");
        return true;
    }
    if (job->of_heap || !wndl_heap_set_given(&o->heap) ||
        (heaps && formats[o->format].of_both))
        return false;
    wndl_cli_error("--blocks, --snapshot and --process are for heaps, not for "
                   "samples; %s",
        heaps ? "--value bytes writes the heap"
              : "see 'windlass export --help'");
    return true;
}

static int export_it(struct job *job, const char *file)
{
    const struct wndl_profile *p = &job->loaded.profile;
    job->of_heap = job->o->value != VALUE_USUAL ||
                   formats[job->o->format].of_heap ||
                   wndl_heap_shown_of(p, false);
    job->choice = wndl_heap_choose(&job->o->heap, &job->loaded, 1);
    if (job->o->value == VALUE_TEMPORARY)
        job->choice.which = WNDL_HEAP_WHICH_TEMPORARY;
    if (is_contradiction(job))
        return WNDL_EXIT_USAGE;
    if (job->of_heap && !wndl_heap_has(p, &job->choice, file))
        return WNDL_EXIT_FAILURE;
    if (!job->of_heap)
        say_if_none(p, job->o);
    else if (job->o->value == VALUE_TEMPORARY && !wndl_heap_tells_gone(p))
        wndl_cli_note("warning: not all temporary blocks are in the "
                      "recording: windlass heap --mode cumulative tells them");
    const struct wndl_output output = {.path = job->o->out,
        .write = write_job,
        .context = job,
        .open_with = formats[job->o->format].open_with};
    return wndl_output_write(&output);
}

static int run_export(const void *options, struct wndl_operands operands)
{
    const struct export_options *o = options;
    struct job job = {.o = o};
    struct wndl_input input;
    if (!wndl_input_open(&input, operands.texts[0]))
        return WNDL_EXIT_FAILURE;
    bool is_loaded =
        wndl_load(&job.loaded, &input, &o->symbols, o->heap.snapshot, false);
    wndl_input_close(&input);
    if (!is_loaded)
        return WNDL_EXIT_FAILURE;
    /* Data on stdout has no place to say it. */
    wndl_loaded_note_whole(&job.loaded, operands.texts[0], "exported");
    int exit_code = export_it(&job, operands.texts[0]);
    wndl_unload(&job.loaded);
    return exit_code;
}

const struct wndl_command wndl_cmd_export = {
    .name = "export",
    .summary = "write a recording in a format of other tools",
    .operands = "FILE",
    .description =
        "Writes the stacks of a recording for another tool to read, with the "
        "names that 'windlass report' shows. The same recording and the same "
        "binaries give the same bytes.",
    .options = option_table,
    .options_size = sizeof(struct export_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_export,
};
