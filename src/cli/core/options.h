/* SPDX-License-Identifier: MIT */
/*
 * options: a command's options are rows of one table. Parsing, `--help` and
 * the man page are all made from it, so they cannot disagree.
 *
 * Each row names a field of the command's own options struct by its offset:
 *
 *   WNDL_OPT_FLAG    bool            true when given
 *   WNDL_OPT_TEXT    const char *    NULL when not given and no default
 *   WNDL_OPT_COUNT   uint64_t        decimal, 1 to 10^12
 *   WNDL_OPT_REAL    double          decimal, > 0
 *   WNDL_OPT_SIZE    uint64_t        bytes, 1 to 2^40; k, m, g after it in
 *                                    either case
 *   WNDL_OPT_CHOICE  unsigned        index into `choices`
 *   WNDL_OPT_CHOSEN  struct wndl_option_choice, the same and whether given
 *   WNDL_OPT_LIST    struct wndl_option_list, one text for each time given
 *   WNDL_OPT_OTHERS  none            an option of other tools: `value` says
 *                                    what to type here
 */
#ifndef WNDL_CLI_CORE_OPTIONS_H
#define WNDL_CLI_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wndl_option_type {
    WNDL_OPT_FLAG,
    WNDL_OPT_TEXT,
    WNDL_OPT_COUNT,
    WNDL_OPT_REAL,
    WNDL_OPT_SIZE,
    WNDL_OPT_CHOICE,
    WNDL_OPT_CHOSEN,
    WNDL_OPT_LIST,
    WNDL_OPT_OTHERS,
};

enum {
    WNDL_OPTION_LIST_MAX = 16,
    WNDL_PROBLEM_SIZE = 320, /* bytes of a line that says what is wrong */
};

/* The variable with options: long names without dashes, separated by spaces
 * or commas. */
#define WNDL_OPTIONS_ENV "WINDLASS_OPTIONS"

/* For options that would have no effect, even if given as they are anyway. */
struct wndl_option_choice {
    unsigned index;
    bool given;
};

/* texts[count] is NULL, so that it can be handed on as a list. */
struct wndl_option_list {
    const char *texts[WNDL_OPTION_LIST_MAX + 1];
    size_t count;
    bool replaceable; /* given by the environment only */
};

/*
 * One row. A table ends with a row whose `name` is NULL. A row without `help`
 * is an older name of an option: it is accepted, and shown nowhere.
 */
struct wndl_option {
    char letter;          /* 0 when there is only a long name */
    const char *name;     /* without the dashes */
    const char *value;    /* the name of the value, NULL for a flag */
    const char *choices;  /* "fn|line|module", of a choice; wndl_choices_size */
    const char *fallback; /* default as text, NULL for none */
    const char *env;      /* variable asked when not given, or NULL */
    const char *help;     /* one sentence without a full stop; or NULL */
    enum wndl_option_type type;
    size_t offset; /* of the field in the options struct */
};

/* A row for an older name of an option. */
#define WNDL_OPTION_OLD_NAME(old, type, offset)                                \
    {                                                                          \
        0, old, NULL, NULL, NULL, NULL, NULL, type, offset                     \
    }

/* A row for an option that other tools have; `hint` is what is said after
 * "-g: ". */
#define WNDL_OPTION_OF_OTHERS(letter, name, hint)                              \
    {                                                                          \
        letter, name, hint, NULL, NULL, NULL, NULL, WNDL_OPT_OTHERS, 0         \
    }

/*
 * The size of the choices that are shown. After "||" come older words for
 * the first choices, in their order: "auto|live|all||usual" accepts "usual"
 * as "auto".
 */
static inline int wndl_choices_size(const char *choices)
{
    const char *old = strstr(choices, "||");
    return (int)(old == NULL ? strlen(choices) : (size_t)(old - choices));
}

struct wndl_command;

/* The arguments without the options: texts of argv, not copied. */
struct wndl_operands {
    char **texts; /* texts[count] is NULL */
    size_t count;
};

enum wndl_parse_result {
    WNDL_PARSE_OK,
    WNDL_PARSE_HELP,  /* -h or --help was there */
    WNDL_PARSE_ERROR, /* `problem` says which error */
};

/*
 * Reads argv (without program and command name) by the command's table into
 * `options`, a zeroed struct of command->options_size bytes; before it the
 * words of $WINDLASS_OPTIONS, where the command has a table for them. argv is
 * reordered when options may follow operands. `problem` holds one line.
 */
enum wndl_parse_result wndl_options_parse(const struct wndl_command *command,
    char **argv, void *options, struct wndl_operands *operands,
    char problem[WNDL_PROBLEM_SIZE]);

#endif
