/* SPDX-License-Identifier: MIT */
/* prove: `windlass unwind-table prove`: compares unwind rules with the callers
 * that a program really has, one instruction at a time. */
#ifndef WNDL_CLI_UNWIND_PROVE_H
#define WNDL_CLI_UNWIND_PROVE_H

#include <stdint.h>

struct wndl_prove_request {
    const char *module; /* a path or a file name; NULL: all modules */
    char *const *command;
    uint64_t windows, steps; /* of each window */
};

/* Runs the command and prints the result. The exit code. */
int wndl_unwind_table_prove(const struct wndl_prove_request *request);

#endif
