/* SPDX-License-Identifier: MIT */
/* show: memory reports on standard output, and differences of files. */
#ifndef WNDL_CLI_MEMORY_SHOW_H
#define WNDL_CLI_MEMORY_SHOW_H

#include "cli/core/input.h"
#include "model/memory_reports.h"

struct wndl_memory_show {
    bool flat;    /* a line for each path, processes side by side */
    bool verbose; /* nothing folded; bytes */
    bool paged;
};

/* Shows all processes, and their sum if there are several. The exit code. */
int wndl_memory_show(const struct wndl_memory_reports *reports,
    const struct wndl_memory_show *how);

/* Shows LATER minus EARLIER. Returns the exit code. */
int wndl_memory_diff(const struct wndl_input *earlier,
    const struct wndl_input *later, const struct wndl_memory_show *how);

#endif
