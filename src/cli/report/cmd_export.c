/* SPDX-License-Identifier: MIT */
/* windlass export: converts a recording for other tools. */
#include "base/text.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/report/export_formats.h"
#include "cli/report/selected.h"
#include "cli/shared/callgraph_options.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/newest.h"

struct export_options {
    unsigned format;                /* index into wndl_export_formats */
    struct wndl_option_choice time; /* enum wndl_time */
    unsigned value;                 /* enum value */
    unsigned cycles;                /* enum wndl_cycles */
    const char *out;
    struct wndl_selected_options selected;
    struct wndl_option_list filters;
    struct wndl_heap_set_options heap;
    struct wndl_symbol_options symbols;
};

/* The number of a stack; all but the first are for heaps. */
enum value { VALUE_AUTO, VALUE_BYTES, VALUE_BLOCKS, VALUE_TEMPORARY };

static const struct wndl_option option_table[] = {
    {'f', "format", "FORMAT", WNDL_EXPORT_FORMAT_NAMES, "folded", NULL,
        WNDL_EXPORT_FORMAT_HELP, WNDL_OPT_CHOICE,
        offsetof(struct export_options, format)},
    {0, "time", "KIND", "cpu|blocked|wall", "cpu", NULL,
        "which time to write: cpu: using the CPU; blocked: waiting for a lock, "
        "I/O or the like; wall: both, and waiting for a CPU",
        WNDL_OPT_CHOSEN, offsetof(struct export_options, time)},
    {0, "value", "WHAT", "auto|bytes|blocks|temporary||usual", "auto", NULL,
        "what to count of a heap: bytes, blocks, or temporary: the blocks that "
        "were freed before the next allocation; auto: time if there are "
        "samples, else bytes",
        WNDL_OPT_CHOICE, offsetof(struct export_options, value)},
    WNDL_SELECTED_ROWS(struct export_options, selected),
    {0, "filter", "TEXT", NULL, NULL, NULL,
        "samples: only stacks with TEXT in a frame, or with '!' before TEXT "
        "only those without it; may be repeated",
        WNDL_OPT_LIST, offsetof(struct export_options, filters)},
    WNDL_HEAP_SET_ROWS(struct export_options, heap),
    WNDL_CYCLES_ROW("callgrind: ", struct export_options, cycles),
    {'o', "output", "OUT", NULL, "-", NULL,
        "write to OUT, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct export_options, out)},
    WNDL_SYMBOL_OPTION_ROWS(struct export_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass export -f folded app.4711.cpu.wndl | flamegraph.pl > app.svg",
        "draw a flame graph"},
    {"windlass export --time wall -o app.folded app.4711.cpu.wndl",
        "write where the time of all threads went"},
    {"windlass export --callers malloc app.4711.cpu.wndl | flamegraph.pl > "
     "app.svg",
        "draw who calls malloc"},
    {"windlass export -f firefox --time wall -o app.json.gz app.4711.cpu.wndl",
        "write the whole recording for profiler.firefox.com"},
    {"windlass export -f pprof -o app.pb.gz app.4711.cpu.wndl",
        "write the recording for go tool pprof"},
    {"windlass export --blocks peak app.4711.heap.wndl | flamegraph.pl > "
     "app.svg",
        "draw which code held memory at the peak"},
    {"windlass export -f dmd -o app.json.gz app.4711.heap.wndl",
        "write a heap for Mozilla's DMD"},
    {"windlass export -f callgrind -o callgrind.out.app app.4711.cpu.wndl",
        "write a call graph for KCachegrind"},
    {NULL, NULL},
};

/* Empty output does not show that there is time of another kind. */
static void say_if_none(
    const struct wndl_profile *p, const struct export_options *o)
{
    struct wndl_cost_item item;
    size_t at = 0;
    if (wndl_costs_next(p, o->time.index, &at, &item))
        return;
    static const char *const times[] = {"CPU", "blocked", "wall"};
    bool others = p->samples.len + p->blocks.len != 0;
    wndl_cli_note("warning: the recording holds no %s time%s",
        times[o->time.index],
        !others                              ? ""
        : o->time.index == WNDL_TIME_BLOCKED ? "; try --time cpu"
                                             : "; try --time blocked");
}

static const struct wndl_export_format *format_of(
    const struct export_options *o)
{
    return &wndl_export_formats[o->format];
}

/* Reports options that would have no effect. */
static bool is_contradiction(
    const struct export_options *o, const struct wndl_export_job *job)
{
    bool heaps = job->symbolized->profile->heaps.len != 0;
    if (job->exported.of_heap && o->time.given) {
        wndl_cli_error("--time is for samples, not for a heap; see 'windlass "
                       "export --help'");
        return true;
    }
    if (job->exported.of_heap && wndl_selected_more(&o->selected)) {
        wndl_cli_error("of a heap, --module, --function, --ignore and --filter "
                       "choose stacks; the other choices are for samples; see "
                       "'windlass export --help'");
        return true;
    }
    if (job->exported.of_heap ||
        (o->heap.blocks == 0 && o->heap.snapshot == 0) ||
        (heaps && format_of(o)->of_both))
        return false;
    wndl_cli_error("--blocks and --snapshot are for heaps, not for samples; %s",
        heaps ? "--value bytes writes the heap"
              : "see 'windlass export --help'");
    return true;
}

static void fill_job(struct wndl_export_job *job,
    const struct export_options *o, struct wndl_cli_recording *recording)
{
    const struct wndl_profile *p = &recording->profile;
    job->symbolized = &recording->symbolized;
    job->collapses_cycles = o->cycles == WNDL_CYCLES_COLLAPSE;
    job->heaps = wndl_heap_choose(&o->heap, recording, 1);
    if (o->value == VALUE_TEMPORARY)
        job->heaps.set = WNDL_HEAP_SET_TEMPORARY;
    job->exported = (struct wndl_exported){
        .symbolized = job->symbolized,
        .of_heap = o->value != VALUE_AUTO || format_of(o)->of_heap ||
                   wndl_heap_shown_of(p, false),
        .pid = job->heaps.pid,
        .has_freed = wndl_heap_has_freed(p),
        .time = o->time.index,
        .set = job->heaps.set,
        .by_blocks = o->value > VALUE_BYTES,
        .zipped = wndl_text_ends_with(o->out, ".gz"),
    };
}

struct writing {
    const struct wndl_export_format *format;
    struct wndl_export_job *job;
};

static bool write_format(FILE *out, void *context)
{
    const struct writing *w = context;
    return wndl_export_write(out, w->format, w->job);
}

static int export_recording(struct wndl_cli_recording *recording,
    const struct export_options *o, const char *file)
{
    const struct wndl_profile *p = &recording->profile;
    struct wndl_export_job job;
    fill_job(&job, o, recording);
    if (is_contradiction(o, &job))
        return WNDL_EXIT_USAGE;
    if (job.exported.of_heap && !wndl_heap_has(p, &job.heaps, file))
        return WNDL_EXIT_FAILURE;
    int exit_code = wndl_selected_apply(
        &o->selected, o->heap.process, o->filters.texts, recording);
    if (exit_code != 0)
        return exit_code;
    if (!job.exported.of_heap)
        say_if_none(p, o);
    else if (o->value == VALUE_TEMPORARY && !job.exported.has_freed)
        wndl_cli_note("warning: the recording does not hold all temporary "
                      "blocks: 'windlass heap --mode cumulative' records them");
    struct writing writing = {format_of(o), &job};
    const struct wndl_output output = {.path = o->out,
        .write = write_format,
        .context = &writing,
        .open_with = format_of(o)->open_with};
    return wndl_output_write(&output);
}

static int export_file(const void *options, struct wndl_operands operands)
{
    const struct export_options *o = options;
    struct wndl_cli_recording recording;
    struct wndl_input input;
    if (!wndl_input_open(&input, operands.texts[0]))
        return WNDL_EXIT_FAILURE;
    bool is_loaded = wndl_cli_recording_open(&recording, &input, &o->symbols,
                         o->heap.snapshot, false) &&
                     wndl_heap_keep_tag(&recording, &o->heap, true, input.path);
    int exit_code = WNDL_EXIT_FAILURE;
    if (is_loaded) {
        /* The data on stdout has no place for the warning. */
        wndl_cli_recording_note_whole(
            &recording, operands.texts[0], "exported");
        exit_code = export_recording(&recording, o, operands.texts[0]);
        wndl_cli_recording_close(&recording);
    }
    /* Contents of blocks are read where the file has them. */
    wndl_input_close(&input);
    return exit_code;
}

static int run_export(const void *options, struct wndl_operands operands)
{
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &operands, 1))
        exit_code = export_file(options, operands);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_export = {
    .name = "export",
    .group = WNDL_GROUP_CONVERT,
    .summary = "convert a recording for other tools",
    .operands = "[FILE]",
    .description = "Writes a recording in the format of another tool, with the "
                   "names that 'windlass report' shows. The same recording and "
                   "the same binaries give the same bytes. Without FILE, it "
                   "is the newest recording in this folder that is yours.",
    .options = option_table,
    .options_size = sizeof(struct export_options),
    .examples = examples,
    .takes_recordings = true,
    .max_operands = 1,
    .run = run_export,
};
