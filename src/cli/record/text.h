/* SPDX-License-Identifier: MIT */
/* text: what record says of frames, of the ends of stacks and of reasons. */
#ifndef WNDL_CLI_RECORD_TEXT_H
#define WNDL_CLI_RECORD_TEXT_H

#include "collect/loop/collector.h"

/* What is added to a noun of which there are so many. */
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

/* How many of `all` have stacks that end as they should. */
void wndl_record_say_complete(
    const char *what, const uint64_t ends[WNDL_WALK_END_COUNT], uint64_t all);

#endif
