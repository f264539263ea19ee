/* SPDX-License-Identifier: MIT */
/*
 * shared: what off-CPU sampling of all processes of a recording has in common:
 * the binaries that were opened, room to read stacks into, the sums.
 */
#ifndef WNDL_COLLECT_OFFCPU_SHARED_H
#define WNDL_COLLECT_OFFCPU_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the whole recording, for the summary. */
struct wndl_offcpu_totals {
    uint64_t blocked, waiting; /* thread ns */
    uint64_t stacks;           /* blocked stacks that were unwound */
    uint64_t complete;         /* of them, up to the thread's start */
    uint32_t refused;          /* processes that could not be looked into */
    int refused_errno;         /* why, of the last one */
};

struct wndl_offcpu_shared;

struct wndl_offcpu_request {
    size_t max_frames;  /* deeper stacks are cut */
    uint32_t unwind;    /* enum wndl_unwind_policy */
    const char *wanted; /* threads, as in struct wndl_go; borrowed */
    const char *tables; /* as in struct wndl_shm; borrowed */
    bool is_alone;      /* nobody samples: CPU time is told at threads' ends */
};

/* NULL when memory is out. */
struct wndl_offcpu_shared *wndl_offcpu_shared_new(
    const struct wndl_offcpu_request *request);

/* NULL is left alone. After the last process. */
void wndl_offcpu_shared_free(struct wndl_offcpu_shared *shared);

const struct wndl_offcpu_totals *wndl_offcpu_totals(
    const struct wndl_offcpu_shared *shared);

#endif
