/* SPDX-License-Identifier: MIT */
/*
 * input: a whole file, or all of standard input, as bytes, for commands that
 * detect the kind of file from its contents.
 */
#ifndef WNDL_CLI_CORE_INPUT_H
#define WNDL_CLI_CORE_INPUT_H

#include "base/buf.h"
#include "os/file.h"

struct wndl_input {
    const char *path;
    const char *name; /* for messages: the path, or "standard input" */
    struct wndl_bytes bytes;
    uint32_t owner; /* user id of the file's owner; else our own */
    struct wndl_file file;
    struct wndl_buf all; /* of standard input, which may be a pipe */
};

/*
 * Opens `path`, which is kept; "-" is standard input. False: said why on
 * stderr. Else ends with wndl_input_close.
 */
bool wndl_input_open(struct wndl_input *input, const char *path);
void wndl_input_close(struct wndl_input *input);

/* "windlass: error: NAME: ..."; returns WNDL_EXIT_FAILURE. */
int wndl_input_error(const struct wndl_input *input, struct wndl_error *err);

#endif
