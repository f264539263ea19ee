/* SPDX-License-Identifier: MIT */
/*
 * export_sums: the formats of export that are written from sums over a
 * recording: a tree or graph of its calls, or a report. The writers in `out`
 * do not see who makes the sums.
 */
#ifndef WNDL_CLI_REPORT_EXPORT_SUMS_H
#define WNDL_CLI_REPORT_EXPORT_SUMS_H

#include "analyze/heap/report.h"
#include "model/exported.h"

#include <stdio.h>

/* A recording, and the choice of its contents. */
struct wndl_export_job {
    struct wndl_symbolized *symbolized; /* new strings are added to it */
    struct wndl_exported exported;      /* all of it */
    struct wndl_heap_choice heaps;      /* if exported.of_heap */
    bool collapses_cycles;
};

/* Each writes one format. False when memory is out; trouble with `out` is
 * the caller's to find, by ferror. */
bool wndl_export_folded(FILE *out, struct wndl_export_job *job);
bool wndl_export_dmd(FILE *out, struct wndl_export_job *job);
bool wndl_export_callgrind(FILE *out, struct wndl_export_job *job);

/*
 * Writes the JSON of `windlass report --json --tree --marks`; heaps have whole
 * stacks.
 */
bool wndl_export_json(FILE *out, struct wndl_export_job *job);

#endif
