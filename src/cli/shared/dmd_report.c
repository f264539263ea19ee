/* SPDX-License-Identifier: MIT */
#include "cli/shared/dmd_report.h"

#include "analyze/heap/dmd_list.h"
#include "base/utf8.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/core/shell_word.h"
#include "cli/core/terminal.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/fix_listener.h"
#include "out/dmd_text.h"

#include <inttypes.h>
#include <string.h>

/* The limit for each kind of record, that of DMD's own tool. */
enum { MAX_RECORDS = 1000 };

/* The data that outlives the files. */
struct reading {
    const struct wndl_dmd_report *report;
    struct wndl_heap_list list;
    struct wndl_dmd_invocation invocations[2];
};

static int out_of_memory(void)
{
    return wndl_cli_error("out of memory");
}

static bool name_frames(
    const struct wndl_dmd_report *report, struct wndl_dmd_file *dmd)
{
    struct wndl_debug_dirs debug_dirs;
    struct wndl_symbolizer_cache cache;
    static const char *const none[] = {NULL};
    struct wndl_fix *fix;
    wndl_debug_dirs_init(&debug_dirs, &report->symbols->debug_dirs);
    const struct wndl_fix_options options = {
        .debug_dirs = debug_dirs.list,
        .debuginfod = wndl_asks_debuginfod(report->symbols),
        .cache = wndl_symbol_cache(report->symbols, &cache),
        .sym_dirs = none,
        .maps = none,
    };
    if (wndl_fix_open(
            wndl_mem_libc(), &options, &wndl_cli_fix_listener, &fix) != WNDL_OK)
        return false;
    bool named = wndl_dmd_name_frames(dmd, fix) == WNDL_OK;
    wndl_fix_report_lost(fix);
    wndl_fix_close(fix);
    return named;
}

static void warn_of_losses(
    const struct wndl_input *input, const struct wndl_dmd_file *dmd)
{
    if (dmd->blocks_lost != 0)
        wndl_cli_note("warning: %s: the stacks of %" PRIu64
                      " blocks are not in its traceTable",
            input->name, dmd->blocks_lost);
    if (dmd->frames_lost != 0)
        wndl_cli_note("warning: %s: %" PRIu64
                      " frames of stacks are not in its frameTable",
            input->name, dmd->frames_lost);
}

/* The mode for a comparison: scan is live with contents, not shown in text. */
static enum wndl_heap_mode shown_mode(enum wndl_heap_mode mode)
{
    return mode == WNDL_HEAP_MODE_SCAN ? WNDL_HEAP_MODE_LIVE : mode;
}

static int take_file(struct reading *in, size_t i, struct wndl_dmd_file *dmd)
{
    const struct wndl_dmd_report *report = in->report;
    if (i != 0 && shown_mode(dmd->mode) != shown_mode(in->invocations[0].mode))
        return wndl_cli_error("%s and %s were made in different modes",
            report->inputs[0]->name, report->inputs[1]->name);
    warn_of_losses(report->inputs[i], dmd);
    in->invocations[i].mode = dmd->mode;
    if (dmd->has_env) {
        const char *copy =
            wndl_arena_copy(&in->list.arena, dmd->env.data, dmd->env.size);
        in->invocations[i].env =
            (struct wndl_bytes){(const uint8_t *)copy, dmd->env.size};
        if (copy == NULL)
            return out_of_memory();
    }
    if (!report->heap->no_fix_stacks && !name_frames(report, dmd))
        return out_of_memory();
    bool earlier = report->count > 1 && i == 0;
    return wndl_dmd_list_add(&in->list, dmd, earlier) ? WNDL_EXIT_OK
                                                      : out_of_memory();
}

static int read_files(struct reading *in)
{
    int exit_code = WNDL_EXIT_OK;
    for (size_t i = 0; i < in->report->count && exit_code == 0; i++) {
        const struct wndl_input *input = in->report->inputs[i];
        struct wndl_dmd_file dmd;
        struct wndl_error err = {0};
        if (wndl_dmd_json_read(input->bytes, wndl_mem_libc(), &dmd, &err) !=
            WNDL_OK)
            exit_code = wndl_input_error(input, &err);
        else
            exit_code = take_file(in, i, &dmd);
        wndl_dmd_json_free(&dmd);
    }
    return exit_code;
}

/* Writes the command line that makes this report. */
static void write_command(
    const struct wndl_dmd_report *report, struct wndl_buf *command)
{
    static const char *const sorts[] = {"usable", "req", "slop", "num-blocks"};
    const struct wndl_heap_options *heap = report->heap;
    wndl_buf_printf(command, "windlass %s", report->command);
    if (heap->max_frames != 8)
        wndl_buf_printf(command, " --max-frames %" PRIu64, heap->max_frames);
    if (heap->sort != WNDL_HEAP_BY_USABLE)
        wndl_buf_printf(command, " --sort-by %s", sorts[heap->sort]);
    if (heap->ignore_alloc_fns)
        wndl_buf_text(command, " --ignore-alloc-fns");
    if (heap->no_fix_stacks)
        wndl_buf_text(command, " --no-fix-stacks");
    if (report->rows != 0)
        wndl_buf_printf(command, " --rows %" PRIu64, report->rows);
    for (size_t i = 0; i < heap->filters.count; i++) {
        wndl_buf_text(command, " --filter ");
        wndl_shell_word(command, heap->filters.texts[i]);
    }
    for (size_t i = 0; i < report->count; i++) {
        const char *slash = strrchr(report->inputs[i]->path, '/');
        wndl_buf_byte(command, ' ');
        wndl_shell_word(
            command, slash == NULL ? report->inputs[i]->path : slash + 1);
    }
    wndl_buf_byte(command, '\0');
}

static int show_records(struct reading *in)
{
    const struct wndl_heap_options *heap = in->report->heap;
    const struct wndl_heap_grouping how = {heap->max_frames, heap->sort,
        heap->ignore_alloc_fns, heap->filters.texts};
    struct wndl_heap_records records;
    struct wndl_buf command, text, plain;
    wndl_buf_init(&command, wndl_mem_libc());
    wndl_buf_init(&plain, wndl_mem_libc());
    wndl_buf_init(&text, wndl_mem_libc());
    write_command(in->report, &command);
    int exit_code = WNDL_EXIT_FAILURE;
    if (!wndl_heap_records_fill(&records, &in->list, &how, wndl_mem_libc()) ||
        command.failed) {
        out_of_memory();
    } else {
        wndl_dmd_text_head(&text, (const char *)command.data, in->invocations,
            in->report->count);
        wndl_dmd_text_records(&text, &records,
            in->report->rows == 0 ? MAX_RECORDS : in->report->rows);
        wndl_utf8_plain_lines(&plain, &text);
        exit_code = wndl_show(&plain, in->report->out, in->report->paged);
    }
    wndl_heap_records_free(&records);
    wndl_buf_free(&plain);
    wndl_buf_free(&text);
    wndl_buf_free(&command);
    return exit_code;
}

int wndl_dmd_report(const struct wndl_dmd_report *report)
{
    struct reading in = {.report = report};
    const struct wndl_heap_set_options *of = &report->heap->of;
    if (of->blocks != 0 || of->snapshot != 0 || of->process != 0) {
        wndl_cli_error("%s is a DMD file: --blocks, --snapshot and --process "
                       "are for recordings",
            report->inputs[0]->name);
        return WNDL_EXIT_USAGE;
    }
    if (!wndl_heap_list_init(&in.list, wndl_mem_libc()))
        return out_of_memory();
    int exit_code = read_files(&in);
    if (exit_code == WNDL_EXIT_OK)
        exit_code = show_records(&in);
    wndl_heap_list_free(&in.list);
    return exit_code;
}
