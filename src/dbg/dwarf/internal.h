/* SPDX-License-Identifier: MIT */
/*
 * internal: the map of the DWARF reader. From the bottom, each file knows only
 * those above it in this list:
 *
 *   context.h  context.c        a reader's state, budget and damage
 *   other.h    supplementary.c  the supplementary file
 *   form.h     form.c           values of attributes, strings, addresses
 *   die.h      abbrev.c         abbreviation tables
 *              die.c            DIEs, read by them
 *   ranges.h   cover.c          overlapping ranges to segments of one owner
 *              ranges.c         range lists
 *   unit.h     unit.c           unit headers and root DIEs
 *   line.h     file.c           directories and files of line tables
 *              line.c           line programs
 *              path.c           whole paths
 *   func.h     func.c           functions of a unit, inlined calls
 *              name.c           their names
 *   unit.h     index.c          from an address to units
 *   other.h    package.c        the index of a package of .dwo files
 *              other.c          .dwo files, packages
 *   dwarf.h    list.c           all functions of a unit
 *              changes.c        where the answers of a range change
 *              dwarf.c          opening, lookup
 *              ahead.c          units read by several threads
 *   type_die.h type_die.c       DIEs of types, type units
 *              type_index.c     types by name
 *   types.h    types.c          types and their members
 *              type_path.c      names of bytes
 *              type_scope.c     pointers in scope at an address
 *
 * Conventions: a status other than OK, NOT_FOUND and NOMEM is damage and has
 * its detail in wndl_dwarf.detail. Offsets of DIEs are into .debug_info. "DWARF
 * 5" in comments is the standard of that name.
 */
#ifndef WNDL_DBG_DWARF_INTERNAL_H
#define WNDL_DBG_DWARF_INTERNAL_H

#include "dbg/dwarf/context.h"
#include "dbg/dwarf/die.h"
#include "dbg/dwarf/dwarf.h"
#include "dbg/dwarf/form.h"
#include "dbg/dwarf/func.h"
#include "dbg/dwarf/line.h"
#include "dbg/dwarf/other.h"
#include "dbg/dwarf/ranges.h"
#include "dbg/dwarf/unit.h"

/* Opens a file, as wndl_dwarf_open; `referrer` is NULL for the first one. */
enum wndl_status wndl_dw_open(const struct wndl_dwarf_sections *sections,
    struct wndl_mem *mem, const struct wndl_dw_referrer *referrer,
    struct wndl_dwarf **out, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Adds a reader without a file to d->others. Its memory is its own, so what it
 * reads for `d` stays. NULL when memory is out.
 */
struct wndl_dwarf *wndl_dw_new_helper(struct wndl_dwarf *d);

#endif
