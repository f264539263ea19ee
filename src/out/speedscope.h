/* SPDX-License-Identifier: MIT */
/* speedscope: JSON for speedscope.app (docs/formats/speedscope.md). */
#ifndef WNDL_OUT_SPEEDSCOPE_H
#define WNDL_OUT_SPEEDSCOPE_H

#include "model/exported.h"

#include <stdio.h>

/*
 * Writes a profile for each thread, of the time that is shown first, or several
 * for each heap. False when memory is out. The caller checks `out` with ferror.
 */
bool wndl_speedscope_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

#endif
