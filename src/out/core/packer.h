/* SPDX-License-Identifier: MIT */
/* packer: packs text by gzip or zstd while it is written. */
#ifndef WNDL_OUT_CORE_PACKER_H
#define WNDL_OUT_CORE_PACKER_H

#include "base/buf.h"
#include "base/bytes.h"

#include <zlib.h>

struct wndl_packer {
    z_stream z;
    void *zstd; /* NULL: gzip */
};

/*
 * Opens it. False when memory is out. Ends with wndl_packer_close, even after a
 * failure.
 */
bool wndl_packer_open(struct wndl_packer *p, bool zstd);
void wndl_packer_close(struct wndl_packer *p);

/*
 * Appends what is ready of `text`, packed, to `out`; all of it if it is the
 * last. False when memory is out.
 */
bool wndl_packer_add(struct wndl_packer *p, struct wndl_bytes text, bool last,
    struct wndl_buf *out);

#endif
