/* SPDX-License-Identifier: MIT */
/*
 * debug_id: what Breakpad and Microsoft's tools call a build of a binary: 16
 * bytes as the fields of a GUID, and how often it was built anew.
 */
#ifndef WNDL_OBJ_FIND_DEBUG_ID_H
#define WNDL_OBJ_FIND_DEBUG_ID_H

#include "obj/core/object.h"

enum { WNDL_GUID_SIZE = 16 };

struct wndl_debug_id {
    uint8_t guid[WNDL_GUID_SIZE]; /* in the order that it is written */
    uint32_t age;                 /* 0 but for PDB files */
};

/* The longest text of one, with its NUL. */
enum { WNDL_DEBUG_ID_TEXT = 2 * WNDL_GUID_SIZE + 8 + 1 };

/*
 * Of the build-id, of which it takes the first 16 bytes, with zeros behind a
 * shorter one; without any, of the first 4 KiB of .text, as Breakpad does it.
 * False when there is neither. Of Mach-O it is the UUID or nothing; of PE, that
 * of the PDB file that goes with it. `object` is read.
 */
bool wndl_object_debug_id(struct wndl_object *object, struct wndl_debug_id *id);

/* Of a build-id of a binary of that byte order. */
struct wndl_debug_id wndl_debug_id_of_build_id(
    struct wndl_bytes build_id, bool big_endian);

/* As Breakpad and symbol servers write it: upper-case digits of the GUID, then
 * the age. Returns `text`. */
char *wndl_debug_id_text(
    const struct wndl_debug_id *id, char text[WNDL_DEBUG_ID_TEXT]);

#endif
