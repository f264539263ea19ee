/* SPDX-License-Identifier: MIT */
/* dhat: heaps as JSON of Valgrind's DHAT, version 2 (docs/formats/dhat.md). */
#ifndef WNDL_OUT_DHAT_H
#define WNDL_OUT_DHAT_H

#include "model/exported.h"

#include <stdio.h>

/*
 * Writes all selected heaps. False when memory is out. The caller checks `out`
 * with ferror.
 */
bool wndl_dhat_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

#endif
