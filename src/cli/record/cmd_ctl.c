/* SPDX-License-Identifier: MIT */
/*
 * cmd_ctl: `windlass ctl`, sends an action to a running recorder.
 */
#include "cli/core/command.h"
#include "collect/start/control.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct no_options {
    char none;
};

static const struct wndl_option options[] = {{0}};

static const char *const verbs[WNDL_CONTROL_VERBS] = {
    [WNDL_CONTROL_START] = "resume",
    [WNDL_CONTROL_PAUSE] = "pause",
    [WNDL_CONTROL_STOP] = "stop",
    [WNDL_CONTROL_DUMP] = "dump",
    [WNDL_CONTROL_STATUS] = "status",
};

static const struct wndl_example examples[] = {
    {"windlass ctl $(pidof server) status", "show the state of the recording"},
    {"windlass ctl 4711 dump", "write the recording so far and print its path"},
    {NULL, NULL},
};

static bool read_pid(const char *text, pid_t *pid)
{
    char *end;
    long value = strtol(text, &end, 10);
    *pid = (pid_t)value;
    return *text >= '0' && *text <= '9' && *end == '\0' && value > 0 &&
           value <= INT_MAX;
}

/* `start` is the older name of `resume`. */
static bool read_verb(const char *text, enum wndl_control_verb *verb)
{
    if (strcmp(text, "start") == 0)
        text = verbs[WNDL_CONTROL_START];
    for (unsigned i = 0; i < WNDL_CONTROL_VERBS; i++) {
        *verb = i;
        if (strcmp(verbs[i], text) == 0)
            return true;
    }
    return false;
}

static int run(const void *parsed, struct wndl_operands operands)
{
    (void)parsed;
    char line[WNDL_CONTROL_LINE];
    enum wndl_control_verb verb;
    struct wndl_error err = {0};
    pid_t pid;
    bool known = read_pid(operands.texts[0], &pid);
    if (!known || !read_verb(operands.texts[1], &verb)) {
        wndl_cli_error("'%s' is not %s; see 'windlass ctl --help'",
            operands.texts[known],
            known ? "an action (status, pause, resume, stop or dump)"
                  : "a process id");
        return WNDL_EXIT_USAGE;
    }
    if (wndl_control_ask(pid, verb, line, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    wndl_cli_put_tame(stdout, line);
    putchar('\n');
    return WNDL_EXIT_OK;
}

const struct wndl_command wndl_cmd_ctl = {
    .name = "ctl",
    .group = WNDL_GROUP_RECORD,
    .summary = "pause, resume, stop or dump a running recording",
    .operands = "PID ACTION",
    .description =
        "Sends ACTION to the recorder of process PID and prints its answer, "
        "one line. PID is the process id of a recorded command, of any of its "
        "processes, or of 'windlass record' itself. ACTION is one of:\n\n"
        "status: show the state of the recording.\n\n"
        "pause: stop sampling for now, at next to no cost; processes that "
        "start meanwhile start paused. The recording of heaps does not pause, "
        "since later frees refer to blocks allocated now.\n\n"
        "resume: sample again; also ends the wait of 'record --delay'.\n\n"
        "stop: end the recording for good and print its path. The command "
        "keeps running; 'windlass record' still waits for it and exits with "
        "its status.\n\n"
        "dump: write the recording so far and print its path. With 'record "
        "--buffer' each dump is a new file; otherwise it is the recording "
        "itself, which can be read while it grows.",
    .options = options,
    .options_size = sizeof(struct no_options),
    .examples = examples,
    .actions = "resume|status|pause|stop|dump||start",
    .action_at = 1,
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
