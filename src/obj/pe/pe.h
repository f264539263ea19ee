/* SPDX-License-Identifier: MIT */
/* pe: the peculiarities of Windows programs and libraries (PE32, PE32+). */
#ifndef WNDL_OBJ_PE_PE_H
#define WNDL_OBJ_PE_PE_H

#include "obj/core/object.h"

/* Whether `file` begins as a PE file does. */
bool wndl_pe_is(struct wndl_bytes file);

/* The PDB file of an image: its "RSDS" record. */
struct wndl_pe_pdb {
    struct wndl_bytes guid; /* 16 bytes, as stored */
    uint32_t age;
    struct wndl_bytes path; /* at the time of linking; may be empty */
};

/* Finds the record. NOT_FOUND, also for objects other than PE. */
enum wndl_status wndl_pe_find_pdb(
    const struct wndl_object *object, struct wndl_pe_pdb *pdb) WNDL_MUST_USE;

/*
 * The part of its `path` after the last slash or backslash; empty also for
 * objects other than PE.
 */
struct wndl_bytes wndl_pe_pdb_name(const struct wndl_object *object);

/* Whether it was opened as a PE file. */
bool wndl_object_is_pe(const struct wndl_object *object);

/* The file's bytes for the image from `rva` to the end of the section. */
struct wndl_bytes wndl_pe_loaded(
    const struct wndl_object *object, uint64_t rva);

/*
 * The list of functions with unwind information (.pdata), as far as the file
 * has it. *claimed: its size in bytes by the header; 0 when there is none, also
 * for objects other than PE.
 */
struct wndl_bytes wndl_pe_exceptions(
    const struct wndl_object *object, uint32_t *claimed);

/*
 * Whether `path` is one of Windows: it starts with a drive's letter, or ends
 * with .exe, .dll or .pdb.
 */
bool wndl_pe_is_path(const char *path);

/*
 * The part after the last slash, and in a path of Windows the last backslash.
 */
const char *wndl_pe_path_name(const char *path);

/*
 * The number of bytes of `name` before its .exe or .dll; 0 when it has neither.
 */
size_t wndl_pe_stem(const char *name);

#endif
