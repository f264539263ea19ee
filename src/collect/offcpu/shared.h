/* SPDX-License-Identifier: MIT */
/*
 * shared: the state that off-CPU sampling shares between all processes of a
 * recording: the opened binaries, a buffer for stacks, the totals.
 */
#ifndef WNDL_COLLECT_OFFCPU_SHARED_H
#define WNDL_COLLECT_OFFCPU_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Totals of the whole recording, for the summary. */
struct wndl_offcpu_totals {
    uint64_t blocked, waiting; /* thread ns */
    uint64_t stacks;           /* stacks of blocked threads that were unwound */
    uint64_t complete;         /* of those, complete ones */
    uint32_t refused;          /* processes that could not be read */
    int refused_errno;         /* the reason for the last of those */
};

struct wndl_offcpu_shared;
struct wndl_binaries;

struct wndl_offcpu_request {
    size_t max_frames; /* deeper stacks are cut */
    uint32_t unwind;   /* enum wndl_unwind_policy */
    /* thread name patterns, as in struct wndl_go; borrowed */
    const char *wanted;
    struct wndl_binaries *binaries; /* the recording's; borrowed */
    /* no engine samples: CPU time is written at a thread's end */
    bool is_alone;
};

/* Makes the shared state. NULL when memory is out. */
struct wndl_offcpu_shared *wndl_offcpu_shared_new(
    const struct wndl_offcpu_request *request);

/* Frees it, after the last process. NULL is ignored. */
void wndl_offcpu_shared_free(struct wndl_offcpu_shared *shared);

/* The totals so far; they live as long as `shared`. */
const struct wndl_offcpu_totals *wndl_offcpu_totals(
    const struct wndl_offcpu_shared *shared);

#endif
