/* SPDX-License-Identifier: MIT */
/*
 * record_summary: the notes of `windlass record` and `windlass heap` on
 * stderr.
 */
#ifndef WNDL_CLI_RECORD_SUMMARY_H
#define WNDL_CLI_RECORD_SUMMARY_H

#include "cli/record/options.h"

/* Notes what the engine cannot sample, and which setting would change that. */
void wndl_record_say_engine(const struct wndl_collector_engine *engine);

/*
 * Running counts, for people who wait: on a terminal one line that changes,
 * else a line every 2 s. Zeroed at first; `said`: the screen shows the line.
 */
struct wndl_record_progress {
    bool said;
    uint64_t next; /* CLOCK_MONOTONIC ns */
};
void wndl_record_say_progress(
    void *progress, const struct wndl_collector_result *so_far);

/* Removes the line. */
void wndl_record_end_progress(struct wndl_record_progress *progress);

/* Live, peak and all: "1.5 MB live in 12 blocks, ...". */
void wndl_heap_list_live(
    char *text, size_t size, const struct wndl_collector_heap_totals *totals);

/* Prints how much was allocated, and how complete the stacks are. */
void wndl_heap_say_summary(const struct wndl_collector_result *result);

/* Prints the code paths that held most memory at the peak. */
void wndl_heap_say_top(const char *path);

/*
 * Prints the contents of the recording, the losses, and the next command.
 * `other`: the process that continues the recording, if > 0.
 */
void wndl_record_say_summary(const struct wndl_record_options *options,
    const struct wndl_collector_result *result, pid_t other);

#endif
