/* SPDX-License-Identifier: MIT */
/* selected: the options that choose a part of a recording's samples. */
#ifndef WNDL_CLI_REPORT_SELECTED_H
#define WNDL_CLI_REPORT_SELECTED_H

#include "cli/core/options.h"
#include "cli/shared/recording.h"

struct wndl_selected_options {
    const char *threads;
    const char *from, *to; /* times since the start */
    const char *around;    /* a text of marks; at most one of the two */
    const char *before;
    const char *margin; /* a time; NULL: 40 ms */
    const char *module;
    const char *function, *ignored;
    const char *focus, *callees, *callers; /* functions */
    bool inverted;
    bool collapsed; /* recursion */
};

/* Rows of a command's table; `field` of its struct `type` is of the struct
 * above. Those that choose a part of the samples, and all. */
#define WNDL_SELECTED_PART_ROWS(type, field)                                   \
    {0, "thread", "WHICH", NULL, NULL, NULL,                                   \
        "samples: only threads with WHICH in their name; main, pid:N, or "     \
        "several of these separated by commas",                                \
        WNDL_OPT_TEXT, offsetof(type, field.threads)},                         \
        {0, "from", "TIME", NULL, NULL, NULL,                                  \
            "samples: only from TIME on, after the start of the recording: "   \
            "1.5 (seconds), 200ms, 30us",                                      \
            WNDL_OPT_TEXT, offsetof(type, field.from)},                        \
        {0, "to", "TIME", NULL, NULL, NULL, "samples: only before TIME",       \
            WNDL_OPT_TEXT, offsetof(type, field.to)},                          \
        {0, "around", "TEXT", NULL, NULL, NULL,                                \
            "samples: only during the marks with TEXT, and --margin before "   \
            "and after them",                                                  \
            WNDL_OPT_TEXT, offsetof(type, field.around)},                      \
        {0, "before", "TEXT", NULL, NULL, NULL,                                \
            "samples: only during the --margin before each mark with TEXT",    \
            WNDL_OPT_TEXT, offsetof(type, field.before)},                      \
        {0, "margin", "TIME", NULL, NULL, NULL,                                \
            "the time of --around before and after each mark, or of --before " \
            "(default: 40ms)",                                                 \
            WNDL_OPT_TEXT, offsetof(type, field.margin)},                      \
        {0, "module", "NAME", NULL, NULL, NULL,                                \
            "only stacks with code of this binary", WNDL_OPT_TEXT,             \
            offsetof(type, field.module)},                                     \
        {0, "function", "NAME", NULL, NULL, NULL,                              \
            "only stacks with this function; parameters, template "            \
            "arguments and namespaces can be left out of NAME",                \
            WNDL_OPT_TEXT, offsetof(type, field.function)},                    \
    {                                                                          \
        0, "ignore", "FUNCTION", NULL, NULL, NULL,                             \
            "only stacks without FUNCTION", WNDL_OPT_TEXT,                     \
            offsetof(type, field.ignored)                                      \
    }

#define WNDL_SELECTED_ROWS(type, field)                                        \
    WNDL_SELECTED_PART_ROWS(type, field),                                      \
        {0, "focus", "FUNCTION", NULL, NULL, NULL,                             \
            "only stacks with FUNCTION, from its outermost call on",           \
            WNDL_OPT_TEXT, offsetof(type, field.focus)},                       \
        {0, "callees", "FUNCTION", NULL, NULL, NULL,                           \
            "the same as a tree: what FUNCTION calls, and what that "          \
            "calls",                                                           \
            WNDL_OPT_TEXT, offsetof(type, field.callees)},                     \
        {0, "callers", "FUNCTION", NULL, NULL, NULL,                           \
            "the callers of FUNCTION: a tree that begins at its "              \
            "innermost call and goes up",                                      \
            WNDL_OPT_TEXT, offsetof(type, field.callers)},                     \
        {0, "invert", NULL, NULL, NULL, NULL,                                  \
            "a tree that begins at the innermost functions and goes "          \
            "up to their callers",                                             \
            WNDL_OPT_FLAG, offsetof(type, field.inverted)},                    \
    {                                                                          \
        0, "collapse-recursion", NULL, NULL, NULL, NULL,                       \
            "show a recursive function once in each stack: its last "          \
            "call, below the callers of its first",                            \
            WNDL_OPT_FLAG, offsetof(type, field.collapsed)                     \
    }

/* Whether any of them was given. */
bool wndl_selected_given(const struct wndl_selected_options *o);

/* Whether any was given that is not about which stacks there are. */
static inline bool wndl_selected_more(const struct wndl_selected_options *o)
{
    return o->threads != NULL || o->from != NULL || o->to != NULL ||
           o->around != NULL || o->before != NULL || o->focus != NULL ||
           o->collapsed || o->callers != NULL || o->callees != NULL ||
           o->inverted;
}

/* Whether the stacks are shown as a tree: upside down, or of callees. */
static inline bool wndl_selected_turns(const struct wndl_selected_options *o)
{
    return o->callers != NULL || o->callees != NULL || o->inverted;
}

/*
 * False, with a message that begins with `option` and names similar functions,
 * if no function of the stacks has this name. NULL is true.
 */
bool wndl_selected_is_function(
    const struct wndl_symbolized *s, const char *option, const char *name);

/*
 * Reduces the recording to what the options, `filters` and `pid` (0: all)
 * choose. On failure says why on stderr and returns an exit code, else 0.
 */
int wndl_selected_apply(const struct wndl_selected_options *o, uint64_t pid,
    const char *const *filters, struct wndl_cli_recording *recording);

#endif
