/* SPDX-License-Identifier: MIT */
/*
 * sink: where a writer of a long file puts it. It is collected and handed on
 * in pieces, compressed if asked, so that memory does not grow with the file.
 */
#ifndef WNDL_OUT_CORE_SINK_H
#define WNDL_OUT_CORE_SINK_H

#include "base/buf.h"

#include <stdio.h>
#include <zlib.h>

/* After a failure `failed` stays set and nothing more is written. */
struct wndl_sink {
    struct wndl_buf text; /* add to it */
    FILE *out;
    struct wndl_buf packed;
    z_stream stream;
    bool zipped, failed;
};

/* Stays where it is; ends with wndl_sink_close in any case. */
void wndl_sink_open(
    struct wndl_sink *sink, FILE *out, bool zipped, struct wndl_mem *mem);

/* Hands on what was added if it is much: call it after each row or so. */
void wndl_sink_flush(struct wndl_sink *sink);

/*
 * Hands on the rest. False when memory was out; trouble with the file is the
 * caller's to find, by ferror.
 */
bool wndl_sink_close(struct wndl_sink *sink);

#endif
