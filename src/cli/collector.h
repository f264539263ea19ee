/* SPDX-License-Identifier: MIT */
/*
 * collector: records a command. It starts the command with the runtime
 * preloaded, gives each process that reports a block of shared memory, and
 * writes what they leave there to a file until the command has ended. It must
 * not know of options and of what is told to the user.
 */
#ifndef WNDL_CLI_COLLECTOR_H
#define WNDL_CLI_COLLECTOR_H

#include "base/status.h"
#include "cli/collector_process.h"

struct wndl_collector_engine {
    uint32_t engine; /* enum wndl_engine */
    bool sample_kernel;
    int refusal;  /* errno why it is not the perf engine; 0 if it is */
    int paranoid; /* kernel.perf_event_paranoid, -2 if it cannot be read */
};

/* The best engine that the kernel lets us have. */
void wndl_collector_probe(struct wndl_collector_engine *engine);

struct wndl_collector_request {
    char **command;      /* ends with NULL */
    const char *file;    /* pattern: %p pid, %n program, %h host */
    const char *runtime; /* path of the preload object */
    uint64_t interval;   /* ns */
    bool only_first;     /* children are not recorded */
    struct wndl_collector_engine engine;
};

struct wndl_collector_result {
    int exit_code;     /* to be ours; see cli/command.h */
    bool started;      /* the command ran, there is a recording */
    char *path;        /* of the recording, owned by the caller (wndl_mem) */
    uint64_t bytes;    /* its size */
    uint64_t duration; /* ns */
    uint64_t cpu;      /* ns, of the command and what it waited for */
    uint32_t left;     /* processes that still ran at the end */
    uint32_t other_engine; /* processes that fell back to timers */
    struct wndl_collector_totals totals;
};

/*
 * Records; returns when the command has ended. A failure that has not to do
 * with the command itself says so in `err`; `result` is filled in any case.
 */
enum wndl_status wndl_collector_run(
    const struct wndl_collector_request *request,
    struct wndl_collector_result *result, struct wndl_error *err) WNDL_MUST_USE;

#endif
