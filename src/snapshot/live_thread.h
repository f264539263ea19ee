/* SPDX-License-Identifier: MIT */
/* live_thread: one thread of a running process: its place, copy and walk. */
#ifndef WNDL_SNAPSHOT_LIVE_THREAD_H
#define WNDL_SNAPSHOT_LIVE_THREAD_H

#include "collect/offcpu/memory.h"
#include "snapshot/snapshot.h"
#include "snapshot/task.h"

enum { WNDL_LIVE_COPY = 256 * 1024 };

/* A range of mapped memory. */
struct wndl_live_range {
    uint64_t start, end;
};

/* The state that all threads of one read share. */
struct wndl_live_reading {
    struct wndl_snapshot *snapshot;
    const struct wndl_remote_module *modules;
    struct wndl_vec ranges; /* struct wndl_live_range, by start */
    struct wndl_frame *frames;
    size_t max_frames;
    uint64_t wait_ns;
    struct wndl_offcpu_memory memory; /* that is not in the copy */
    /* The stack of the thread: `copied` bytes from `low` on. */
    uint8_t copy[WNDL_LIVE_COPY];
    uint64_t low;
    size_t copied;
    pid_t pid;
    bool went_beyond; /* the walk read other memory, which may have changed */
    bool out_of_memory;
};

/* The end of the mapping around `address`; 0: there is none. */
uint64_t wndl_live_mapped_end(
    const struct wndl_live_reading *reading, uint64_t address);

/*
 * Reads the state and the stack of a thread, whose tid and name are set. False
 * if it is gone.
 */
bool wndl_live_thread_read(struct wndl_live_reading *reading,
    const struct wndl_task *task, struct wndl_snapshot_thread *thread);

#endif
