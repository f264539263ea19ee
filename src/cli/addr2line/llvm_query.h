/* SPDX-License-Identifier: MIT */
/* llvm_query: a line that is sent to llvm-symbolizer:
 * [CODE|DATA|FRAME] [FILE:PATH|BUILDID:ID|PATH] ADDRESS. */
#ifndef WNDL_CLI_ADDR2LINE_LLVM_QUERY_H
#define WNDL_CLI_ADDR2LINE_LLVM_QUERY_H

#include <stdbool.h>

enum wndl_llvm_command { WNDL_LLVM_CODE, WNDL_LLVM_DATA, WNDL_LLVM_FRAME };

struct wndl_llvm_query {
    enum wndl_llvm_command command;
    bool is_build_id;   /* the module is */
    const char *module; /* NULL: that of the options */
    const char *address;
};

/*
 * Cuts `line` into the words of a query, which borrows it. `has_module`: the
 * options name a module, so that a query need not. Returns the problem, or
 * NULL.
 */
const char *wndl_llvm_query_read(
    char *line, bool has_module, struct wndl_llvm_query *query);

#endif
