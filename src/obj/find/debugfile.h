/* SPDX-License-Identifier: MIT */
/*
 * debugfile: the separate file that holds a stripped binary's debug
 * information, found on this machine. It must not know the network, nor the
 * file's contents beyond its identity.
 */
#ifndef WNDL_OBJ_FIND_DEBUGFILE_H
#define WNDL_OBJ_FIND_DEBUGFILE_H

#include "obj/core/object.h"
#include "os/file.h"

/* Invariant: object is NULL, or open on file's bytes. */
struct wndl_debugfile {
    struct wndl_file file;
    struct wndl_object *object;
};

/*
 * Finds the debug file of `object`. It searches in this order:
 *
 *   DIR/.build-id/ab/cdef.debug   for each DIR of `dirs`
 *   FOLDER/LINK                   FOLDER: where the binary really is
 *   FOLDER/.debug/LINK            LINK: the name in .gnu_debuglink
 *   DIR/FOLDER/LINK               for each DIR
 *
 * For Mach-O, with the binary's UUID, in the part for its architecture:
 *
 *   PATH.dSYM/Contents/Resources/DWARF/  PATH: the binary, and folders
 *                                        that it is in
 *   DIR/NAME.dSYM/...                     for each DIR
 *
 * For WebAssembly, with the module's build-id or its code:
 *
 *   FOLDER/NAME   NAME: the last part of external_debug_info
 *   DIR/NAME      for each DIR
 *
 * `dirs` ends with NULL; NULL itself means /usr/lib/debug alone. A candidate
 * with another build-id, a wrong CRC32 (debuglink) or damage is skipped.
 * NOT_FOUND when none is left: `err` then has the first one that was skipped,
 * if any. NOMEM. On success `out` ends with wndl_debugfile_close.
 */
enum wndl_status wndl_debugfile_find(const struct wndl_object *object,
    const char *const *dirs, struct wndl_mem *mem, struct wndl_debugfile *out,
    struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens the debug file at `path`, which must have the build-id of `object`.
 * NOT_FOUND if it has another, the errors of opening an object, NOMEM. On
 * success `out` ends with wndl_debugfile_close.
 */
enum wndl_status wndl_debugfile_open(const struct wndl_object *object,
    const char *path, struct wndl_mem *mem, struct wndl_debugfile *out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Closes it. One that is not open, or all zeroes, is ignored. */
void wndl_debugfile_close(struct wndl_debugfile *debugfile);

#endif
