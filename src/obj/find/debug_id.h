/* SPDX-License-Identifier: MIT */
/*
 * debug_id: the name that Breakpad and Microsoft's tools give to a build of a
 * binary: 16 bytes as the fields of a GUID, and an age, which counts rebuilds.
 */
#ifndef WNDL_OBJ_FIND_DEBUG_ID_H
#define WNDL_OBJ_FIND_DEBUG_ID_H

#include "obj/core/object.h"

enum { WNDL_GUID_SIZE = 16 };

struct wndl_debug_id {
    uint8_t guid[WNDL_GUID_SIZE]; /* in the order in which it is written */
    uint32_t age;                 /* 0 except for PDB files */
};

/* The longest text of one, with its NUL. */
enum { WNDL_DEBUG_ID_TEXT = 2 * WNDL_GUID_SIZE + 8 + 1 };

/*
 * The debug id: the first 16 bytes of the build-id, with zeros after a shorter
 * one; without a build-id, of the first 4 KiB of .text, as Breakpad computes
 * it. False when there is neither. For Mach-O it is the UUID or nothing; for
 * PE, that of its PDB file. Reads `object`.
 */
bool wndl_object_debug_id(struct wndl_object *object, struct wndl_debug_id *id);

/* The debug id for a build-id of a binary of that byte order. */
struct wndl_debug_id wndl_debug_id_of_build_id(
    struct wndl_bytes build_id, bool big_endian);

/*
 * The id as Breakpad and symbol servers write it: upper-case digits of the
 * GUID, then the age. Returns `text`.
 */
char *wndl_debug_id_text(
    const struct wndl_debug_id *id, char text[WNDL_DEBUG_ID_TEXT]);

#endif
