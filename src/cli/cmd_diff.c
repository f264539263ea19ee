/* SPDX-License-Identifier: MIT */
/* windlass diff: what became more and less from one heap to the next. */
#include "cli/command.h"
#include "cli/dmd_report.h"
#include "cli/heap_report.h"

struct diff_options {
    uint64_t rows; /* 0: not given */
    bool json;
    bool no_pager;
    struct wndl_heap_options heap;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'n', "rows", "N", NULL, NULL, NULL,
        "how many records to show: 1000, or all with --json", WNDL_OPT_COUNT,
        offsetof(struct diff_options, rows)},
    {0, "json", NULL, NULL, NULL, NULL,
        "of recordings: write JSON for programs to read", WNDL_OPT_FLAG,
        offsetof(struct diff_options, json)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write to the terminal itself, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct diff_options, no_pager)},
    WNDL_HEAP_OPTION_ROWS(struct diff_options, heap),
    WNDL_SYMBOL_OPTION_ROWS(struct diff_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass diff --filter cache_ monday.heap.wndl friday.heap.wndl",
        "what those functions hold in the second recording that they did not "
        "in the first"},
    {"windlass diff dmd-browser-4711-1.json.gz dmd-browser-4711-2.json.gz",
        "what the second of two DMD files holds that the first did not"},
    {NULL, NULL},
};

static int diff_dmd(const struct diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    if (o->json) {
        wndl_cli_error("%s is a file of DMD: --json is for recordings; see "
                       "'windlass diff --help'",
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

static int diff_recordings(const struct diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    const struct wndl_heap_show show = {
        .options = &o->heap,
        .rows = o->rows,
        .json = o->json,
        .paged = !o->no_pager && !o->json,
    };
    const char *const names[] = {earlier->name, later->name};
    const uint64_t snapshot = o->heap.of.snapshot;
    struct wndl_loaded loaded[2];
    if (!wndl_load(&loaded[0], earlier, &o->symbols, snapshot, false))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_load(&loaded[1], later, &o->symbols, snapshot, false)) {
        exit_code = wndl_heap_diff(loaded, names, &show);
        wndl_unload(&loaded[1]);
    }
    wndl_unload(&loaded[0]);
    return exit_code;
}

static int diff_inputs(const struct diff_options *o,
    const struct wndl_input *earlier, const struct wndl_input *later)
{
    bool dmd[] = {
        wndl_dmd_json_guess(earlier->bytes), wndl_dmd_json_guess(later->bytes)};
    if (dmd[0] != dmd[1])
        return wndl_cli_error(
            "%s and %s are of different kinds", earlier->name, later->name);
    return dmd[0] ? diff_dmd(o, earlier, later)
                  : diff_recordings(o, earlier, later);
}

static int run_diff(const void *options, struct wndl_operands operands)
{
    struct wndl_input earlier, later;
    if (!wndl_input_open(&earlier, operands.texts[0]))
        return WNDL_EXIT_FAILURE;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_input_open(&later, operands.texts[1])) {
        exit_code = diff_inputs(options, &earlier, &later);
        wndl_input_close(&later);
    }
    wndl_input_close(&earlier);
    return exit_code;
}

const struct wndl_command wndl_cmd_diff = {
    .name = "diff",
    .summary = "show what changed between two heaps",
    .operands = "EARLIER LATER",
    .description =
        "Shows how two recordings of heaps (windlass heap) differ, or two "
        "files of Mozilla's DMD (JSON, version 5, also compressed by gzip): "
        "for each stack the blocks and bytes of LATER less those of EARLIER. "
        "Files of DMD must be of one mode. Percentages are of the difference "
        "of the two heaps.",
    .options = option_table,
    .options_size = sizeof(struct diff_options),
    .examples = examples,
    .min_operands = 2,
    .max_operands = 2,
    .run = run_diff,
};
