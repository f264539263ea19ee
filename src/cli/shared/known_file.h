/* SPDX-License-Identifier: MIT */
/*
 * known_file: files of other tools, by their contents, and what to do with
 * them. Must not read more of them than their beginnings.
 */
#ifndef WNDL_CLI_SHARED_KNOWN_FILE_H
#define WNDL_CLI_SHARED_KNOWN_FILE_H

#include "cli/core/input.h"

/* The kinds of files that a command reads beside recordings. */
enum wndl_taken {
    WNDL_TAKES_RECORDINGS = 0,
    WNDL_TAKES_DMD = 1,    /* Mozilla's DMD */
    WNDL_TAKES_VM = 2,     /* results of vmprof */
    WNDL_TAKES_GRAPHS = 4, /* what merge reads */
    WNDL_TAKES_MEMORY = 8, /* memory reports */
    WNDL_TAKES_MVP = 16,   /* results of mvp */
};

/*
 * False, with an error on stderr that names the kind of the file and what to
 * type for it, if it is of a known kind that a command does not take.
 */
bool wndl_known_file_is_taken(
    const struct wndl_input *input, enum wndl_taken taken);

/* Whether the file has memory reports (docs/formats/memory-report.md). */
bool wndl_known_file_is_memory(const struct wndl_input *input);

#endif
