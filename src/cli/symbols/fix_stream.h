/* SPDX-License-Identifier: MIT */
/*
 * fix_stream: carries text through a wndl_fix. Available input is read in large
 * pieces, slow input line by line. It may be packed by gzip or zstd.
 */
#ifndef WNDL_CLI_SYMBOLS_FIX_STREAM_H
#define WNDL_CLI_SYMBOLS_FIX_STREAM_H

#include "analyze/fix/fix.h"

enum wndl_fix_end {
    WNDL_FIX_DONE,
    WNDL_FIX_NO_READER, /* of the output: a closed pipe */
    WNDL_FIX_CANNOT_READ,
    WNDL_FIX_CANNOT_WRITE,
    WNDL_FIX_NO_MEMORY,
};

/* The descriptors stay the caller's. */
struct wndl_fix_stream {
    struct wndl_fix *fix;
    const char *name; /* of the input, for messages */
    int input;
    int output;
    bool dmd;      /* the input may be a DMD file, which is read whole */
    bool repack;   /* pack the output as the input is */
    int sys_errno; /* of what could not be read or written */
    struct wndl_error damage; /* of packed input; status OK: none */
};

enum wndl_fix_end wndl_fix_stream_run(struct wndl_fix_stream *stream);

#endif
