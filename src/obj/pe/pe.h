/* SPDX-License-Identifier: MIT */
/*
 * pe: what only Windows programs and libraries have (PE32, PE32+).
 */
#ifndef WNDL_OBJ_PE_PE_H
#define WNDL_OBJ_PE_PE_H

#include "obj/core/object.h"

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

/* What is behind the last slash or backslash of `path` in there; empty also for
 * other objects than PE. */
struct wndl_bytes wndl_pe_pdb_name(const struct wndl_object *object);

bool wndl_object_is_pe(const struct wndl_object *object);

/* What the file has of the image from `rva` to the end of the section. */
struct wndl_bytes wndl_pe_loaded(
    const struct wndl_object *object, uint64_t rva);

/* The list of functions with information for unwinding (.pdata), as far as the
 * file has it. *claimed: its bytes as the header says, 0 when there is none,
 * also for other objects than PE. */
struct wndl_bytes wndl_pe_exceptions(
    const struct wndl_object *object, uint32_t *claimed);

/* Whether it is what Windows calls a file: a drive's letter is before it, or
 * .exe, .dll or .pdb behind it. */
bool wndl_pe_is_path(const char *path);

/* What is behind the last slash, and in such a path the last backslash. */
const char *wndl_pe_path_name(const char *path);

/* Bytes of `name` before its .exe or .dll; 0 when it has neither. */
size_t wndl_pe_stem(const char *name);

#endif
