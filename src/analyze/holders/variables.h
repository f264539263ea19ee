/* SPDX-License-Identifier: MIT */
/* variables: the names of a recording's global variables, by address. */
#ifndef WNDL_ANALYZE_HOLDERS_VARIABLES_H
#define WNDL_ANALYZE_HOLDERS_VARIABLES_H

#include "analyze/holders/graph.h"

/* The variables of the modules that were asked for; they are read then. */
struct wndl_variable_names {
    struct wndl_arena arena;
    const struct wndl_profile *profile;
    struct wndl_vec modules; /* struct variable_module of variables.c */
};

/*
 * Makes it empty. `profile` outlives it; its images say which file is the one
 * that was recorded. Ends with wndl_variable_names_free.
 */
void wndl_variable_names_init(struct wndl_variable_names *names,
    const struct wndl_profile *profile, struct wndl_mem *mem);
void wndl_variable_names_free(struct wndl_variable_names *names);

/* A finder that uses `names`, and is valid as long as they are. */
struct wndl_heap_variables wndl_variable_names_finder(
    struct wndl_variable_names *names);

#endif
