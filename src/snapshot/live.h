/* SPDX-License-Identifier: MIT */
/*
 * live: the stacks of a process that runs.
 *
 * A blocked thread is not stopped: that would end calls such as epoll_wait()
 * early. Its place is in /proc, its stack is copied, and the copy counts if the
 * thread has not run meanwhile. A running thread is stopped while its registers
 * and its stack are copied (collect/stop/stop.h), and walked when it runs
 * again.
 */
#ifndef WNDL_SNAPSHOT_LIVE_H
#define WNDL_SNAPSHOT_LIVE_H

#include "collect/offcpu/code.h"
#include "snapshot/snapshot.h"

struct wndl_live_request {
    pid_t pid;
    uint64_t wait_ns; /* the longest that a running thread is waited for */
    size_t max_frames;
    const char *const *debug_dirs; /* as in obj/find/debugfile.h */
    /* Whether the thread is wanted; `context` is the first argument. */
    bool (*is_wanted)(void *context, uint32_t tid, const char *name);
    void *context;
};

/* A process whose stacks are read, once or more. Everything is private. */
struct wndl_live {
    struct wndl_live_request request;
    struct wndl_binaries binaries;
    struct wndl_offcpu_code code;
    uint64_t start; /* of the process: another has another */
};

/*
 * Opens the process. `request` is copied, its pointers are borrowed. NOT_FOUND,
 * DENIED and UNSUPPORTED as in rights.h, NOMEM. On success it ends with
 * wndl_live_close.
 */
enum wndl_status wndl_live_open(struct wndl_live *live,
    const struct wndl_live_request *request,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Reads the stacks into an empty snapshot, which borrows from `live`. NOT_FOUND
 * if the process is gone or another has its number, NOMEM, IO. Starts a thread
 * of its own for it, and blocks SIGCHLD until it ends.
 */
enum wndl_status wndl_live_read(struct wndl_live *live,
    struct wndl_snapshot *snapshot, struct wndl_error *err) WNDL_MUST_USE;

void wndl_live_close(struct wndl_live *live);

#endif
