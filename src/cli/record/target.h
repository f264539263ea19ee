/* SPDX-License-Identifier: MIT */
/* record_target: the running processes of `windlass record -p`. */
#ifndef WNDL_CLI_RECORD_TARGET_H
#define WNDL_CLI_RECORD_TARGET_H

#include "cli/record/options.h"

enum { WNDL_TARGETS_MAX = 256 };

struct wndl_record_targets {
    pid_t pids[WNDL_TARGETS_MAX];
    size_t count;
};

/* The arguments of a process, as a list that is valid until the next call. */
char **wndl_record_command_of(pid_t pid);

/* Whether the options ask for stops of running threads. */
static inline bool wndl_record_stops(const struct wndl_record_options *options)
{
    enum { STOP_CHOICE = 5 };
    return options->engine == STOP_CHOICE;
}

/* Whether the options name running processes. */
bool wndl_record_has_targets(const struct wndl_record_options *options);

/*
 * Reads their numbers, and checks the options that go with them. False if they
 * are wrong; `problem` is then one line.
 */
bool wndl_record_targets_read(struct wndl_record_targets *targets,
    const struct wndl_record_options *options, char problem[WNDL_PROBLEM_SIZE]);

/*
 * Adds them to `request`, which borrows them; `operands` may have a command.
 * The error says which one cannot be recorded, and why.
 */
enum wndl_status wndl_record_targets_apply(
    const struct wndl_record_targets *targets,
    const struct wndl_record_options *options, struct wndl_operands operands,
    struct wndl_collector_request *request, struct wndl_error *err);

#endif
