/* SPDX-License-Identifier: MIT */
/*
 * dmd_json: heap blocks as a file of Mozilla's DMD (JSON, version 5;
 * docs/formats/dmd.md), for DMD's own tool to read. It must not know where
 * the blocks are from.
 */
#ifndef WNDL_OUT_DMD_JSON_H
#define WNDL_OUT_DMD_JSON_H

#include "model/heap_records.h"

#include <stdio.h>

/*
 * Writes all blocks of `list`, live or cumulative, compressed by gzip if
 * `zipped`. Of a sample the estimated numbers of blocks are written, rounded.
 * The same list gives the same bytes. False when memory is out; trouble with
 * `out` is the caller's to find, by ferror.
 */
bool wndl_dmd_json_write(FILE *out, const struct wndl_heap_list *list,
    bool zipped, struct wndl_mem *mem);

#endif
