/* SPDX-License-Identifier: MIT */
/*
 * record_summary: what `windlass record` and `windlass heap` tell people, on
 * stderr.
 */
#ifndef WNDL_CLI_RECORD_SUMMARY_H
#define WNDL_CLI_RECORD_SUMMARY_H

#include "cli/record/options.h"

/* What the engine cannot see, and which setting would change that. */
void wndl_record_say_engine(const struct wndl_collector_engine *engine);

/*
 * Running counts, for people who wait: on a terminal one line that changes,
 * else a line every 2 s. Zeroed at first; `said` is an own line on the screen.
 */
struct wndl_record_progress {
    bool said;
    uint64_t next; /* CLOCK_MONOTONIC ns */
};
void wndl_record_say_progress(
    void *progress, const struct wndl_collector_result *so_far);

/* Takes the line away. */
void wndl_record_end_progress(struct wndl_record_progress *progress);

/* Live, peak and all: "1.5 MB live in 12 blocks, ...". */
void wndl_heap_list_live(
    char *text, size_t size, const struct wndl_collector_heap_totals *totals);

/* How much was allocated, and what is known of it. */
void wndl_heap_say_summary(const struct wndl_collector_result *result);

/* What in the recording held most memory at the peak. */
void wndl_heap_say_top(const char *path);

/*
 * What is in the recording and what is not, and what to type next. `other`:
 * the process that goes on with it, if > 0.
 */
void wndl_record_say_summary(const struct wndl_record_options *options,
    const struct wndl_collector_result *result, pid_t other);

#endif
