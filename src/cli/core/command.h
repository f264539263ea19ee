/* SPDX-License-Identifier: MIT */
/*
 * command: what a subcommand is. One file per subcommand defines one of
 * these; main.c lists them.
 */
#ifndef WNDL_CLI_CORE_COMMAND_H
#define WNDL_CLI_CORE_COMMAND_H

#include "cli/core/options.h"

#include <stdio.h>

/* Exit codes; collect/loop/collector.h has those of a command that cannot
 * run. */
enum {
    WNDL_EXIT_OK = 0,
    WNDL_EXIT_FAILURE = 1,
    WNDL_EXIT_USAGE = 2,
};

struct wndl_example {
    const char *command;
    const char *what; /* one sentence without a full stop */
};

/* The groups of `windlass --help`, in its order. */
enum wndl_command_group {
    WNDL_GROUP_RECORD,
    WNDL_GROUP_LOOK,
    WNDL_GROUP_CONVERT,
    WNDL_GROUP_SIMULATE,
    WNDL_GROUP_SYMBOLS,
    WNDL_GROUP_UNWINDING,
    WNDL_GROUP_COUNT,
};

struct wndl_command {
    const char *name;
    enum wndl_command_group group;
    const char *summary;     /* "record a program and all its children" */
    const char *operands;    /* "[--] COMMAND [ARG...]", "FILE" */
    const char *description; /* paragraphs, separated by an empty line */
    const struct wndl_option *options; /* ends with a NULL name */
    size_t options_size;
    const struct wndl_option
        *env_options; /* of $WINDLASS_OPTIONS; NULL: not read */
    const struct wndl_example *examples; /* ends with a NULL command */
    /* "pause|stop": the words of the operand `action_at`, which counts from 0;
     * NULL: there is no such operand */
    const char *actions;
    size_t action_at;
    bool takes_recordings; /* the operands are recordings */
    size_t min_operands;
    size_t max_operands;
    bool operands_end_options; /* options stop at the first operand */
    bool operands_in_groups;   /* "--" after the first one is one, too */
    /* Returns the exit code. `options` is of options_size bytes. */
    int (*run)(const void *options, struct wndl_operands operands);
};

extern const struct wndl_command wndl_cmd_record;
extern const struct wndl_command wndl_cmd_heap;
extern const struct wndl_command wndl_cmd_collect;
extern const struct wndl_command wndl_cmd_ctl;
extern const struct wndl_command wndl_cmd_stack;
extern const struct wndl_command wndl_cmd_report;
extern const struct wndl_command wndl_cmd_annotate;
extern const struct wndl_command wndl_cmd_top;
extern const struct wndl_command wndl_cmd_diff;
extern const struct wndl_command wndl_cmd_export;
extern const struct wndl_command wndl_cmd_view;
extern const struct wndl_command wndl_cmd_ls;
extern const struct wndl_command wndl_cmd_memlog;
extern const struct wndl_command wndl_cmd_memory;
extern const struct wndl_command wndl_cmd_merge;
extern const struct wndl_command wndl_cmd_push;
extern const struct wndl_command wndl_cmd_fix;
extern const struct wndl_command wndl_cmd_sym;
extern const struct wndl_command wndl_cmd_dump_syms;
extern const struct wndl_command wndl_cmd_unwind_info;
extern const struct wndl_command wndl_cmd_unwind_table;
extern const struct wndl_command wndl_cmd_vmprof;
extern const struct wndl_command wndl_cmd_mvp;
extern const struct wndl_command wndl_cmd_check;
extern const struct wndl_command wndl_cmd_doctor;

/*
 * "windlass: error: ..." on stderr, for people; a second sentence may say
 * what to do. Returns WNDL_EXIT_FAILURE, so that a command ends in
 * `return wndl_cli_error(...)`.
 */
int wndl_cli_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Lets all messages begin with "NAME: ", for a program that stands in for
 * another. Borrows `name`.
 */
void wndl_cli_set_name(const char *name);

/*
 * The output will not be complete: the exit status will be 1 even if the
 * command returns OK. Somebody says why.
 */
void wndl_cli_incomplete(void);
bool wndl_cli_is_incomplete(void);

/* The same of what `err` says. */
struct wndl_error;
int wndl_cli_fail(const struct wndl_error *err);

/*
 * The word for what an error says of a file: "damaged", "unsupported", or
 * "missing" (also of a file that is another's).
 */
const char *wndl_cli_damage(const struct wndl_error *err);
/*
 * Writes a text with names from foreign files or other processes, which must
 * not control a terminal: their control characters, and bytes that are not
 * UTF-8, as \x1b.
 */
void wndl_cli_put_tame(FILE *out, const char *text);

/* "windlass: ..." on stderr. */
void wndl_cli_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
