/* SPDX-License-Identifier: MIT */
/*
 * perf_map: /tmp/perf-PID.map, where a runtime names the code it generates:
 * a line each, "start size name" with both numbers in hex. A later line is
 * newer than an earlier one about the same place, so the lines are read from
 * the last to the first. Takes no memory; it must not know of processes.
 */
#ifndef WNDL_IN_PERF_MAP_H
#define WNDL_IN_PERF_MAP_H

#include "base/bytes.h"

struct wndl_perf_map {
    struct wndl_bytes left; /* not read yet */
    uint64_t damaged;       /* lines that were passed over */
};

struct wndl_perf_map_line {
    uint64_t start;         /* avma */
    uint64_t size;          /* start + size does not overflow */
    struct wndl_bytes name; /* all of the line's rest; borrowed */
};

static inline struct wndl_perf_map wndl_perf_map_of(struct wndl_bytes file)
{
    return (struct wndl_perf_map){.left = file};
}

/* The line before. False at the start of the file. */
bool wndl_perf_map_previous(
    struct wndl_perf_map *map, struct wndl_perf_map_line *line);

#endif
