/* SPDX-License-Identifier: MIT */
/* text: how record writes frames, ends of stacks and reasons. */
#ifndef WNDL_CLI_RECORD_TEXT_H
#define WNDL_CLI_RECORD_TEXT_H

#include "collect/loop/collector.h"

/* The plural ending of a noun with this count. */
static inline const char *wndl_record_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Frames by how they were found and ends by reason, in words. */
void wndl_record_list_frames(
    char *text, size_t size, const struct wndl_collector_totals *totals);
void wndl_record_list_ends(
    char *text, size_t size, const struct wndl_collector_totals *totals);

/* "REASON 3, REASON 1" for the rows that are not 0. */
void wndl_record_list_reasons(char *text, size_t size, const uint64_t *counts,
    const char *const names[8]);

/* Prints the share of `all` whose stacks are complete. */
void wndl_record_say_complete(
    const char *what, const uint64_t ends[WNDL_WALK_END_COUNT], uint64_t all);

#endif
