/* SPDX-License-Identifier: MIT */
/*
 * memory_reports: memory reports in the layout of Firefox (JSON, version 1,
 * plain or compressed by gzip), as files and as processes give them.
 * docs/formats/memory-report.md has the format.
 */
#ifndef WNDL_IN_MEMORY_REPORTS_H
#define WNDL_IN_MEMORY_REPORTS_H

#include "base/json_read.h"
#include "model/memory_reports.h"

/*
 * Adds the reports of a text that comes in pieces to `reports`, and keeps those
 * before damage. `suffix` is added to the names of processes; "" for none.
 * TRUNCATED, MALFORMED, LIMIT with the offset in section "JSON"; UNSUPPORTED
 * for other versions; NOMEM; what `more` returns.
 */
enum wndl_status wndl_memory_reports_read_text(
    struct wndl_memory_reports *reports, const char *suffix,
    wndl_json_more more, void *context, struct wndl_error *err) WNDL_MUST_USE;

/* The same of a whole file; damage of its compression is in section "gzip". */
enum wndl_status wndl_memory_reports_read(struct wndl_memory_reports *reports,
    const char *suffix, struct wndl_bytes file,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reads a file of one or several texts, one after the other, as `windlass
 * memory --every --json` writes them. Adds the reports of each to `series`
 * (struct wndl_memory_reports *), in memory of `arena`, also of those before
 * damage. The list ends with wndl_memory_series_free, even after a failure and
 * before its arena. The failures of wndl_memory_reports_read.
 */
enum wndl_status wndl_memory_series_read(struct wndl_vec *series,
    struct wndl_arena *arena, struct wndl_bytes file,
    struct wndl_error *err) WNDL_MUST_USE;
void wndl_memory_series_free(struct wndl_vec *series);

#endif
