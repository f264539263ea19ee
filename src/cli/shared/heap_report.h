/* SPDX-License-Identifier: MIT */
/* heap_report: a report on the heaps of a recording, or how two differ. */
#ifndef WNDL_CLI_SHARED_HEAP_REPORT_H
#define WNDL_CLI_SHARED_HEAP_REPORT_H

#include "analyze/heap/report.h"
#include "cli/shared/heap_options.h"
#include "cli/shared/recording.h"

struct wndl_heap_show {
    const struct wndl_heap_options *options;
    const char *path; /* of the recording, "-": it is used up */
    uint64_t rows;    /* of records; 0: as many as usual */
    bool json;
    const char *out; /* a file; NULL: standard output */
    bool paged;
    const char *next; /* the command to try next, before the file */
};

/* Whether a report shows the heaps: there is nothing else, or `wanted`. */
bool wndl_heap_shown_of(const struct wndl_profile *p, bool wanted);

/* Whether freed blocks were recorded too. */
bool wndl_heap_has_freed(const struct wndl_profile *p);

/*
 * Drops the blocks whose tag the options do not choose. If `is_needed`, some
 * block must have such a tag: else reports an error on `file`, closes the
 * recording and returns false.
 */
bool wndl_heap_keep_tag(struct wndl_cli_recording *loaded,
    const struct wndl_heap_set_options *options, bool is_needed,
    const char *file);

/*
 * Writes the sums of the blocks by tag to standard output, and errors to
 * stderr. Returns the exit code.
 */
int wndl_heap_report_tags(
    const struct wndl_cli_recording *loaded, const struct wndl_heap_show *show);

/*
 * The blocks that the options choose in these recordings. The default is all
 * blocks ever allocated if all recordings hold freed blocks, else the live
 * ones. Stacks differ by one frame, and none is filtered out.
 */
struct wndl_heap_choice wndl_heap_choose(
    const struct wndl_heap_set_options *options,
    const struct wndl_cli_recording *loaded, size_t count);

/* Whether the recording holds any of the chosen heaps; reports an error on its
 * file if not. */
bool wndl_heap_has(const struct wndl_profile *p,
    const struct wndl_heap_choice *choice, const char *file);

/* Writes the report to standard output, and errors to stderr. Returns the exit
 * code. */
int wndl_heap_report(
    const struct wndl_cli_recording *loaded, const struct wndl_heap_show *show);

/* How the second of two differs from the first; `names` are their files. */
int wndl_heap_diff(const struct wndl_cli_recording loaded[2],
    const char *const names[2], const struct wndl_heap_show *show);

#endif
