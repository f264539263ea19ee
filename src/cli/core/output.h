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
 * Writes it and says so on stderr. A recording is never written over. A regular
 * file is written beside its place and moved there when it is whole, with the
 * access that the one before gave: what was there stays until then, and to
 * programs that have it mapped for ever. Symbolic links, pipes and devices are
 * written to, and so are files whose folder no other can be made in, whose
 * owner and group no other can be given, or that are mount points: of those,
 * what was there is lost also where writing fails. Who is ended by SIGHUP,
 * SIGINT, SIGTERM or SIGXFSZ leaves nothing beside. The exit code. One at a
 * time.
 */
int wndl_output_write(const struct wndl_output *output);

/*
 * Whether a command may write over `path`, which need not exist: not if it is
 * a recording, or the file `input` (NULL: none) that it reads. False: said why
 * on stderr.
 */
bool wndl_output_may_write(const char *path, const char *input);

/* Writes the struct wndl_buf `bytes`; for struct wndl_output. */
bool wndl_output_bytes(FILE *out, void *bytes);

/* Writes out what standard output still holds. The exit code; trouble is said
 * on stderr. */
int wndl_cli_flush(void);

#endif
