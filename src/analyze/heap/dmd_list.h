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
 * Puts function, file and line in place of the addresses in the texts of
 * `dmd`'s frames, as docs/fix.md tells; the new texts live as `dmd` does.
 * NOMEM.
 */
enum wndl_status wndl_dmd_name_frames(
    struct wndl_dmd_file *dmd, struct wndl_fix *fix) WNDL_MUST_USE;

/*
 * Adds all blocks of `dmd` to `list`, as gone if `negative`; the mode of the
 * list becomes that of the file. A frame's text is what follows its number.
 * Blocks without a stack get a frame that says so. False: memory is out.
 */
bool wndl_dmd_list_add(struct wndl_heap_list *list,
    const struct wndl_dmd_file *dmd, bool negative);

#endif
