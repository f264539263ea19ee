/* SPDX-License-Identifier: MIT */
/*
 * perf_map: /tmp/perf-PID.map, in which a runtime names its generated code: on
 * each line "start size name", both numbers in hex. A later line is newer than
 * an earlier one about the same place, so the lines are read from the last to
 * the first. It needs no memory. It must not know processes.
 */
#ifndef WNDL_IN_PERF_MAP_H
#define WNDL_IN_PERF_MAP_H

#include "base/bytes.h"

struct wndl_perf_map {
    struct wndl_bytes left; /* not yet read */
    uint64_t damaged;       /* lines that were skipped */
};

struct wndl_perf_map_line {
    uint64_t start;         /* avma */
    uint64_t size;          /* start + size does not overflow */
    struct wndl_bytes name; /* the rest of the line; borrowed */
};

/* Starts to read `file`, which is borrowed. */
static inline struct wndl_perf_map wndl_perf_map_of(struct wndl_bytes file)
{
    return (struct wndl_perf_map){.left = file};
}

/* Reads the previous line. False at the start of the file. */
bool wndl_perf_map_previous(
    struct wndl_perf_map *map, struct wndl_perf_map_line *line);

#endif
