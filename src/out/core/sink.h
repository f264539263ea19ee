/* SPDX-License-Identifier: MIT */
/*
 * sink: the output of a writer of a long file. The text is collected and
 * written in pieces, compressed if requested, so that memory does not grow with
 * the file.
 */
#ifndef WNDL_OUT_CORE_SINK_H
#define WNDL_OUT_CORE_SINK_H

#include "base/buf.h"

#include <stdio.h>
#include <zlib.h>

/* A sink. After a failure `failed` stays set and nothing more is written. */
struct wndl_sink {
    struct wndl_buf text; /* the writer appends to it */
    FILE *out;
    struct wndl_buf packed;
    z_stream stream;
    bool zipped, failed;
};

/* Opens a sink, which must not move. Ends with wndl_sink_close in any case. */
void wndl_sink_open(
    struct wndl_sink *sink, FILE *out, bool zipped, struct wndl_mem *mem);

/*
 * Writes the collected text if it is long. To be called after each row or so.
 */
void wndl_sink_flush(struct wndl_sink *sink);

/*
 * Writes the rest and frees. False when memory was out. The caller checks the
 * file with ferror.
 */
bool wndl_sink_close(struct wndl_sink *sink);

#endif
