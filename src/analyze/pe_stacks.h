/* SPDX-License-Identifier: MIT */
/*
 * pe_stacks: rules for unwinding i386 Windows programs, which are in their PDB
 * file, put where src/tables finds them.
 */
#ifndef WNDL_ANALYZE_PE_STACKS_H
#define WNDL_ANALYZE_PE_STACKS_H

#include "obj/object.h"
#include "tables/frames.h"

/*
 * Gives an i386 PE image without call frame information of its own a section
 * of the STACK WIN records of its PDB file, which is looked for as pdb_find.h
 * says, without other folders. All other objects are left alone. NOT_FOUND when
 * there is none, or none with such records; NOMEM. What the PDB file has lost
 * to damage goes to *lost.
 */
enum wndl_status wndl_pe_add_stacks(struct wndl_object *object,
    struct wndl_mem *mem, struct wndl_frames_lost *lost) WNDL_MUST_USE;

#endif
