/* SPDX-License-Identifier: MIT */
/* dmd_report: a report on a file of Mozilla's DMD, or how two differ. */
#ifndef WNDL_CLI_SHARED_DMD_REPORT_H
#define WNDL_CLI_SHARED_DMD_REPORT_H

#include "cli/core/input.h"
#include "cli/shared/heap_options.h"
#include "cli/shared/symbol_options.h"
#include "in/dmd_json.h"

/* The first of two inputs is the earlier one. */
struct wndl_dmd_report {
    const char *command; /* "report", for the text's head */
    const struct wndl_input *inputs[2];
    size_t count;
    const struct wndl_heap_options *heap;
    const struct wndl_symbol_options *symbols;
    uint64_t rows;   /* of records of each kind; 0: as many as usual */
    const char *out; /* a file; NULL: standard output */
    bool paged;
};

/* Writes the report to standard output, and errors to stderr. Returns the exit
 * code. */
int wndl_dmd_report(const struct wndl_dmd_report *report);

#endif
