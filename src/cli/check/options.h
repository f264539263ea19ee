/* SPDX-License-Identifier: MIT */
/* options: what a user of 'windlass check' asks for. */
#ifndef WNDL_CLI_CHECK_OPTIONS_H
#define WNDL_CLI_CHECK_OPTIONS_H

#include "cli/core/options.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_check_options {
    struct wndl_option_list outputs;      /* files of the list */
    struct wndl_option_list suppressions; /* files */
    struct wndl_option_list wrap;         /* patterns of programs */
    struct wndl_option_list valgrind;     /* options for Valgrind */
    const char *baseline;
    const char *history;
    const char *log_socket; /* HOST:PORT */
    double timeout;         /* seconds; 0: none */
    uint64_t runs, shards;  /* 0: one */
    uint64_t rows;          /* 0: the usual number */
    unsigned leaks;         /* enum wndl_check_leaks */
    bool gdb;
    bool quiet;
};

enum wndl_check_leaks {
    WNDL_LEAKS_DEFINITE,
    WNDL_LEAKS_POSSIBLE,
    WNDL_LEAKS_NONE,
};

#endif
