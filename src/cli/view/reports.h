/* SPDX-License-Identifier: MIT */
/* reports: memory reports of files, for a page. */
#ifndef WNDL_CLI_VIEW_REPORTS_H
#define WNDL_CLI_VIEW_REPORTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "cli/core/options.h"

struct wndl_view_reports {
    struct wndl_arena arena;
    struct wndl_vec read;  /* struct wndl_memory_reports * */
    struct wndl_vec shown; /* struct wndl_view_report, the same by time */
};

/* Whether the file at `path` has memory reports; nothing is said. */
bool wndl_view_is_reports(const char *path);

/*
 * Reads all files, whose names outlive `reports`. Reports are shown in the
 * order of the files, or by their times if all have one. False: said why on
 * stderr. Always ends with wndl_view_reports_free.
 */
bool wndl_view_reports_load(
    struct wndl_view_reports *reports, struct wndl_operands files);
void wndl_view_reports_free(struct wndl_view_reports *reports);

#endif
