/* SPDX-License-Identifier: MIT */
/*
 * selection: reduces a profile in memory to the part that a report is to be
 * about: some threads, some spans of time, some stacks. Whatever reads the
 * profile afterwards needs to know nothing of it.
 */
#ifndef WNDL_ANALYZE_TIME_SELECTION_H
#define WNDL_ANALYZE_TIME_SELECTION_H

#include "model/symbolized.h"

/* [start, end), in ns since the recording's start. */
struct wndl_interval {
    uint64_t start, end;
};

/* Filters whose texts are kept as bits. */
enum { WNDL_SELECTION_TEXTS = 16 };

/* All parts that are set must hold. A struct of zeros selects everything. */
struct wndl_selection {
    uint64_t process;                  /* pid; 0: all */
    const char *threads;               /* patterns of rec/filter.h; or NULL */
    const struct wndl_interval *times; /* ascending, apart from each other */
    size_t time_count;                 /* 0: all times */
    /*
     * Texts, ended by NULL, or NULL itself: a stack has each in the name of a
     * function, a file or a module. A '!' before a text: it has it nowhere; a
     * '\' before it is left out.
     */
    const char *const *texts;
    const char *function; /* a stack passes through it (is_named), or NULL */
    const char *ignored;  /* and not through this one, or NULL */
    const char *module;   /* the last part of a path, or NULL */
};

/*
 * Removes the samples, blocks, marks and counts of heaps (by their stacks) that
 * are not selected, and cuts blocks
 * and marks at the ends of `times`. `s` holds the names of `p`. Counts by walk
 * end follow; the number of all samples and blocks goes to p->unselected. CPU
 * time in no sample stays with selected threads, unless times or stacks are
 * selected: then it is not known. False when memory is out.
 */
bool wndl_select(struct wndl_profile *p, const struct wndl_symbolized *s,
    const struct wndl_selection *selection);

/*
 * Whether a user who types `name` means the function `full`: all of its name,
 * or the last parts of it, without parameters, template arguments and the
 * suffix of a clone ("push_back", "std::vector::push_back" of
 * "std::vector<int>::push_back(int&&)").
 */
bool wndl_function_is_named(struct wndl_bytes full, const char *name);

/* Whether `name` is that of the module, or its path. */
bool wndl_module_is_named(const struct wndl_symbolized *s,
    const struct wndl_module *module, const char *name);

/* The text of an element of `texts`, without its sign. Part of `text`. */
const char *wndl_selection_text(const char *text);

#endif
