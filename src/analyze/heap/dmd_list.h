/* SPDX-License-Identifier: MIT */
/*
 * dmd_list: a DMD file as a list of heap blocks, with names for the frames
 * that have none.
 */
#ifndef WNDL_ANALYZE_HEAP_DMD_LIST_H
#define WNDL_ANALYZE_HEAP_DMD_LIST_H

#include "analyze/fix/fix.h"
#include "in/dmd_json.h"
#include "model/heap_records.h"

/*
 * Replaces the addresses in the texts of `dmd`'s frames by function, file and
 * line, as docs/fix.md describes; the new texts live as long as `dmd`. NOMEM.
 */
enum wndl_status wndl_dmd_name_frames(
    struct wndl_dmd_file *dmd, struct wndl_fix *fix) WNDL_MUST_USE;

/*
 * Adds all blocks of `dmd` to `list`, with negative counts if `negative`, and
 * sets the list's mode to that of the file. A frame's text is the part after
 * its number. Blocks without a stack get a frame that says so. False when
 * memory is out.
 */
bool wndl_dmd_list_add(struct wndl_heap_list *list,
    const struct wndl_dmd_file *dmd, bool negative);

#endif
