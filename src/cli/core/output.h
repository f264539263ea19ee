/* SPDX-License-Identifier: MIT */
/* output: a file that a command writes for other tools. */
#ifndef WNDL_CLI_CORE_OUTPUT_H
#define WNDL_CLI_CORE_OUTPUT_H

#include "base/buf.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct wndl_output {
    const char *path; /* "-": standard output */
    /* Writes it all; false: no memory. */
    bool (*write)(FILE *out, void *context);
    void *context;
    const char *open_with; /* "kcachegrind"; NULL: nothing but windlass */
};

/* A file that is being written. */
struct wndl_output_file {
    FILE *out;
    bool is_beside;      /* it is moved to `path` when it is whole */
    char path[PATH_MAX]; /* where a symbolic link leads */
};

/*
 * Opens a file to be written. False, with the reason in errno.
 *
 * A regular file, or the one that a symbolic link leads to, is written beside
 * its place, with the access of the old file, and moved there when it is whole:
 * the old file stays until then, and for programs that have mapped it for ever.
 * SIGHUP, SIGINT, SIGTERM and SIGXFSZ remove the unfinished file.
 *
 * Pipes, devices and links in /dev and /proc are written in place. So are files
 * whose folder takes no new file, whose owner and group cannot be given to
 * another, and mount points: their old contents are lost even if writing fails.
 *
 * One file at a time.
 */
bool wndl_output_file_open(struct wndl_output_file *file, const char *path);

/*
 * Closes the file and moves it to its place, if all is `whole` and written.
 * False: it is not there, with the reason in errno if writing failed.
 */
bool wndl_output_file_end(struct wndl_output_file *file, bool whole);

/*
 * Writes such a file and notes it on stderr. A recording is never overwritten.
 * Returns the exit code.
 */
int wndl_output_write(const struct wndl_output *output);

/*
 * Writes `text` as wndl_output_write to the file `path`; NULL: to standard
 * output, through the pager if `paged` (wndl_pager_show). Returns the exit
 * code.
 */
int wndl_show(const struct wndl_buf *text, const char *path, bool paged);

/*
 * Whether a command may write over `path`, which need not exist: not if it is
 * a recording, or the file `input` (NULL: none) that it reads. False, with an
 * error on stderr.
 */
bool wndl_output_may_write(const char *path, const char *input);

/* Writes the struct wndl_buf `bytes`; for struct wndl_output. */
bool wndl_output_bytes(FILE *out, void *bytes);

/* Flushes standard output. Reports errors on stderr and returns the exit
 * code. */
int wndl_cli_flush(void);

#endif
