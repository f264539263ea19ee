/* SPDX-License-Identifier: MIT */
/*
 * folders: where memory event logs are. Folders 0 and 1 have those of running
 * processes, as in windlass/memlog_open.h; the last one those that are kept.
 */
#ifndef WNDL_CLI_MEMLOG_FOLDERS_H
#define WNDL_CLI_MEMLOG_FOLDERS_H

#include <limits.h>
#include <stdbool.h>
#include <windlass/memlog_ring.h>

enum { WNDL_FOLDERS_KEPT = 2 };

/*
 * Opens a folder, if it is there and the user's alone; else -1, with a note if
 * it is another's and not `is_quiet`. `path` is set if it has a name.
 */
int wndl_folders_open(unsigned which, char path[PATH_MAX], bool is_quiet);

/* The same; makes it, if it is not there. */
int wndl_folders_make(unsigned which, char path[PATH_MAX]);

/*
 * Opens a log of a folder: a file with one name, which is the user's alone.
 * -1 otherwise; `problem` says why, and is NULL if it is gone.
 */
int wndl_folders_open_ring(
    int folder, const char *name, int flags, const char **problem);

/* Whether a log was written since this machine's last boot. */
bool wndl_folders_is_this_boot(const struct wndl_memlog_ring *ring);

/* This moment on the clocks of a log. False: it is not of this boot. */
bool wndl_folders_anchor(
    const struct wndl_memlog_ring *ring, struct wndl_memlog_anchor *now);

#endif
