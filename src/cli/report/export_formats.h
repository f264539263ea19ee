/* SPDX-License-Identifier: MIT */
/* export_formats: the formats that `windlass export` writes. */
#ifndef WNDL_CLI_REPORT_EXPORT_FORMATS_H
#define WNDL_CLI_REPORT_EXPORT_FORMATS_H

#include "cli/report/export_sums.h"

struct wndl_export_format {
    const char *name;
    /* One of the two writes it; false: no memory. */
    bool (*write)(
        FILE *out, const struct wndl_exported *all, struct wndl_mem *mem);
    bool (*write_sums)(FILE *out, struct wndl_export_job *job);
    const char *open_with;
    bool of_heap; /* and of nothing else */
    bool of_both; /* heaps too when it is of time */
};

extern const struct wndl_export_format wndl_export_formats[];

/* False when memory is out; trouble with `out` is the caller's to find, by
 * ferror. */
bool wndl_export_write(FILE *out, const struct wndl_export_format *format,
    struct wndl_export_job *job);

/* The one of that name, or NULL. */
const struct wndl_export_format *wndl_export_find(const char *name);

/* For --help, in the order of the rows: "folded|dmd|..." and what each is. */
#define WNDL_EXPORT_FORMAT_NAMES (wndl_export_format_names + 1)
#define WNDL_EXPORT_FORMAT_HELP (wndl_export_format_help + 2)
extern const char wndl_export_format_names[]; /* "|folded|dmd..." */
extern const char wndl_export_format_help[];  /* "; folded: ..." */

#endif
