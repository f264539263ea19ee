/* SPDX-License-Identifier: MIT */
/* windlass merge: merges profiles into one call graph. */
#include "analyze/callgraph/callgraph.h"
#include "analyze/callgraph/kind.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/callgraph_options.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/known_file.h"
#include "cli/shared/newest.h"
#include "cli/shared/recording.h"
#include "in/callgrind.h"
#include "in/folded.h"
#include "in/perf_script.h"
#include "in/pprof.h"
#include "in/pprof_text.h"
#include "in/valgrind_text.h"
#include "out/callgrind.h"

#include <inttypes.h>
#include <string.h>

struct merge_options {
    unsigned cycles; /* enum wndl_cycles */
    const char *out;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'o', "output", "OUT", NULL, "-", NULL,
        "write to OUT, - for standard output", WNDL_OPT_TEXT,
        offsetof(struct merge_options, out)},
    WNDL_CYCLES_ROW("", struct merge_options, cycles),
    WNDL_SYMBOL_OPTION_ROWS(struct merge_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass merge -o callgrind.out.app app.*.cpu.wndl",
        "merge several runs for KCachegrind"},
    {"valgrind --num-callers=50 ./app 2>&1 | windlass merge - > "
     "callgrind.out.stacks",
        "show many stacks as one graph"},
    {NULL, NULL},
};

struct merge {
    const struct merge_options *o;
    struct wndl_callgraph g;
    struct wndl_buf command; /* "windlass merge FILE..." */
};

/* ---- files of other tools */

/* Readers of files that are not ours, by their kinds. */
static const struct {
    enum wndl_status (*read)(struct wndl_callgraph *g, struct wndl_bytes file,
        struct wndl_damage *damage, struct wndl_error *err);
    const char *unit; /* in which damage is counted */
} readers[] = {
    [WNDL_GRAPH_CALLGRIND] = {wndl_callgrind_read, "line"},
    [WNDL_GRAPH_PPROF] = {wndl_pprof_read, "byte"},
    [WNDL_GRAPH_PPROF_TEXT] = {wndl_pprof_text_read, "line"},
    [WNDL_GRAPH_PERF_SCRIPT] = {wndl_perf_script_read, "line"},
    [WNDL_GRAPH_VALGRIND] = {wndl_valgrind_text_read, "line"},
    [WNDL_GRAPH_FOLDED] = {wndl_folded_read, "line"},
};

static void say_damage(const struct wndl_input *input,
    const struct wndl_damage *damage, const char *unit)
{
    if (damage->count == 0)
        return;
    wndl_cli_note("warning: %s: skipped %" PRIu64 " %s%s"
                  " that could not be read; the first is %s %" PRIu64 ": %s",
        input->name, damage->count, unit, damage->count == 1 ? "" : "s", unit,
        damage->first, damage->what);
}

static bool add_foreign(
    struct merge *m, const struct wndl_input *input, enum wndl_graph_kind kind)
{
    struct wndl_damage damage = {0};
    struct wndl_error err = {0};
    if (readers[kind].read(&m->g, input->bytes, &damage, &err) != WNDL_OK) {
        wndl_input_error(input, &err);
        return false;
    }
    say_damage(input, &damage, readers[kind].unit);
    return true;
}

/* ---- recordings */

/* Adds both the time and the heap, if they are recorded. */
static enum wndl_status add_loaded(
    struct merge *m, const struct wndl_cli_recording *loaded)
{
    static const struct wndl_heap_set_options usual = {0};
    const struct wndl_profile *p = &loaded->profile;
    enum wndl_status status = WNDL_OK;
    if (p->samples.len + p->blocks.len != 0)
        status = wndl_callgraph_add_time(&m->g, &loaded->symbolized,
            p->blocks.len == 0 ? WNDL_TIME_CPU : WNDL_TIME_WALL);
    if (status != WNDL_OK || p->heaps.len == 0)
        return status;
    struct wndl_heap_choice choice = wndl_heap_choose(&usual, loaded, 1);
    return wndl_callgraph_add_heap(&m->g, &loaded->symbolized, &choice, true);
}

static bool add_recording(struct merge *m, const struct wndl_input *input)
{
    struct wndl_cli_recording loaded;
    struct wndl_error err = {0};
    if (!wndl_cli_recording_open(&loaded, input, &m->o->symbols, 0, false))
        return false;
    const struct wndl_profile *p = &loaded.profile;
    if (!p->finished || p->cut || p->chunks_damaged != 0)
        wndl_cli_note(
            "warning: %s is cut short or damaged; the rest of it is merged",
            input->name);
    enum wndl_status status = add_loaded(m, &loaded);
    wndl_cli_recording_close(&loaded);
    if (status == WNDL_OK)
        return true;
    wndl_fail(&err, status, "%s",
        status == WNDL_LIMIT ? "the sum of costs does not fit 64 bits"
                             : "out of memory");
    wndl_input_error(input, &err);
    return false;
}

/* ---- all of them */

static bool add_bytes(struct merge *m, const struct wndl_input *input)
{
    if (!wndl_known_file_is_taken(input, WNDL_TAKES_GRAPHS))
        return false;
    enum wndl_graph_kind kind = wndl_graph_kind_of(input->bytes);
    if (kind == WNDL_GRAPH_RECORDING)
        return add_recording(m, input);
    if (kind != WNDL_GRAPH_UNKNOWN)
        return add_foreign(m, input, kind);
    wndl_cli_error("%s: unknown profile format (supported: recordings, "
                   "callgrind files, pprof profiles and their old text, output "
                   "of perf script, Valgrind's stacks, folded stacks)",
        input->name);
    return false;
}

static bool has_costs(const struct wndl_callgraph *g)
{
    return g->stacks != 0 || g->of_calls;
}

static bool add_file(struct merge *m, const char *path)
{
    struct wndl_input input;
    uint64_t stacks = m->g.stacks;
    bool of_calls = m->g.of_calls;
    if (!wndl_input_open(&input, path))
        return false;
    m->g.of_calls = false;
    bool added = add_bytes(m, &input);
    if (added && m->g.stacks == stacks && !m->g.of_calls)
        wndl_cli_note("warning: %s holds no stacks", input.name);
    m->g.of_calls |= of_calls;
    wndl_input_close(&input);
    return added;
}

static bool write_graph(FILE *out, void *context)
{
    const struct merge *m = context;
    struct wndl_bytes command = {m->command.data, m->command.size};
    return wndl_callgrind_write(out, &m->g, command, wndl_mem_libc());
}

static int merge_all(struct merge *m, struct wndl_operands operands)
{
    wndl_buf_text(&m->command, "windlass merge");
    for (size_t i = 0; i < operands.count; i++) {
        wndl_buf_byte(&m->command, ' ');
        wndl_buf_text(&m->command, operands.texts[i]);
        if (!add_file(m, operands.texts[i]))
            return WNDL_EXIT_FAILURE;
    }
    if (!has_costs(&m->g))
        return wndl_cli_error("there is nothing to merge");
    bool collapse = m->o->cycles == WNDL_CYCLES_COLLAPSE;
    if (m->command.failed || !wndl_callgraph_finish(&m->g, collapse))
        return wndl_cli_error("out of memory");
    const struct wndl_output output = {.path = m->o->out,
        .write = write_graph,
        .context = m,
        .open_with = "kcachegrind or callgrind_annotate"};
    return wndl_output_write(&output);
}

static int merge_files(const void *options, struct wndl_operands operands)
{
    struct merge m = {.o = options};
    if (!wndl_callgraph_init(&m.g, wndl_mem_libc()))
        return wndl_cli_error("out of memory");
    wndl_buf_init(&m.command, wndl_mem_libc());
    int exit_code = merge_all(&m, operands);
    wndl_buf_free(&m.command);
    wndl_callgraph_free(&m.g);
    return exit_code;
}

static int run_merge(const void *options, struct wndl_operands operands)
{
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &operands, 1))
        exit_code = merge_files(options, operands);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_merge = {
    .name = "merge",
    .group = WNDL_GROUP_CONVERT,
    .summary = "merge profiles into one call graph",
    .operands = "[FILE...]",
    .description =
        "Adds up the stacks of all files in one approximate call graph, in "
        "Callgrind's format, for KCachegrind and callgrind_annotate.\n\n"
        "The format of each file is detected from its contents: recordings of "
        "time and heaps, callgrind files, pprof profiles, Go's and gperftools' "
        "profiles in text, the output of perf script, stacks printed by "
        "Valgrind, folded stacks.",
    .options = option_table,
    .options_size = sizeof(struct merge_options),
    .examples = examples,
    .takes_recordings = true,
    .max_operands = SIZE_MAX,
    .run = run_merge,
};
