/* SPDX-License-Identifier: MIT */
/*
 * cmd_ctl: `windlass ctl`, asks a recorder that runs for something.
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
    {"windlass ctl $(pidof server) status", "what is being recorded"},
    {"windlass ctl 4711 dump", "write what is there so far and say where"},
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
            operands.texts[known], known ? "an action" : "a process number");
        return WNDL_EXIT_USAGE;
    }
    if (wndl_control_ask(pid, verb, line, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    printf("%s\n", line);
    return WNDL_EXIT_OK;
}

const struct wndl_command wndl_cmd_ctl = {
    .name = "ctl",
    .group = WNDL_GROUP_RECORD,
    .summary = "pause, resume, stop or dump a running recording",
    .operands = "PID ACTION",
    .description =
        "Asks the recorder of process PID for something and prints its "
        "answer, one line. PID is a command that is being recorded, any of "
        "its processes, or the 'windlass record' itself. ACTION is one of:\n"
        "\n"
        "status: tell how the recording stands.\n"
        "\n"
        "pause: take no samples from now on, at next to no cost; processes "
        "that start meanwhile start paused. Heaps do not pause: a block that "
        "is "
        "freed later has to be known.\n"
        "\n"
        "resume: go on; also ends the wait of 'record --delay'.\n"
        "\n"
        "stop: end the recording for good and print its path. The command "
        "goes on, and 'windlass record' still waits for it and passes its "
        "status on.\n"
        "\n"
        "dump: write what is there so far, and print the path. With 'record "
        "--buffer' that is a file of its own each time, else the recording, "
        "which may be read while it grows.",
    .options = options,
    .options_size = sizeof(struct no_options),
    .examples = examples,
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
