/* SPDX-License-Identifier: MIT */
/* output: a file that a command writes for other tools. */
#ifndef WNDL_CLI_CORE_OUTPUT_H
#define WNDL_CLI_CORE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct wndl_output {
    const char *path; /* "-": standard output */
    /* Writes it all; false: no memory. */
    bool (*write)(FILE *out, void *context);
    void *context;
    const char *open_with; /* "kcachegrind"; NULL: nothing but windlass */
};

/*
 * Writes the file and notes it on stderr. A recording is never overwritten.
 *
 * A regular file is written beside its place, with the access of the old file,
 * and moved there when it is whole: the old file stays until then, and for
 * programs that have mapped it for ever. SIGHUP, SIGINT, SIGTERM and SIGXFSZ
 * remove the unfinished file.
 *
 * Symbolic links, pipes and devices are written in place. So are files whose
 * folder takes no new file, whose owner and group cannot be given to another,
 * and mount points: their old contents are lost even if writing fails.
 *
 * Returns the exit code. One output at a time.
 */
int wndl_output_write(const struct wndl_output *output);

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
