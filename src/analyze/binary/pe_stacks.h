/* SPDX-License-Identifier: MIT */
/*
 * pe_stacks: rules for unwinding i386 Windows programs, which are in their PDB
 * file, put where src/unwind_tables finds them.
 */
#ifndef WNDL_ANALYZE_BINARY_PE_STACKS_H
#define WNDL_ANALYZE_BINARY_PE_STACKS_H

#include "cfi_import/core/source.h"
#include "obj/core/object.h"

/* Of a PDB file whose records were to be had. */
struct wndl_pe_stacks {
    struct wndl_cfi_source_lost lost; /* to damage */
    struct wndl_error why; /* there are none; status OK: they are there,
                                     or were not wanted */
};

/*
 * Gives an i386 PE image without call frame information of its own a section
 * of the STACK WIN records of its PDB file, which is looked for as
 * symbolize/files/pdb_find.h says, without other folders. All other objects are
 * left alone. NOT_FOUND when there is none, or none with such records; NOMEM.
 */
enum wndl_status wndl_pe_add_stacks(struct wndl_object *object,
    struct wndl_mem *mem, struct wndl_pe_stacks *told) WNDL_MUST_USE;

/* That there are no rules at all, with what is to tell of the PDB file; `err`
 * is left as it is where that is nothing. */
void wndl_pe_tell_no_stacks(
    const struct wndl_pe_stacks *told, struct wndl_error *err);

#endif
