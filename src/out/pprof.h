/* SPDX-License-Identifier: MIT */
/*
 * pprof: profile.proto, compressed by gzip, for Google's pprof
 * (docs/formats/pprof.md).
 */
#ifndef WNDL_OUT_PPROF_H
#define WNDL_OUT_PPROF_H

#include "model/exported.h"

#include <stdio.h>

/*
 * Writes one file for all threads, or for all heaps. False when memory is out.
 * The caller checks `out` with ferror.
 */
bool wndl_pprof_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

#endif
