/* SPDX-License-Identifier: MIT */
/*
 * pe_stacks: unwind rules of i386 Windows programs, which are in their PDB
 * file, moved to where src/unwind_tables finds them.
 */
#ifndef WNDL_ANALYZE_BINARY_PE_STACKS_H
#define WNDL_ANALYZE_BINARY_PE_STACKS_H

#include "cfi_import/core/source.h"
#include "obj/core/object.h"

/* The result of reading a PDB file's records. */
struct wndl_pe_stacks {
    struct wndl_cfi_source_lost lost; /* lost to damage */
    /* why there are none; status OK: they exist, or were not needed */
    struct wndl_error why;
};

/*
 * Gives an i386 PE image without call frame information of its own a section
 * with the STACK WIN records of its PDB file. The file is found as in
 * symbolize/files/pdb_find.h, without other folders. Other objects stay
 * unchanged. NOT_FOUND when there is no PDB file, or none with such records;
 * NOMEM.
 */
enum wndl_status wndl_pe_add_stacks(struct wndl_object *object,
    struct wndl_mem *mem, struct wndl_pe_stacks *stacks) WNDL_MUST_USE;

/*
 * Fails `err` with the message that there are no rules, and why the PDB file
 * gave none. `err` stays as it is if stacks->why is WNDL_OK.
 */
void wndl_pe_explain_no_stacks(
    const struct wndl_pe_stacks *stacks, struct wndl_error *err);

#endif
