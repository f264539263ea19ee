/* SPDX-License-Identifier: MIT */
/* windlass diff: compares recordings. */
#include "cli/core/command.h"
#include "cli/memory/show.h"
#include "cli/report/diff_table.h"
#include "cli/report/held.h"
#include "cli/shared/dmd_report.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/known_file.h"
#include "cli/shared/newest.h"
#include "cli/valgrind/vm_diff.h"
#include "in/vm.h"

#include <string.h>

static const struct wndl_option option_table[] = {
    {0, "by", "WHAT", "auto|fn|line|module|thread|path||usual|function", "auto",
        NULL,
        "show one row for each function, line, module, thread or call path; "
        "auto: records for two heaps, else functions",
        WNDL_OPT_CHOICE, offsetof(struct wndl_diff_options, by)},
    {0, "time", "KIND", "auto|cpu|blocked|wall||usual", "auto", NULL,
        "which time of samples: cpu: using the CPU; blocked: waiting for a "
        "lock, I/O or the like; wall: both, and waiting for a CPU; auto: cpu",
        WNDL_OPT_CHOICE, offsetof(struct wndl_diff_options, time)},
    {0, "compare", "WHAT", "auto|share|amount||usual", "auto", NULL,
        "compare the share of each row in its recording, or its amount; auto: "
        "shares of time, amounts of heaps",
        WNDL_OPT_CHOICE, offsetof(struct wndl_diff_options, compare)},
    {0, "threshold", "PERCENT", NULL, NULL, NULL,
        "exit with status 1 if a row grew by more than PERCENT of the total "
        "and by more than the noise",
        WNDL_OPT_REAL, offsetof(struct wndl_diff_options, threshold)},
    {0, "plot", "OUT", NULL, NULL, NULL,
        "also draw the first 8 rows of the table as an SVG picture",
        WNDL_OPT_TEXT, offsetof(struct wndl_diff_options, plot)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "show N rows (default: 30; all with --json; 1000 records of heaps)",
        WNDL_OPT_COUNT, offsetof(struct wndl_diff_options, rows)},
    {0, "full-names", NULL, NULL, NULL, NULL,
        "show long C++ names in full, not as Class<...>::function(...)",
        WNDL_OPT_FLAG, offsetof(struct wndl_diff_options, full_names)},
    {0, "json", NULL, NULL, NULL, NULL, "write JSON (recordings only)",
        WNDL_OPT_FLAG, offsetof(struct wndl_diff_options, json)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write directly to the terminal, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct wndl_diff_options, no_pager)},
    {0, "heap", NULL, NULL, NULL, NULL,
        "compare the heaps of recordings that also have samples", WNDL_OPT_FLAG,
        offsetof(struct wndl_diff_options, of_heap)},
    {0, "retained", NULL, NULL, NULL, NULL,
        "of two heaps recorded with --scan: show which places and roots hold "
        "more than before, with all that would be freed with them",
        WNDL_OPT_FLAG, offsetof(struct wndl_diff_options, retained)},
    {0, "later-snapshot", "N", NULL, NULL, NULL,
        "heap: of the later recording, the N-th snapshot of each process "
        "(default: as --snapshot); both files may be the same one",
        WNDL_OPT_COUNT, offsetof(struct wndl_diff_options, later_snapshot)},
    WNDL_HEAP_OPTION_ROWS(struct wndl_diff_options, heap),
    WNDL_SYMBOL_OPTION_ROWS(struct wndl_diff_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass diff monday.cpu.wndl friday.cpu.wndl",
        "show how the shares of functions changed"},
    {"windlass diff --threshold 2 old.*.cpu.wndl -- new.*.cpu.wndl",
        "compare the means of several recordings, and fail if a function grew "
        "by more than 2 % of all"},
    {"windlass diff --filter parse_ --plot parse.svg v1.wndl v2.wndl v3.wndl",
        "draw how the share of those functions changed over three versions"},
    {"windlass diff --filter cache_ monday.heap.wndl friday.heap.wndl",
        "show how much more memory those functions hold in the second "
        "recording"},
    {"windlass diff --by fn monday.heap.wndl friday.heap.wndl",
        "show which functions hold more"},
    {"windlass diff --snapshot 2 --later-snapshot 3 app.4711.heap.wndl "
     "app.4711.heap.wndl",
        "show what grew between two snapshots of one recording"},
    {"windlass diff dmd-browser-4711-1.json.gz dmd-browser-4711-2.json.gz",
        "show how much more the second DMD file holds than the first"},
    {"windlass diff before.json.gz after.json.gz",
        "show what changed between two memory reports"},
    {NULL, NULL},
};

/* ---- files of DMD */

static bool wants_table(const struct wndl_diff_options *o)
{
    return o->retained || o->by != 0 || o->compare != WNDL_DIFF_COMPARE_AUTO ||
           o->threshold > 0 || o->plot != NULL;
}

static int diff_vm(const struct wndl_diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    const struct wndl_heap_options *heap = &o->heap;
    if (o->json || wants_table(o) || o->time != 0 || o->of_heap ||
        wndl_heap_set_given(&heap->of) || o->later_snapshot != 0 ||
        heap->filters.count != 0) {
        wndl_cli_error("%s is of the VM profiler: only -n and the options for "
                       "symbols apply; see 'windlass diff --help'",
            earlier->name);
        return WNDL_EXIT_USAGE;
    }
    return wndl_vm_diff_inputs(earlier, later, &o->symbols, o->rows);
}

static int diff_memory(const struct wndl_diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    const struct wndl_heap_options *heap = &o->heap;
    const struct wndl_memory_show how = {.paged = !o->no_pager};
    if (o->json || wants_table(o) || o->time != 0 || o->of_heap ||
        o->rows != 0 || wndl_heap_set_given(&heap->of) ||
        heap->filters.count != 0 || o->later_snapshot != 0) {
        wndl_cli_error("%s is a memory report: only --no-pager applies; see "
                       "'windlass diff --help'",
            earlier->name);
        return WNDL_EXIT_USAGE;
    }
    return wndl_memory_diff(earlier, later, &how);
}

static int diff_dmd(const struct wndl_diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    if (o->json || wants_table(o) || o->time != 0 || o->later_snapshot != 0) {
        wndl_cli_error("%s is a DMD file: --json, --by and the like are for "
                       "recordings; see 'windlass diff --help'",
            earlier->name);
        return WNDL_EXIT_USAGE;
    }
    const struct wndl_dmd_report report = {
        .command = "diff",
        .inputs = {earlier, later},
        .count = 2,
        .heap = &o->heap,
        .symbols = &o->symbols,
        .rows = o->rows,
        .paged = !o->no_pager,
    };
    return wndl_dmd_report(&report);
}

/* ---- two recordings */

static int diff_retained(const struct wndl_diff_options *o,
    const struct wndl_cli_recording loaded[2], const char *const names[2])
{
    const struct wndl_held_show show = {
        .process = o->heap.of.process,
        .rows = o->rows,
        .json = o->json,
        .paged = !o->no_pager && !o->json,
    };
    struct wndl_diff_options others = *o;
    others.retained = false;
    if (wants_table(&others) || o->time != 0 || o->heap.filters.count != 0) {
        wndl_cli_error("--retained compares scans of heaps: of the other "
                       "options only -n, --json, --process, --snapshot and "
                       "--later-snapshot go with it");
        return WNDL_EXIT_USAGE;
    }
    return wndl_held_diff(loaded, names, &show);
}

static int diff_two(const struct wndl_diff_options *o,
    const struct wndl_cli_recording loaded[2], const char *const names[2])
{
    const struct wndl_heap_show show = {
        .options = &o->heap,
        .rows = o->rows,
        .json = o->json,
        .paged = !o->no_pager && !o->json,
    };
    if (o->retained)
        return diff_retained(o, loaded, names);
    bool of_heap = wndl_heap_shown_of(&loaded[0].profile, o->of_heap) ||
                   wndl_heap_shown_of(&loaded[1].profile, o->of_heap);
    if (of_heap && !wants_table(o) && o->time == 0)
        return wndl_heap_diff(loaded, names, &show);
    struct wndl_diff_table table;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_diff_table_init(&table, o)) {
        exit_code = wndl_diff_table_add(&table, &loaded[0], names[0], 0);
        if (exit_code == WNDL_EXIT_OK)
            exit_code = wndl_diff_table_add(&table, &loaded[1], names[1], 1);
        if (exit_code == WNDL_EXIT_OK)
            exit_code = wndl_diff_table_show(&table);
    }
    wndl_diff_table_free(&table);
    return exit_code;
}

static int diff_recordings(const struct wndl_diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    const char *const names[] = {earlier->name, later->name};
    const uint64_t snapshot = o->heap.of.snapshot;
    struct wndl_cli_recording loaded[2];
    if (!wndl_cli_recording_open(
            &loaded[0], earlier, &o->symbols, snapshot, false))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_cli_recording_open(&loaded[1], later, &o->symbols,
            o->later_snapshot != 0 ? o->later_snapshot : snapshot, false)) {
        (void)wndl_heap_keep_tag(&loaded[0], &o->heap.of, false, names[0]);
        (void)wndl_heap_keep_tag(&loaded[1], &o->heap.of, false, names[1]);
        exit_code = diff_two(o, loaded, names);
        wndl_cli_recording_close(&loaded[1]);
    }
    wndl_cli_recording_close(&loaded[0]);
    return exit_code;
}

static int diff_inputs(const struct wndl_diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    const enum wndl_taken taken =
        WNDL_TAKES_DMD | WNDL_TAKES_VM | WNDL_TAKES_MEMORY;
    if (!wndl_known_file_is_taken(earlier, taken) ||
        !wndl_known_file_is_taken(later, taken))
        return WNDL_EXIT_FAILURE;
    const bool is_memory = wndl_known_file_is_memory(earlier);
    if (is_memory != wndl_known_file_is_memory(later))
        return wndl_cli_error("%s and %s are files of different kinds",
            earlier->name, later->name);
    if (is_memory)
        return diff_memory(o, earlier, later);
    bool dmd[] = {
        wndl_dmd_json_guess(earlier->bytes), wndl_dmd_json_guess(later->bytes)};
    bool vm[] = {wndl_vm_is(earlier->bytes), wndl_vm_is(later->bytes)};
    if (vm[0] && vm[1])
        return diff_vm(o, earlier, later);
    if (dmd[0] != dmd[1] || vm[0] != vm[1])
        return wndl_cli_error("%s and %s are files of different kinds",
            earlier->name, later->name);
    return dmd[0] ? diff_dmd(o, earlier, later)
                  : diff_recordings(o, earlier, later);
}

static int diff_files(
    const struct wndl_diff_options *o, const char *earlier, const char *later)
{
    struct wndl_input inputs[2];
    if (!wndl_input_open(&inputs[0], earlier))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_input_open(&inputs[1], later)) {
        exit_code = diff_inputs(o, &inputs[0], &inputs[1]);
        wndl_input_close(&inputs[1]);
    }
    wndl_input_close(&inputs[0]);
    return exit_code;
}

/* ---- more of them, one in memory at a time */

static int add_file(
    struct wndl_diff_table *table, const char *path, uint32_t group)
{
    struct wndl_input input;
    struct wndl_cli_recording loaded;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    bool is_loaded = wndl_cli_recording_open(
        &loaded, &input, &table->o->symbols, table->o->heap.of.snapshot, false);
    if (is_loaded)
        (void)wndl_heap_keep_tag(
            &loaded, &table->o->heap.of, false, input.path);
    int exit_code = WNDL_EXIT_FAILURE;
    if (is_loaded) {
        exit_code = wndl_diff_table_add(table, &loaded, path, group);
        wndl_cli_recording_close(&loaded);
    }
    wndl_input_close(&input);
    return exit_code;
}

static bool is_separator(const char *operand)
{
    return strcmp(operand, "--") == 0;
}

static bool has_separator(struct wndl_operands operands)
{
    for (size_t i = 0; i < operands.count; i++) {
        if (is_separator(operands.texts[i]))
            return true;
    }
    return false;
}

/* Each file is a group of its own, unless "--" stands between groups. */
static int diff_groups(
    const struct wndl_diff_options *o, struct wndl_operands operands)
{
    bool grouped = has_separator(operands);
    struct wndl_diff_table table;
    uint32_t group = 0;
    int exit_code =
        wndl_diff_table_init(&table, o) ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
    for (size_t i = 0; i < operands.count && exit_code == WNDL_EXIT_OK; i++) {
        if (is_separator(operands.texts[i])) {
            group++;
            continue;
        }
        exit_code = add_file(&table, operands.texts[i], group);
        group += !grouped;
    }
    if (exit_code == WNDL_EXIT_OK)
        exit_code = wndl_diff_table_show(&table);
    wndl_diff_table_free(&table);
    return exit_code;
}

/* The first operand is never one. */
static bool has_empty_group(struct wndl_operands operands)
{
    for (size_t i = 1; i < operands.count; i++) {
        if (is_separator(operands.texts[i]) &&
            (i + 1 == operands.count || is_separator(operands.texts[i + 1])))
            return true;
    }
    return false;
}

static int compare_files(const void *options, struct wndl_operands operands)
{
    const struct wndl_diff_options *o = options;
    if (operands.count == 1) {
        wndl_cli_error("LATER is missing; without any file, the last two "
                       "recordings here are compared");
        return WNDL_EXIT_USAGE;
    }
    if (has_empty_group(operands)) {
        wndl_cli_error(
            "a file is missing after --; see 'windlass diff --help'");
        return WNDL_EXIT_USAGE;
    }
    if (operands.count == 2)
        return diff_files(o, operands.texts[0], operands.texts[1]);
    if (operands.count == 3 && is_separator(operands.texts[1]))
        return diff_files(o, operands.texts[0], operands.texts[2]);
    if (o->retained) {
        wndl_cli_error("--retained compares two recordings, not more");
        return WNDL_EXIT_USAGE;
    }
    return diff_groups(o, operands);
}

static int run_diff(const void *options, struct wndl_operands operands)
{
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &operands, WNDL_NEWEST_MAX))
        exit_code = compare_files(options, operands);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_diff = {
    .name = "diff",
    .group = WNDL_GROUP_LOOK,
    .summary = "compare recordings",
    .operands = "[EARLIER LATER [FILE...]]",
    .description =
        "Shows how recordings differ. For time, it compares the share of each "
        "function; for heaps (windlass heap), the blocks and bytes of LATER "
        "minus those of EARLIER for each stack, or with --by the memory that "
        "functions, lines, modules or call paths hold. Rows are matched by "
        "name, so the recordings may be of different builds. An asterisk marks "
        "a change that is larger than the noise (docs/diff.md).\n\n"
        "With EARLIER... -- LATER..., the means of two groups of recordings "
        "are compared; each group holds recordings of the same program. More "
        "than two files or groups are shown as a series, in one table and one "
        "plot.\n\n"
        "Two DMD files of Mozilla (JSON, version 5, plain or gzip) are "
        "compared like heaps; they must have the same mode. The percentage of "
        "a record is its share of the whole difference.\n\n"
        "Without files, it compares the newest recording in this folder that "
        "is yours with the last one before it of the same kind.\n\n"
        "Two results of 'windlass vmprof' are compared by their page "
        "faults. Of two memory reports ('windlass memory -o', or Firefox's) "
        "the amounts of EARLIER are taken off those of LATER; processes are "
        "matched by their names without pids.\n\n"
        "The exit status is 1 if something grew by more than --threshold, or "
        "if a file could not be read.",
    .options = option_table,
    .options_size = sizeof(struct wndl_diff_options),
    .examples = examples,
    .takes_recordings = true,
    .max_operands = SIZE_MAX,
    .operands_in_groups = true,
    .run = run_diff,
};
