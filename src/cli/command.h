/* SPDX-License-Identifier: MIT */
/*
 * command: what a subcommand is. One file per subcommand defines one of
 * these; main.c lists them.
 */
#ifndef WNDL_CLI_COMMAND_H
#define WNDL_CLI_COMMAND_H

#include "cli/options.h"

/* Exit codes of our own; a recorded command's status is passed on as is. */
enum {
    WNDL_EXIT_OK = 0,
    WNDL_EXIT_FAILURE = 1,
    WNDL_EXIT_USAGE = 2,
    WNDL_EXIT_START = 125,          /* record: trouble of our own */
    WNDL_EXIT_NOT_EXECUTABLE = 126, /* record: the command cannot be run */
    WNDL_EXIT_NOT_FOUND = 127,      /* record: there is no such command */
};

struct wndl_example {
    const char *command;
    const char *what; /* one sentence without a full stop */
};

struct wndl_command {
    const char *name;
    const char *summary;     /* "record a program and all its children" */
    const char *operands;    /* "[--] COMMAND [ARG...]", "FILE" */
    const char *description; /* paragraphs, separated by an empty line */
    const struct wndl_option *options; /* ends with a NULL name */
    size_t options_size;
    const struct wndl_example *examples; /* ends with a NULL command */
    size_t min_operands;
    size_t max_operands;
    bool operands_end_options; /* options stop at the first operand */
    /* Returns the exit code. `options` is of options_size bytes. */
    int (*run)(const void *options, struct wndl_operands operands);
};

extern const struct wndl_command wndl_cmd_record;
extern const struct wndl_command wndl_cmd_report;
extern const struct wndl_command wndl_cmd_export;

/*
 * "windlass: error: ..." on stderr, for people; a second sentence may say
 * what to do. Returns WNDL_EXIT_FAILURE, so that a command ends in
 * `return wndl_cli_error(...)`.
 */
int wndl_cli_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* "windlass: ..." on stderr. */
void wndl_cli_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
