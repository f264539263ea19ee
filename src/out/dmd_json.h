/* SPDX-License-Identifier: MIT */
/*
 * dmd_json: heap blocks as a file of Mozilla's DMD (JSON, version 5;
 * docs/formats/dmd.md), for DMD's own tool. It must not know where the blocks
 * come from.
 */
#ifndef WNDL_OUT_DMD_JSON_H
#define WNDL_OUT_DMD_JSON_H

#include "model/heap_contents.h"
#include "model/heap_records.h"

#include <stdio.h>

/*
 * Writes all blocks of `list`, live or cumulative, compressed by gzip if
 * `zipped`. From a sample it writes the estimated numbers of blocks, rounded.
 * The same list gives the same bytes. False when memory is out. The caller
 * checks `out` with ferror.
 */
bool wndl_dmd_json_write(FILE *out, const struct wndl_heap_list *list,
    bool zipped, struct wndl_mem *mem);

/*
 * Writes `contents` in scan mode: each block by itself, with its address and
 * its words. `list` has their stacks. Words that the contents lack are left
 * out. NULL: none, and the same as the other.
 */
bool wndl_dmd_json_write_scan(FILE *out, const struct wndl_heap_list *list,
    const struct wndl_heap_contents *contents, bool zipped,
    struct wndl_mem *mem);

#endif
