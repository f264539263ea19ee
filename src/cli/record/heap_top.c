/* SPDX-License-Identifier: MIT */
/* heap_top: the start of a heap's report, in a few lines. */
#include "cli/record/summary.h"
#include "cli/shared/heap_report.h"

#include "cli/core/command.h"
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"

enum { SITES = 5, NAMES = 3 };

static void say_line(struct wndl_buf *line)
{
    for (size_t i = 0; i < line->size; i++) {
        if (line->data[i] < ' ' || line->data[i] == 127)
            line->data[i] = '?';
    }
    wndl_buf_byte(line, '\0');
    if (!line->failed)
        wndl_cli_note("  %s", (const char *)line->data);
}

static void say_record(const struct wndl_heap_report *r,
    const struct wndl_heap_record *record, struct wndl_buf *out)
{
    struct wndl_heap_stack stack = record->stacks[WNDL_HEAP_ALLOCATED];
    const char *tilde = record->figures.blocks_error > 0 ? "~" : "";
    wndl_buf_clear(out);
    wndl_buf_text(out, tilde);
    wndl_text_count(out, (uint64_t)wndl_heap_usable(&record->figures), "byte");
    wndl_buf_printf(out, " in %s", tilde);
    wndl_text_count(out, (uint64_t)record->figures.blocks, "block");
    wndl_buf_text(out, ": ");
    wndl_report_heap_callers(&r->list, stack, out);
    say_line(out);
}

static void say_records(const struct wndl_heap_report *r)
{
    struct wndl_buf line;
    wndl_buf_init(&line, wndl_mem_libc());
    if (r->records.records.len != 0)
        wndl_cli_note("held most at the peak:");
    for (size_t i = 0; i < r->records.records.len && i < SITES; i++)
        say_record(r, wndl_vec_at(&r->records.records, i), &line);
    wndl_buf_free(&line);
}

static void say_loaded(const struct wndl_cli_recording *loaded)
{
    static const char *const no_filters[] = {NULL};
    const struct wndl_heap_choice choice = {
        .set = WNDL_HEAP_SET_PEAK,
        .without_findings = true,
        .grouping = {.max_frames = NAMES,
            .ignore_alloc_fns = true,
            .filters = no_filters},
    };
    struct wndl_heap_report report;
    if (wndl_heap_report_fill(
            &report, &loaded->symbolized, &choice, wndl_mem_libc()))
        say_records(&report);
    wndl_heap_report_free(&report);
}

void wndl_heap_say_top(const char *path)
{
    static const struct wndl_symbol_options usual;
    struct wndl_cli_recording loaded;
    struct wndl_input input;
    if (!wndl_input_open(&input, path))
        return;
    if (wndl_cli_recording_open(&loaded, &input, &usual, 0, false)) {
        say_loaded(&loaded);
        wndl_cli_recording_close(&loaded);
    }
    wndl_input_close(&input);
}
