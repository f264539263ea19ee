/* SPDX-License-Identifier: MIT */
/*
 * pe: what only Windows programs and libraries have (PE32, PE32+).
 */
#ifndef WNDL_OBJ_PE_H
#define WNDL_OBJ_PE_H

#include "obj/object.h"

/* Whether it begins as one does. */
bool wndl_pe_is(struct wndl_bytes file);

/* Which PDB file goes with an image: its "RSDS" record. */
struct wndl_pe_pdb {
    struct wndl_bytes guid; /* 16 bytes, as stored */
    uint32_t age;
    struct wndl_bytes path; /* where it was written; may be empty */
};

/* NOT_FOUND, also for other objects than PE. */
enum wndl_status wndl_pe_find_pdb(
    const struct wndl_object *object, struct wndl_pe_pdb *pdb) WNDL_MUST_USE;

bool wndl_object_is_pe(const struct wndl_object *object);

#endif
