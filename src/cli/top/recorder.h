/* SPDX-License-Identifier: MIT */
/* top_recorder: the recorder that top starts, as a process of its own. */
#ifndef WNDL_CLI_TOP_RECORDER_H
#define WNDL_CLI_TOP_RECORDER_H

#include "base/status.h"
#include "cli/core/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_TOP_PATH_SIZE = 128 };

struct wndl_top_recorder {
    pid_t pid;   /* 0: it has ended */
    pid_t group; /* of processes: its own and COMMAND's */
    int status;
    char folder[WNDL_TOP_PATH_SIZE]; /* of ours, with the two below */
    char path[WNDL_TOP_PATH_SIZE];   /* of the recording */
    char said[WNDL_TOP_PATH_SIZE];   /* its standard error */
};

struct wndl_top_request {
    struct wndl_operands command;
    const char *pids; /* PID[,PID], or NULL */
    uint64_t rate;    /* Hz */
    bool of_heap;
};

/* Starts it; its command reads and writes nothing. */
enum wndl_status wndl_top_recorder_start(struct wndl_top_recorder *r,
    const struct wndl_top_request *request,
    struct wndl_error *err) WNDL_MUST_USE;

/* Whether it has ended; then the recording is whole. */
bool wndl_top_recorder_ended(struct wndl_top_recorder *r);

/* Drops what it has said so far. */
void wndl_top_recorder_forget_words(const struct wndl_top_recorder *r);

/* Ends it, and its command. */
void wndl_top_recorder_stop(struct wndl_top_recorder *r);

/* Makes a file for a copy. The error says if one is there already. */
enum wndl_status wndl_top_recorder_reserve(
    const char *to, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Writes a copy of the recording so far to `to`, a new file unless it has been
 * reserved.
 */
enum wndl_status wndl_top_recorder_copy(const struct wndl_top_recorder *r,
    const char *to, bool is_reserved, struct wndl_error *err) WNDL_MUST_USE;

/* Prints on standard error what it said. */
void wndl_top_recorder_say(const struct wndl_top_recorder *r);

/* Removes its files. */
void wndl_top_recorder_remove(const struct wndl_top_recorder *r);

#endif
